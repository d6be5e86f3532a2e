"""Decode bytes to text."""

from __future__ import annotations

import codecs
import re

from pipeline.ingest.sources.source import Unreadable

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks of UTF-16."""

_ILL_FORMED = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes) -> str:
    """Return the text of ``data`` with ``\\n`` for every line end, so that it is the same on every platform.

    Accepts UTF-8 with or without byte order mark, and UTF-16 with byte order mark. Raises Unreadable for anything else.
    """
    encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8-sig"
    if encoding != "utf-16" and b"\x00" in data:
        raise Unreadable("is binary", "Convert it to text, or leave it out.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        # the codec counts from after the byte order mark
        at = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise Unreadable(
            f"isn't valid {name} (at byte {at})", "Convert it to UTF-8, for example with iconv -f latin1 -t utf-8."
        ) from None
    if not text or text.isspace():
        raise Unreadable("is empty", "Leave it out, or write something into it.")
    return well_formed(text.replace("\r\n", "\n").replace("\r", "\n"))


def well_formed(text: str) -> str:
    """Replace NUL and lone surrogates, which can't be stored as UTF-8, by the replacement character."""
    return text if text.isascii() and "\x00" not in text else _ILL_FORMED.sub("\N{REPLACEMENT CHARACTER}", text)
