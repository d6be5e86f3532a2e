"""reStructuredText: headings, paragraphs, literal blocks, tables and links; no file is included, no code run."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Parser
from docutils.parsers.rst.states import Inliner

from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.source import parser_errors
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading
from pipeline.text.prose import trimmed

_CODE = re.compile(r"\s*\.\.[ \t]+(?:code|code-block|sourcecode|parsed-literal|math|prompt|ipython)[ ]?::")
_TABLE = re.compile(r"\s*\.\.[ \t]+(?:table|list-table|csv-table)[ ]?::")
_EXPLICIT = re.compile(r"\s*\.\.(?:[ \t]|$)")
_TARGET = re.compile(r"\s*\.\.[ \t]+(?:_|\|[^|\n]+\|[ \t]+(?!replace::))")
_CONTENT = re.compile(
    r"\s*\.\.[ \t]+(?:\[[^\[\]\n]+\](?:[ \t]|$)|\|[^|\n]+\|[ \t]+replace::|[^\W_][\w.:+-]*[ ]?::(?:[ \t]|$))"
)
"""Footnotes, citations, replacements and directives; other explicit markup that is no target is a comment."""

_MAX_TABLE_LINES = 200  # chosen by hand, to bound the time of a table without an end
_RULE = re.compile(r"\s*(?:\+(?:[-=]+\+)+|=+(?:\s+=+)+)\s*$")
_SETTINGS = {
    "_disable_config": True,
    "docinfo_xform": False,
    "doctitle_xform": False,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "line_length_limit": 10**9,
    "raw_enabled": False,
    "report_level": 5,
    "syntax_highlight": "none",
    "warning_stream": False,
}


# docutils ends a line at each of these characters, which aren't line ends of the file
_LINE_ENDS = dict.fromkeys(map(ord, "\v\f\x1c\x1d\x1e\x85\u2028\u2029"), " ")
_LINK = re.compile(
    r":doc:`(?:[^`<>]*<)?(?P<doc>[^`<>]+)>?`"
    r"|`[^`<>]*<(?P<embedded>[^`<>]*[^`<>_\s])>`_"
    r"|^[ \t]*(?:\.\. _[^:\n]*:|__)[ \t]+(?P<named>\S*[^\s_])[ \t]*$",
    re.MULTILINE,
)


class _LineBlock(NamedTuple):
    """A block: the index of the line after it, and its kind, None for markup, such as comments."""

    end: int
    kind: BlockKind | None
    level: int = 0
    is_comment: bool = False


def _blocks(text: str, lines: Sequence[str], headings: Mapping[int, _LineBlock]) -> Iterator[Block]:
    """Yield the blocks of ``text``; ``headings`` are by the indices of their first lines. Markup is left out."""
    offsets = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for at, block in _line_blocks(lines, headings):
        start, end = trimmed(text, offsets[at], min(offsets[block.end], len(text)))
        if block.kind is not None and start < end:
            yield Block(block.kind, start, end, block.level)


def _line_blocks(lines: Sequence[str], headings: Mapping[int, _LineBlock]) -> Iterator[tuple[int, _LineBlock]]:
    """Yield the blocks with their first lines, found line by line, as docutils' tree doesn't hold their offsets.

    The content of a directive such as ``note`` is paragraphs.
    """
    at, literal = 0, False
    while at < len(lines):
        if not lines[at].strip():
            at += 1
            continue
        block = _block_at(lines, at, headings, literal)
        directive = _EXPLICIT.match(lines[at]) is not None
        literal = block.kind is BlockKind.PARAGRAPH and not directive and lines[block.end - 1].rstrip().endswith("::")
        yield at, block
        at = block.end


def _without_comments(lines: Sequence[str], headings: Mapping[int, _LineBlock]) -> list[str]:
    """Return the lines with those of comments empty, so that the others keep their numbers."""
    shown = list(lines)
    for at, block in _line_blocks(lines, headings):
        if block.is_comment:
            shown[at : block.end] = [""] * (block.end - at)
    return shown


def _block_at(lines: Sequence[str], at: int, headings: Mapping[int, _LineBlock], literal: bool) -> _LineBlock:
    """Return the block that begins at line ``at``; ``literal``: the paragraph before it ends with two colons."""
    line = lines[at]
    if at in headings:
        return headings[at]
    if literal and line[:1].isspace():
        return _LineBlock(_indented(lines, at, _indent(line) - 1), BlockKind.CODE)
    for pattern, directive in ((_CODE, BlockKind.CODE), (_TABLE, BlockKind.TABLE), (_TARGET, None)):
        if pattern.match(line):
            return _LineBlock(_indented(lines, at + 1, _indent(line)), directive)
    if line.strip() == ".." and not (at + 1 < len(lines) and lines[at + 1].strip()):
        return _LineBlock(at + 1, None)  # it ends what is above, and takes no text with it
    if _EXPLICIT.match(line) and not _CONTENT.match(line):
        return _LineBlock(_indented(lines, at + 1, _indent(line)), None, is_comment=True)
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


def _unbroken(lines: Sequence[str], at: int, headings: Mapping[int, _LineBlock]) -> int:
    """Return the index of the first line after ``at`` that is blank or begins a heading."""
    at += 1
    while at < len(lines) and lines[at].strip() and at not in headings:
        at += 1
    return at


def _table(lines: Sequence[str], at: int) -> int:
    """Return the index of the line after a table: a grid ends at a blank line, a simple table at a rule above one."""
    end = _unbroken(lines, at, {})
    if lines[at].lstrip().startswith("+"):
        return end
    for row in range(at + 1, min(len(lines), at + _MAX_TABLE_LINES)):
        if _RULE.match(lines[row]) and not "".join(lines[row + 1 : row + 2]).strip():
            return row + 1
        if _indent(lines[row]) < _indent(lines[at]) and lines[row].strip():
            break
    return end


def structure(document: Document) -> Document:
    """Return a document of reStructuredText without comments, with its blocks, its links and, if it has any, a title.

    Raises Unreadable.
    """
    text = document.text
    lines = text.split("\n")
    with parser_errors("reStructuredText"):
        parser = Parser(inliner=_PlainInliner())
        tree = publish_doctree(text.translate(_LINE_ENDS), parser=parser, settings_overrides=_SETTINGS)
        headings = dict(_headings(tree, lines))
    lines = _without_comments(lines, headings)
    text = "\n".join(lines)
    blocks = tuple(_blocks(text, lines, headings))
    title = document.title or first_heading(text, blocks)
    return replace(document, title=title, text=text, blocks=blocks, links=tuple(_links(text)))


def _headings(tree: nodes.document, lines: Sequence[str]) -> Iterator[tuple[int, _LineBlock]]:
    """Yield (index of its first line, heading) for each section; docutils reports the line below the title."""
    for title in tree.findall(nodes.title):
        above, level = title.parent, 0
        while isinstance(above, nodes.section):
            above, level = above.parent, level + 1
        if title.line is not None and level:
            under = title.line - 1
            overlined = under >= 2 and lines[under - 2].strip() == lines[under].strip() != ""
            yield under - 1 - overlined, _LineBlock(under + 1, BlockKind.HEADING, min(level, 6))


def _links(text: str) -> Iterator[Link]:
    """Yield embedded references, targets of named references, and Sphinx's ``:doc:`` roles that lead to files."""
    for match in _LINK.finditer(text):
        target = match["doc"] or document_target(match["embedded"] or match["named"])
        if target:
            yield Link(" ".join(target.split()), *match.span())


class _PlainInliner(Inliner):
    """Leaves inline markup unparsed: only blocks are needed, and docutils is slow at unknown roles."""

    def init_customizations(self, settings: object) -> None:
        """Prepare no patterns."""

    def adjust_uri(self, uri: str) -> str:
        return uri

    def parse(
        self,
        text: str,
        lineno: int,  # noqa: ARG002 - the library passes these four
        memo: object,  # noqa: ARG002
        parent: object,  # noqa: ARG002
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [nodes.Text(text)], []
