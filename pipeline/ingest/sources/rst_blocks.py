"""The blocks of a reStructuredText file, found line by line: docutils' tree doesn't hold their offsets."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pipeline.records import Block, BlockKind
from pipeline.text.paragraphs import trimmed

_CODE = re.compile(r"\s*\.\. (?:code|code-block|sourcecode|parsed-literal|math|prompt|ipython)::")
_TABLE = re.compile(r"\s*\.\. (?:table|list-table|csv-table)::")
_MARKUP = re.compile(r"\s*\.\.(?:\s+(?:_|\[|\||(?!\S+::))|$)")
_MAX_TABLE_LINES = 200
_RULE = re.compile(r"\s*(?:\+(?:[-=]+\+)+|=+(?:\s+=+)+)\s*$")


class Heading(NamedTuple):
    """A heading's level, and the index of the line after the heading."""

    level: int
    end: int


class _LineBlock(NamedTuple):
    """A block: the index of the line after it, and its kind, None for markup."""

    end: int
    kind: BlockKind | None
    level: int = 0


def rst_blocks(text: str, lines: Sequence[str], headings: Mapping[int, Heading]) -> Iterator[Block]:
    """Yield the blocks of ``text`` in order; ``lines`` are its lines, ``headings`` maps line indices to headings.

    Comments and targets are left out. The content of a directive such as ``note`` is paragraphs.
    """
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    at, literal = 0, False
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block = _block_at(lines, at, headings, literal)
        directive = lines[at].lstrip().startswith(".. ")
        literal = block.kind is BlockKind.PARAGRAPH and not directive and lines[block.end - 1].rstrip().endswith("::")
        start, end = trimmed(text, offsets[at], min(offsets[block.end], len(text)))
        if block.kind is not None and start < end:
            yield Block(block.kind, start, end, block.level)
        at = block.end


def _block_at(lines: Sequence[str], at: int, headings: Mapping[int, Heading], literal: bool) -> _LineBlock:
    """Return the block that begins at line ``at``; ``literal``: the paragraph before it ends with two colons."""
    line = lines[at]
    if at in headings:
        return _LineBlock(headings[at].end, BlockKind.HEADING, headings[at].level)
    if literal and line[:1].isspace():
        return _LineBlock(_indented(lines, at, _indent(line) - 1), BlockKind.CODE)
    if _CODE.match(line):
        return _LineBlock(_indented(lines, at + 1, _indent(line)), BlockKind.CODE)
    if _TABLE.match(line):
        return _LineBlock(_indented(lines, at + 1, _indent(line)), BlockKind.TABLE)
    if _MARKUP.match(line):
        return _LineBlock(_indented(lines, at + 1, _indent(line)), None)
    if _RULE.match(line):
        return _LineBlock(_table(lines, at), BlockKind.TABLE)
    kind = BlockKind.CODE if line.lstrip().startswith(">>>") else BlockKind.PARAGRAPH
    return _LineBlock(_unbroken(lines, at, headings), kind)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _indented(lines: Sequence[str], at: int, indent: int) -> int:
    """Return the index of the first nonblank line from ``at`` that isn't indented by more than ``indent``."""
    while at < len(lines) and (not lines[at].strip() or _indent(lines[at]) > indent):
        at += 1
    return at


def _unbroken(lines: Sequence[str], at: int, headings: Mapping[int, Heading]) -> int:
    """Return the index of the first line after ``at`` that is blank or begins a heading."""
    at += 1
    while at < len(lines) and lines[at].strip() and at not in headings:
        at += 1
    return at


def _table(lines: Sequence[str], at: int) -> int:
    """Return the index of the line after a table.

    A grid ends at a blank line, a simple table at a rule with a blank line below.
    """
    end = _unbroken(lines, at, {})
    if lines[at].lstrip().startswith("+"):
        return end
    for row in range(at + 1, min(len(lines), at + _MAX_TABLE_LINES)):
        if _RULE.match(lines[row]) and not "".join(lines[row + 1 : row + 2]).strip():
            return row + 1
        if _indent(lines[row]) < _indent(lines[at]) and lines[row].strip():
            break
    return end
