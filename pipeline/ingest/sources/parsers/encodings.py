"""The encoding of a page or mail, as the WHATWG Encoding Standard reads its label, or as its bytes suggest."""

import codecs
import re

import charset_normalizer
import webencodings

from pipeline.files import decode, well_formed

_LABEL = re.compile(
    rb"""<(?:meta\b[^<>]*?\bcharset|\?xml\b[^<>]*?\bencoding)\s*=\s*["']?\s*([\w.:+-]+)""", re.IGNORECASE
)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_PRESCAN = 16_384  # browsers read 1,024 bytes, and the page anew if a label comes later; chosen by hand, not measured
_BROWSERS_OWN = "cp1252"
_SNIFFED = (
    "cp1252 cp1250 cp1251 koi8_r cp1253 cp1254 cp1255 cp1256 cp874 cp932 euc_jp iso2022_jp gb18030 big5 cp949".split()
)
"""The encodings that pages without a label have, as Python names them."""

_IS_UTF_8 = frozenset(("utf-8", "utf-16-le", "utf-16-be"))
"""A label that can be read as ASCII isn't in UTF-16."""

_NONE = frozenset(("replacement", "x-user-defined"))
_PYTHONS_OWN = re.compile(r"(?:big5|cp|gb|hp|hz|iso|johab|koi8|kz|mac|ptcp|shift|tis|utf)[\w-]*")
"""Encodings of Python that mail may be in, and the standard doesn't know; others are no encodings of texts."""

_BEYOND_ASCII = re.compile(r"utf-(?:7|16|32).*|hz")
"""Encodings whose bytes may all be ASCII, and mean something else."""


def decoded_page(data: bytes) -> str:
    """Return the text of a page with ``\\n`` for every line end. Raises Unreadable if it is binary or empty.

    Valid UTF-8 says more than a label, which editors leave behind. Without any, and without a sign of another
    encoding, a page is windows-1252, as in browsers. What the encoding doesn't know is replaced.
    """
    if b"\x00" in data or not data or data.isspace():
        return decode(_marked(data))
    return _decoded(data, _codec(data, _declared(data)))


def decoded_part(data: bytes, label: str) -> str:
    """Return the text of a part of a message, whose header says ``label`` of its encoding, or nothing.

    A part may be empty. What isn't in the encoding is replaced, and NUL left out.
    """
    own = _pythons_own(label)
    if _BEYOND_ASCII.fullmatch(own):
        return _decoded(data, own)
    data = data.replace(b"\x00", b"")
    return _decoded(data, _codec(data, _named(label) or own)) if data.strip() else ""


def _pythons_own(label: str) -> str:
    try:
        name = codecs.lookup(label.strip()).name
    except (LookupError, ValueError):
        return ""
    return name if _PYTHONS_OWN.fullmatch(name) else ""


def _decoded(data: bytes, codec: str) -> str:
    text = data.decode(codec, "replace").removeprefix("\ufeff")
    return well_formed(text.replace("\r\n", "\n").replace("\r", "\n"))


def _marked(data: bytes) -> bytes:
    """Return UTF-16 with a byte order mark if it begins with a tag and has none."""
    marks = {b"<\x00": codecs.BOM_UTF16_LE, b"\x00<": codecs.BOM_UTF16_BE}
    return marks.get(data[:2], b"") + data


def _codec(data: bytes, declared: str) -> str:
    if declared == "iso2022_jp" and b"\x1b" in data:  # all of its bytes are ASCII, too
        return declared
    if _is_utf_8(data, whole=declared not in ("", "utf-8")):
        return "utf-8"
    return declared if declared not in ("", "utf-8") else _sniffed(data)


def _declared(data: bytes) -> str:
    """Return Python's name of the encoding that a page declares; empty without a label that is known."""
    label = _LABEL.search(_COMMENT.sub(b"", data[:_PRESCAN]))
    return _named(label[1].decode("ascii", "replace")) if label else ""


def _named(label: str) -> str:
    encoding = webencodings.lookup(label)
    codec = encoding.codec_info.name if encoding else ""
    return "utf-8" if codec in _IS_UTF_8 else "" if codec in _NONE else codec


def _is_utf_8(data: bytes, *, whole: bool) -> bool:
    """Return whether these bytes are UTF-8: as a ``whole``, or more of them than not."""
    try:
        data.decode()
    except UnicodeDecodeError:
        text = "" if whole else data.decode("utf-8", "replace")
        return 2 * text.count("\N{REPLACEMENT CHARACTER}") < sum(char > "\x7f" for char in text)
    return True


def _sniffed(data: bytes) -> str:
    """Return the encoding in which the bytes are most like text of a language; of equals the browsers' own."""
    matches = charset_normalizer.from_bytes(data, cp_isolation=_SNIFFED, preemptive_behaviour=False)
    best = [match for match in matches if match.chaos == matches[0].chaos]
    names = {name for match in best for name in (match.encoding, *(same.encoding for same in match.submatch))}
    return _BROWSERS_OWN if not best or _BROWSERS_OWN in names else best[0].encoding
