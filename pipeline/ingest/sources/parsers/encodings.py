"""The encoding of a page, mail or text, as the WHATWG Encoding Standard reads its label, or as its bytes suggest."""

import codecs
import re
import unicodedata
from collections.abc import Sequence

import charset_normalizer
import webencodings

from pipeline.files import Unreadable, decode, well_formed

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

_LATIN = ("cp1252", "cp1250", "cp1254")
_WORD_BEYOND = re.compile(rb"[\x80-\xff]{3}")

_IS_UTF_8 = frozenset(("utf-8", "utf-16-le", "utf-16-be"))
"""A label that can be read as ASCII isn't in UTF-16."""

_NONE = frozenset(("replacement", "x-user-defined"))
_PYTHONS_OWN = re.compile(r"(?:big5|cp|gb|hp|hz|iso|johab|koi8|kz|mac|ptcp|shift|tis|utf)[\w-]*")
"""Encodings of Python that mail may be in, and the standard doesn't know; others are no encodings of texts."""

_BEYOND_ASCII = re.compile(r"utf-(?:7|16|32).*|hz")
"""Encodings whose bytes may all be ASCII, and mean something else."""

_UTF_32_MARKS = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_NO_TEXT = re.compile(r"[\x00-\x07\x0e-\x19\x1c-\x1f\x7f]")
"""Control characters that texts of any age lack; they may have form feeds, escapes and the end mark of DOS."""

_MOST_CONTROLS = 0.01
"""Share of control characters in a text. Chosen by hand: random bytes have a tenth, texts none."""

_MOST_STRANGE = 0.3
"""Share of the bytes beyond ASCII in a text whose encoding nothing suggests. Chosen by hand: drawings of lines, and
the accents of a Macintosh are fewer, compressed data are half."""

_SAMPLE = 50_000  # bytes of lines beyond ASCII, by which an encoding is told; chosen by hand, not measured
_FIRST_LETTER = 0xC0
"""The least byte of most letters in all of these encodings; below are signs, such as quotation marks and the euro."""

_UNASSIGNED = frozenset(("Cn", "Co", "Cs"))
_NAMES = {"cp932": "Shift_JIS", "cp949": "EUC-KR", "gb18030": "GB18030", "big5": "Big5", "koi8_r": "KOI8-R"}


def decoded_text(data: bytes) -> tuple[str, str]:
    """Return the text of a file with ``\\n`` for every line end, and a warning if its encoding is a guess, else "".

    Raises Unreadable if it is binary or empty. Without a sign of another encoding, what isn't UTF-8 is Windows-1252.
    """
    if data.startswith(_UTF_32_MARKS):
        return decode(data.decode("utf-32", "replace").encode()), ""
    try:
        return decode(data), ""
    except Unreadable as refusal:
        text, name = _guessed(data)
        if not text:
            raise
        if len(_NO_TEXT.findall(text)) > _MOST_CONTROLS * len(text):
            raise Unreadable("is binary", "Convert it to text, or leave it out.") from refusal
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    isnt = (
        "has bytes that aren't UTF-8, and can't be read" if name == "UTF-8" else f"isn't UTF-8, and is read as {name}"
    )
    return text, f"{isnt} ({lost:,} characters are lost)" if lost and name != "UTF-8" else isnt


def _guessed(data: bytes) -> tuple[str, str]:
    """Return a text that isn't UTF-8, and the name of its encoding; two empty texts if it has none."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or not data.strip():
        return "", ""
    if b"\x00" in data:
        return _utf_16(data)
    if _is_utf_8(data, whole=False):
        return _decoded(data, "utf-8"), "UTF-8"
    sample = _sample(data)
    is_telling = any(byte >= _FIRST_LETTER for byte in sample)
    codec = _sniffed(sample, _candidates(sample), otherwise="") if is_telling else _BROWSERS_OWN
    if not codec and sum(byte > 0x7F for byte in data[:_SAMPLE]) > _MOST_STRANGE * len(data[:_SAMPLE]):
        return "", ""
    codec = codec or _BROWSERS_OWN
    return _decoded(data, codec), _NAMES.get(codec, codec.replace("cp", "Windows-").replace("_", "-"))


def _utf_16(data: bytes) -> tuple[str, str]:
    """Return a text in UTF-16 without a byte order mark; two empty texts if the bytes aren't one."""
    # of blanks, line ends and letters of ASCII the high byte is zero
    is_big_first = data[::2].count(0) > data[1::2].count(0)
    text = data.decode("utf-16-be" if is_big_first else "utf-16-le", "replace")
    if any(unicodedata.category(char) in _UNASSIGNED or char in "\x00\ufffd" for char in text[:_SAMPLE]):
        return "", ""
    return well_formed(text.replace("\r\n", "\n").replace("\r", "\n")), "UTF-16"


def _sample(data: bytes) -> bytes:
    """Return the first lines with bytes beyond ASCII: the others say nothing of the encoding."""
    size, lines = 0, []
    for line in data.splitlines(keepends=True):
        if size < _SAMPLE and not line.isascii():
            lines.append(line)
            size += len(line)
    return b"".join(lines)


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


def _candidates(sample: bytes) -> Sequence[str]:
    """Return the encodings that lines may have: not those of Latin letters if whole words are beyond ASCII."""
    letters = sum(chr(byte).isalpha() for byte in sample if byte < 0x80)
    is_latin = not _WORD_BEYOND.search(sample) or sum(byte > 0x7F for byte in sample) <= letters
    return _SNIFFED if is_latin else [name for name in _SNIFFED if name not in _LATIN]


def _sniffed(data: bytes, candidates: Sequence[str] = _SNIFFED, otherwise: str = _BROWSERS_OWN) -> str:
    """Return the encoding in which the bytes are most like text of a language; of equals the browsers' own.

    Without any it is ``otherwise``.
    """
    matches = charset_normalizer.from_bytes(data, cp_isolation=list(candidates), preemptive_behaviour=False)
    best = [match for match in matches if match.chaos == matches[0].chaos]
    names = {name for match in best for name in (match.encoding, *(same.encoding for same in match.submatch))}
    if not best:
        return otherwise
    return _BROWSERS_OWN if _BROWSERS_OWN in names else best[0].encoding
