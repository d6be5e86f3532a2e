"""Data in YAML, JSON or TOML as a text: a section for each key of the outermost level that holds others."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from pipeline.files import Guard, Unreadable, parse_json
from pipeline.records import Block, BlockKind, Document
from pipeline.text.outline import paragraphs

_KEY = re.compile(
    r"""^(?P<indent>[ \t]*)(?:"(?P<quoted>[^"\n]+)"|(?P<bare>[^\s"#:{}\[\],-][^"#:{}\[\],\n]*))"""
    r""":[ \t]*+(?:[{\[]|[|>][+-]?\d?|[&!]\S++)?[ \t]*+(?:#[^\n]*)?$"""
    r"|^\[+(?P<table>[^\[\]\n]+)\]+[ \t]*$",
    re.MULTILINE,
)
"""A key on a line of its own: its value is below it."""

_LONG_LINE = 100
"""Characters of a line of JSON on average, beyond which it wasn't written to be read. Chosen by hand; not measured."""


def structure(document: Document) -> Document:
    """Return a document of data with its blocks. JSON in long lines is written anew, a value a line.

    Raises Unreadable for what is no JSON, though its suffix says so.
    """
    text = document.text
    if PurePosixPath(document.key).suffix.lower() == ".json":
        text = _json(text)
    return replace(document, text=text, blocks=tuple(_blocks(text)))


def _json(text: str) -> str:
    value = parse_json(text, Guard(Unreadable, mend=True))
    is_readable = len(text) <= _LONG_LINE * (text.count("\n") + 1) and "\\u" not in text
    return text if is_readable else json.dumps(value, indent=1, ensure_ascii=False)


def _blocks(text: str) -> Iterator[Block]:
    at, outermost = 0, None
    for match in _KEY.finditer(text):
        outermost = match["indent"] or "" if outermost is None else outermost
        if (match["indent"] or "") == outermost:
            yield from _code(text, at, match.start())
            name = (match["quoted"] or match["bare"] or match["table"]).strip(" '")
            yield Block(BlockKind.HEADING, match.start() + len(outermost), match.end(), 1, name)
            at = match.end()
    yield from _code(text, at, len(text))


def _code(text: str, start: int, end: int) -> Iterator[Block]:
    for block in paragraphs(text, start, end):
        yield replace(block, kind=BlockKind.CODE)
