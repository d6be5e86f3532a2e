"""Tell a note's running text from its code, links, addresses and markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.domains.vault.records import Note
from pipeline.records import BlockKind

_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:.(?!\n\s*\n))+?(?<!`)\1(?!`)", re.DOTALL)
_HEADING = re.compile(r"^[\s>*+-]*#{1,6}\s.*$", re.MULTILINE)
_MARKUP = re.compile(
    r"\]\((?:[^()\n]|\([^()\n]*\))*\)"  # the destination of a link or image
    r"|!?\[(?:[^\[\]\n]|\n(?!\n))*\](?=\()"  # its text
    r"|!?\[\[[^\[\]\n]*\]\]"
    r"|!?\[[^\[\]\n]*\](?:\[[^\[\]\n]*\]|:[ \t]+\S+)?"  # references, definitions, footnotes, inline fields
    r"|\b[A-Za-z][A-Za-z0-9+.-]*://\S+|\bwww\.\S+|\S+@\S+"
    r"|</?[A-Za-z!][^<>]*>|<!--.*?-->"
    r"|\$\$.+?\$\$|(?<![\w$])\$(?!\s)[^$\n]+(?<!\s)\$(?!\w)"
    r"|%%.*?%%|\{\{.*?\}\}|\(\([\w-]+\)\)"
    r"|^[\s>*+-]*[\w-]+::"  # the name of an inline field
    r"|(?<!\w)[#@^][\w/-]+",
    re.DOTALL | re.MULTILINE,
)
_ANCHOR = re.compile(r"<a\s.*?</a>", re.DOTALL | re.IGNORECASE)
_HTML_BLOCK = re.compile(r"\s*<[A-Za-z/!?]")


def code_spans(note: Note) -> Iterator[tuple[int, int]]:
    """Yield the spans of code, in blocks and within lines, in order of each kind."""
    for block in note.blocks:
        if block.kind is BlockKind.CODE:
            yield block.start, block.end
        else:
            for match in _CODE.finditer(note.text, block.start, block.end):
                yield match.span()


def prose_mask(note: Note) -> bytearray:
    """Return a byte for each character of the note: 1 in running text, where a word could become a link.

    Front matter, headings, code, links, addresses, tags, formulas, comments and HTML have 0.
    """
    mask = bytearray(len(note.text))
    for block in note.blocks:
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.TABLE) and not _HTML_BLOCK.match(note.text, block.start):
            mask[block.start : block.end] = b"\1" * (block.end - block.start)
    for start, end in _markup(note):
        mask[start:end] = bytes(end - start)
    return mask


def _markup(note: Note) -> Iterator[tuple[int, int]]:
    yield from code_spans(note)
    yield from ((link.start, link.end) for link in (*note.links, *note.in_code))
    for pattern in (_HEADING, _MARKUP, _ANCHOR):
        yield from (match.span() for match in pattern.finditer(note.text, note.body_start))
