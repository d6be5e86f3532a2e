"""Mail: a message, also as Apple Mail and browsers save it, or a mailbox whose messages are sections."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath

from pipeline.files import Unreadable, well_formed
from pipeline.ingest.sources.parsers import html
from pipeline.ingest.sources.parsers.encodings import decoded_part
from pipeline.ingest.sources.source import Source, join, parser_errors
from pipeline.records import Block, BlockKind, Document
from pipeline.text.outline import paragraphs

_BOXES = frozenset((".mbox", ".mbx"))
_PAGES = frozenset((".mht", ".mhtml"))
"""Web pages that a browser saves as a message from itself."""

_START = re.compile(rb"^From [^\n]*\n(?=[A-Za-z][\w-]*:[ \t\r\n<]|>From )", re.MULTILINE)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_LENGTH = re.compile(rb"\s*(\d+)[ \t]*\r?\n")
"""The first line of a message of Apple Mail: the bytes of the message, after which come its properties."""

_SHOWN = ("From", "To", "Cc", "Date")
_LONGEST_HEADER = 10_000
"""Characters that are read of a header, whose decoding may take the square of their number. Chosen by hand."""

_ENCRYPTED = frozenset(("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"))
_BROWSERS_OWN = "windows-1252"
"""The encoding of headers that say nothing of theirs: too few letters to tell it by them."""

_FIX = "Save the message again, or leave it out."


def parse(source: Source) -> Document:
    """Return a message as a document, or a mailbox, in which each message is a section under its subject.

    A text begins with who wrote to whom and when, which are also the metadata of a single message, and ends with the
    names of the files that are attached. Of a text that is there twice, the plain one is taken; replies that it quotes
    stay. A message of a mailbox that can't be read is named in the warnings. Raises Unreadable.
    """
    suffix = PurePosixPath(source.key).suffix.lower()
    if suffix in _BOXES:
        return _box(source)
    length = _LENGTH.match(source.data) if suffix == ".emlx" else None
    data = source.data[length.end() :][: int(length[1][:12])] if length else source.data
    with parser_errors("mail"):
        message = message_from_bytes(data)
        heads = {} if suffix in _PAGES else _heads(message)
        document = join([_lines(heads), *_parts(message)])
        title = _header(message, "Subject")
    if not document.blocks:
        raise Unreadable("is encrypted" if _is_encrypted(message) else "has no text", _FIX)
    metadata = {name.lower(): value for name, value in heads.items()}
    return replace(
        document,
        key=source.key,
        path=source.path,
        title=title or source.stem,
        metadata=metadata,
        warnings=("has an encrypted text, which isn't read",) if _is_encrypted(message) else (),
    )


def _box(source: Source) -> Document:
    sections, warnings = [], []
    for number, data in enumerate(_messages(source.data), 1):
        try:
            with parser_errors("mail"):
                message = message_from_bytes(data)
                section = _section(message)
        except Unreadable as error:
            warnings.append(f"has a message, the {number}th, which {error.message}")
            continue
        sections.append(section)
        if _is_encrypted(message):
            warnings.append(f"has an encrypted message, the {number}th, whose text isn't read")
    document = join(sections or [Document("", "", "")])
    if not document.blocks:
        raise Unreadable("has no message", _FIX)
    return replace(document, key=source.key, path=source.path, title=source.stem, apart=True, warnings=tuple(warnings))


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a mailbox. One begins with a line ``From ...`` above its headers."""
    starts = [match.span() for match in _START.finditer(data)] or [(0, 0)]
    ends = [start for start, _ in starts[1:]] + [len(data)]
    for (_, start), end in zip(starts, ends, strict=True):
        yield _ESCAPED.sub(rb"\1", data[start:end])


def _section(message: Message) -> Document:
    """Return a message of a mailbox under its subject; the headings of a page in it are below that."""
    subject = _header(message, "Subject") or "(no subject)"
    heading = Document("", "", subject, (Block(BlockKind.HEADING, 0, len(subject), 1),))
    texts = join([_lines(_heads(message)), *_parts(message)])
    below = tuple(replace(block, level=min(block.level + 1, 6) if block.level else 0) for block in texts.blocks)
    return join([heading, replace(texts, blocks=below)])


def _heads(message: Message) -> Mapping[str, str]:
    """Return who wrote to whom, and when, in ISO 8601 as far as the date is one."""
    heads = {name: value for name in _SHOWN if (value := _header(message, name))}
    with suppress(ValueError, TypeError, IndexError, OverflowError):
        heads["Date"] = parsedate_to_datetime(heads.get("Date", "")).isoformat()
    return heads


def _header(message: Message, name: str) -> str:
    """Return a header's text on one line; empty if it isn't there."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return _decoded(str(raw), message.get_content_charset(_BROWSERS_OWN))


def _decoded(raw: str, label: str) -> str:
    """Return the text of a header, whose words may each be encoded, or whose bytes are simply there, as in the text."""
    text = raw[:_LONGEST_HEADER]
    text = text if text.isascii() else decoded_part(text.encode("utf-8", "surrogateescape"), label)
    with suppress(HeaderParseError, ValueError):
        text = "".join(
            piece if isinstance(piece, str) else _word(piece, charset) for piece, charset in decode_header(text)
        )
    return " ".join(well_formed(text).split())


def _word(piece: bytes, charset: str | None) -> str:
    if charset is None:  # so the library keeps what no word encodes
        return piece.decode("raw-unicode-escape", "replace")
    return decoded_part(piece, charset.partition("*")[0])


def _lines(heads: Mapping[str, str]) -> Document:
    return _plain("\n".join(f"{name}: {value}" for name, value in heads.items()))


def _plain(text: str) -> Document:
    return Document("", "", text, tuple(paragraphs(text)))


def _parts(message: Message) -> Iterator[Document]:
    """Yield the texts of a message in order, those of a message in it after its headers, then what is attached."""
    pending, attached = [message], list[str]()
    while pending:
        part = pending.pop()
        kind, name = part.get_content_type(), _decoded(str(part.get_filename() or ""), _BROWSERS_OWN)
        if part.is_multipart():
            pending.extend(reversed(_shown(part)))
            if kind == "message/rfc822":
                inner = pending[-1]
                yield _lines({"Subject": _header(inner, "Subject"), **_heads(inner)})
        elif name and (part.get_content_disposition() == "attachment" or not kind.startswith("text/")):
            attached.append(name)
        elif kind in ("text/plain", "text/html"):
            yield _html(part) if kind == "text/html" else _plain(_text(part))
    yield _plain(f"Attachments: {', '.join(attached)}" if attached else "")


def _shown(part: Message) -> list[Message]:
    """Return the parts of a part; of alternatives the plain text, else the page, else the last, which is the best."""
    parts = [each for each in part.get_payload() if isinstance(each, Message)]
    if part.get_content_type() != "multipart/alternative":
        return parts
    for kind in ("text/plain", "text/html"):
        for each in parts:
            if each.get_content_type() == kind and _text(each).strip():
                return [each]
    return parts[-1:]


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    label = part.get_content_charset("")
    return decoded_part(data, label).strip("\n") if isinstance(data, bytes) else ""


def _html(part: Message) -> Document:
    try:
        return html.parse(Source("", "", _text(part).encode()))
    except Unreadable:  # a page of pictures
        return Document("", "", "")


def _is_encrypted(message: Message) -> bool:
    signed = str(message.get_param("smime-type", "")).lower() == "signed-data"
    return message.get_content_type() in _ENCRYPTED and not signed
