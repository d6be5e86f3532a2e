"""Markdown: headings, paragraphs, code, tables, links, ``[[wikilinks]]`` and front matter."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token

from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import document_fragment, document_target, wikilink_fragment, wikilink_target
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading
from pipeline.text.prose import trimmed

_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_RANGE, _PAGE = "range", "html_block"
_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    _PAGE: BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
}
_LONG_HEADING = 200  # characters; chosen by hand, not measured
_NEWLINE = re.compile("\n")
_TAG = re.compile(r"<[^<>]*>")
_MARK = re.compile(r"`+|<!--|\{/\*|\n[ \t]*(?=\n)|%%")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_NO_NEWLINE = re.compile(r"[^\n]")
_INDENTED = 100  # characters before a comment that begins a line, at most; chosen by hand
_CODE = frozenset(("fence", "code_block"))
_UNSHOWN = re.compile(
    r"""^ {0,3}\[[^\]\n]*\]:[ \t]+(?:#|<#?>)[ \t]*(?:"[^\n]*"|'[^\n]*'|\([^\n]*\))[ \t]*$""", re.MULTILINE
)
"""A link definition that leads nowhere, by which people write comments: ``[//]: # (text)``."""


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Apply the library's rule for link definitions, but to no footnote: ``[^1]: https://example.org``."""
    is_note = state.src.startswith("[^", state.bMarks[start] + state.tShift[start])
    return not is_note and reference(state, start, end, silent)


_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.block.ruler.at("reference", _reference)
_PARSER.core.ruler.enableOnly(["normalize", "block"])


def links(text: str, tokens: Sequence[Token], lines: Sequence[int], references: dict[str, Any]) -> Iterator[Link]:
    """Yield the links in ``text`` to other documents, or to places in this one (with an empty target), in order.

    ``tokens`` are the text's blocks from markdown-it-py. ``lines`` holds the offsets of its lines and, last, its
    length.
    """
    cursor = 0
    for token in tokens:
        if token.type != "inline" or token.map is None or "[" not in token.content:
            continue
        row = token.map[0]
        content = _as_written(token.content, text[lines[row] : lines[row + 1]])
        inline: list[Token] = []
        _LINK_PARSER.inline.parse(content, _LINK_PARSER, references, inline)
        link_tokens = [child for child in inline if _RANGE in child.meta]
        if not link_tokens:
            continue
        starts, shifts = _alignment(text, content, lines, row, cursor)
        for child in link_tokens:
            target, fragment = _destination(child)
            if target or fragment:
                start, end = (at + shifts[bisect_right(starts, at) - 1] for at in child.meta[_RANGE])
                yield Link(target, start, end, fragment)
                cursor = end


def _destination(token: Token) -> tuple[str, str]:
    """Return the document's name or path in a link, and the fragment; both are empty for a link to the web."""
    if token.type == "wikilink":
        return wikilink_target(token.content) or "", wikilink_fragment(token.content)
    href = str(token.attrGet("href") or "")
    return document_target(href) or "", document_fragment(href)


def _as_written(content: str, line: str) -> str:
    """Return a table cell's content with the backslashes before ``|``, which the parser has removed."""
    cell = "|" in content and "\n" not in content and content not in line
    return content.replace("|", "\\|") if cell else content


def _alignment(text: str, content: str, lines: Sequence[int], row: int, cursor: int) -> tuple[list[int], list[int]]:
    """Return the offset of each line of ``content``, and the shift from there to its offset in ``text``.

    The content of a block, which begins on line ``row``, is its lines in the file without indentation and quote marks.
    """
    starts, shifts, start = [], [], 0
    for number, line in enumerate(content.split("\n"), row):
        first, last = lines[number], lines[min(number + 1, len(lines) - 1)]
        at = text.find(line, max(first, cursor), last)
        starts.append(start)
        shifts.append((first if at < 0 else at) - start)
        start += len(line) + 1
    return starts, shifts


def _positioned_link(state: StateInline, silent: bool) -> bool:
    """Apply the library's rule for links, and record the link's offsets."""
    start, tokens_before = state.pos, len(state.tokens)
    if not link(state, silent):
        return False
    if not silent:
        opening = next(token for token in state.tokens[tokens_before:] if token.type == "link_open")
        opening.meta[_RANGE] = (start, state.pos)
    return True


def _wikilink(state: StateInline, silent: bool) -> bool:
    """Parse ``[[note]]`` and ``[[note#heading|alias]]``."""
    match = _WIKILINK.match(state.src, state.pos, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content = match[1]
        token.meta[_RANGE] = match.span()
    state.pos = match.end()
    return True


_LINK_PARSER = MarkdownIt("commonmark").disable("emphasis")
_LINK_PARSER.inline.ruler.at("link", _positioned_link)
_LINK_PARSER.inline.ruler.before("link", "wikilink", _wikilink)


def structure(document: Document) -> Document:
    """Return a document of Markdown without its front matter and comments, with its blocks, links and metadata.

    The document's own title and metadata take precedence over the front matter's. Without either, the title is the
    first heading of level 1, or empty.
    """
    front = split_front_matter(document.text)
    mapping, tree = front.mapping, without_comments(parsed(front.text))
    text = tree.text
    blocks, linked = blocks_and_links(tree)
    title = scalar_title(mapping.pop("title", None))
    return replace(
        document,
        title=document.title or title or first_heading(text, blocks),
        text=text,
        blocks=blocks,
        links=tuple(link for link in linked if link.target),
        metadata={**flat(mapping), **document.metadata},
        line_offset=front.lines,
        warnings=(*document.warnings, *front.warnings),
    )


class Tree(NamedTuple):
    """Markdown without front matter, parsed: the tokens of its blocks, the offsets of its lines, link references.

    Last of the offsets is the length of the text.
    """

    text: str
    tokens: Sequence[Token]
    lines: Sequence[int]
    references: dict[str, Any]

    def spans(self, *types: str) -> list[tuple[int, int]]:
        """Return the spans of blocks of these types, in order."""
        return [
            (self.lines[token.map[0]], self.lines[token.map[1]])
            for token in self.tokens
            if token.map and token.type in types
        ]


def parsed(text: str) -> Tree:
    """Parse the blocks of Markdown without front matter."""
    references: dict[str, Any] = {}
    return Tree(text, _PARSER.parse(text, references), _lines(text), references)


def _lines(text: str) -> list[int]:
    return [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]


def blocks_and_links(tree: Tree) -> tuple[tuple[Block, ...], tuple[Link, ...]]:
    """Return the blocks and links of Markdown; links within the text have an empty target."""
    return tuple(_blocks(tree.text, tree.tokens, tree.lines)), tuple(links(*tree))


def without_comments(tree: Tree) -> Tree:
    """Return Markdown without its comments, parsed anew only where these are no blocks of their own: most are."""
    spans = comment_spans(tree)
    if not spans:
        return tree
    text = blanked(tree.text, spans, "")
    # blanking keeps the line feeds, so that each block has the same lines
    blank = tree._replace(text=text, lines=_lines(text))
    pages, rests = tree.spans(_PAGE), blank.spans(_PAGE)
    starts = [start for start, _ in pages]
    places = {bisect_right(starts, start) - 1 for start, _ in spans if _held(pages, starts, start)}
    alone = all(_held(pages, starts, start) >= end for start, end in spans)
    return blank if alone and not any(text[slice(*rests[place])].strip() for place in places) else parsed(text)


def comment_spans(tree: Tree, *, obsidian: bool = False) -> list[tuple[int, int]]:
    """Return the spans of comments in Markdown, in order: of HTML and MDX, with ``obsidian`` those of ``%%`` too."""
    text = tree.text
    is_marked = "<!--" in text or "{/*" in text or (obsidian and "%%" in text)
    spans = [match.span() for match in _UNSHOWN.finditer(text)] if "]: " in text else []
    if not spans and not is_marked:
        return []
    code = tree.spans(*_CODE)
    starts = [start for start, _ in code]
    shown = [span for span in spans if not _held(code, starts, span[0])]
    return sorted([*shown, *(_marked_comments(text, code, starts, obsidian=obsidian) if is_marked else ())])


def _held(spans: Sequence[tuple[int, int]], starts: Sequence[int], at: int) -> int:
    """Return the end of the span that holds ``at``; 0 if none does."""
    place = bisect_right(starts, at) - 1
    return spans[place][1] if place >= 0 and at < spans[place][1] else 0


def _marked_comments(
    text: str, code: Sequence[tuple[int, int]], starts: Sequence[int], *, obsidian: bool
) -> Iterator[tuple[int, int]]:
    """Yield the spans between the marks of comments, but for those in code blocks and in code within a line."""
    at, ticks, closings = 0, "", {"<!--": "-->", "{/*": "*/}", **({"%%": "%%"} if obsidian else {})}
    while match := _MARK.search(text, at):
        start, mark = match.start(), match[0]
        at = match.end()
        if end := _held(code, starts, start):
            at, ticks = end, ""
        elif mark[0] == "\n":
            ticks = ""
        elif mark[0] == "`":
            ticks = "" if mark == ticks else ticks or mark
        elif not ticks and mark in closings:
            end = text.find(closings[mark], at)
            if end < 0:
                del closings[mark]  # so that no further one is searched to the end
            elif mark != "%%" or _begins_line(text, start) or not _BLANK_LINE.search(text, at, end):
                at = end + len(closings[mark])
                yield start, at


def _begins_line(text: str, at: int) -> bool:
    first = max(0, at - _INDENTED)
    newline = text.rfind("\n", first, at)
    return (newline >= 0 or first == 0) and not text[max(newline + 1, first) : at].strip()


def blanked(text: str, spans: Iterable[tuple[int, int]], blank: str = " ") -> str:
    """Return a text with each character in ``spans`` as ``blank``, but for line feeds: lines keep their numbers."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], _NO_NEWLINE.sub(blank, text[max(at, start) : end])]
        at = max(at, end)
    return "".join([*parts, text[at:]])


def _blocks(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Block]:
    """Yield the blocks of ``text``, including list markers and heading signs."""
    for token in tokens:
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or (token.type == _PAGE and not _has_text(token.content)):
            continue
        start, end = trimmed(text, lines[token.map[0]], lines[token.map[1]])
        level = int(token.tag[1:]) if kind is BlockKind.HEADING else 0
        # a heading inside a list item or quotation heads no section; a long underlined one is prose above a rule
        if level and (token.level or (token.markup in "-=" and end - start > _LONG_HEADING)):
            kind, level = BlockKind.PARAGRAPH, 0
        if start < end:
            yield Block(kind, start, end, level)


def _has_text(html: str) -> bool:
    """Return whether ``html`` holds text besides tags and a comment."""
    comment = html.startswith("<!--") and html.rstrip().find("-->") == len(html.rstrip()) - len("-->")
    return not comment and bool(_TAG.sub("", html).strip())
