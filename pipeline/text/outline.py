"""The structure of a text: its paragraphs, the tree of sections under its headings, and chunks joined again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pipeline.records import Block, BlockKind, Document
from pipeline.text.fold import fold
from pipeline.text.prose import trimmed

_PARAGRAPH = re.compile(r"\S.*(?:\n[^\S\n]*+\S.*)*+")
_CONTEXT = 100  # characters of title and heading, so that they don't push out the text; chosen by hand, not measured
_LONGEST = 200  # characters of a heading; chosen by hand, not measured
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*\|)?([^\[\]|\n]+)\]\]")
_MARKS = re.compile(r"\*\*|__|\*|:[a-z][a-z:]*:(?=`)|``?|(?<!\w)_|_(?!\w)")

_TAGS = re.compile(
    r"(?<![:`])(?P<code>(?P<ticks>`+)[^`]+(?P=ticks))(?![_`])"
    r"|\{\{[^{}\"]*(?:\"(?P<quoted>[^\"{}]*)(?:\"[^{}]*)?)?\}\}|\{[:#.][^{}]*\}|</?[A-Za-z][^<>]*>"
)
"""Code, which stays; template shortcodes, whose quoted text stays; attributes and HTML tags, which go."""


def paragraphs(text: str, start: int = 0, end: int | None = None) -> Iterator[Block]:
    """Yield the paragraphs of ``text[start:end]`` in order, without the white space around them.

    A paragraph is a run of lines that aren't blank. Every character that isn't white space lies in a paragraph.
    """
    for match in _PARAGRAPH.finditer(text, start, len(text) if end is None else end):
        yield Block(BlockKind.PARAGRAPH, *trimmed(text, *match.span()))


def join_chunks(chunks: Iterable[tuple[int, int, str]]) -> str:
    """Return the text of chunks, given as (start, end, text) in order, with every passage once.

    A chunk begins with the last sentences of the previous one, or after white space or markup, which becomes an empty
    line.
    """
    joined, reached = "", 0
    for start, end, text in chunks:
        overlap = max(0, reached - start)
        joined += ("\n\n" if joined and not overlap else "") + text[overlap:]
        reached = end
    return joined.strip()


def in_context(title: str, heading: str, text: str) -> str:
    """Return a passage as models read it: its title, heading and text, folded, so that its context counts too."""
    context = " > ".join(part for part in (title, heading) if part)
    return fold(f"{context[:_CONTEXT]}\n{text}" if context else text)


@dataclass(slots=True)
class Section:
    """A heading, the blocks directly below it, and the sections nested in it.

    ``level`` is the heading's level, 0 for the document itself. ``path`` holds the headings' texts, outermost first; a
    section without a heading has the path of the section around it. ``body`` holds the blocks before the first nested
    section; the heading comes first. ``start`` and ``end`` include nested sections.
    """

    level: int
    path: tuple[str, ...]
    start: int
    end: int
    body: list[Block] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)


def outline(document: Document) -> Section:
    """Return the document as a tree of sections; a document without blocks is a single section of paragraphs.

    Blank blocks are left out, so an empty document has an empty body and no children.
    """
    text = document.text
    blocks = document.blocks or tuple(paragraphs(text))
    spans = ((block, *trimmed(text, block.start, block.end)) for block in blocks)
    kept = [Block(block.kind, start, end, block.level, block.name) for block, start, end in spans if start < end]
    root = Section(0, (), kept[0].start if kept else 0, kept[-1].end if kept else 0)
    open_sections = [root]
    for block in kept:
        if block.kind is BlockKind.HEADING or block.level:
            while len(open_sections) > 1 and open_sections[-1].level >= block.level:
                open_sections.pop()
            parent = open_sections[-1]
            title = block.name or heading_text(text[block.start : block.end])
            path = (*parent.path, title) if block.kind is BlockKind.HEADING else parent.path
            parent.children.append(Section(max(1, block.level), path, block.start, block.end))
            open_sections.append(parent.children[-1])
        open_sections[-1].body.append(block)
        for section in open_sections:
            section.end = block.end
    return root


def heading_text(source: str) -> str:
    """Return a heading's plain text: ``## The *big* [one](x.md) ##`` gives ``The big one``.

    Underlines and overlines (Markdown, reStructuredText) are left out. The text is cut at 200 characters.
    """
    lines = [line.strip() for line in source.splitlines()]
    words = " ".join(line for line in lines if any(map(str.isalnum, line))) or " ".join(lines)
    if words.startswith("#"):
        bare = words.lstrip("#").strip()
        words = bare.rstrip("#").rstrip() if bare.endswith(" " + "#" * (len(bare) - len(bare.rstrip("#")))) else bare
    words = _TAGS.sub(lambda tag: tag["code"] or tag["quoted"] or "", words)
    words = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", words))
    words = " ".join(_MARKS.sub("", words[: 4 * _LONGEST]).split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"


def first_heading(text: str, blocks: Iterable[Block]) -> str:
    """Return the plain text of the first heading of level 1 in ``blocks``; empty if there is none."""
    return next((heading_text(text[block.start : block.end]) for block in blocks if block.level == 1), "")
