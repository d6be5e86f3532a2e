"""Markdown: headings, paragraphs, code, tables, links, ``[[wikilinks]]`` and front matter."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline, link
from markdown_it.token import Token

from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import document_fragment, document_target, wikilink_fragment, wikilink_target
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading
from pipeline.text.prose import trimmed

_WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_RANGE = "range"
_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
}
_LONG_HEADING = 200  # characters; chosen by hand, not measured
_NEWLINE = re.compile("\n")
_TAG = re.compile(r"<[^<>]*>")
_PARSER = MarkdownIt("commonmark").enable("table")
_PARSER.core.ruler.enableOnly(["normalize", "block"])


def links(text: str, tokens: Sequence[Token], lines: Sequence[int], env: dict[str, Any]) -> Iterator[Link]:
    """Yield the links in ``text`` to other documents, or to places in this one (with an empty target), in order.

    ``tokens`` are the text's blocks from markdown-it-py. ``lines`` holds the offsets of its lines and, last, its
    length. ``env`` holds its link references.
    """
    cursor = 0
    for token in tokens:
        if token.type != "inline" or token.map is None or "[" not in token.content:
            continue
        row = token.map[0]
        content = _as_written(token.content, text[lines[row] : lines[row + 1]])
        inline: list[Token] = []
        _LINK_PARSER.inline.parse(content, _LINK_PARSER, env, inline)
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
    """Return a document of Markdown without its front matter, with its blocks, links and metadata.

    The document's own title and metadata take precedence over the front matter's. Without either, the title is the
    first heading of level 1, or empty.
    """
    front = split_front_matter(document.text)
    mapping, text = front.mapping, front.text
    blocks, linked = blocks_and_links(text)
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


def blocks_and_links(text: str) -> tuple[tuple[Block, ...], tuple[Link, ...]]:
    """Return the blocks and links of Markdown without front matter; links within the text have an empty target."""
    env: dict[str, Any] = {}
    tokens = _PARSER.parse(text, env)
    lines = [0, *(match.end() for match in _NEWLINE.finditer(text)), len(text)]
    return tuple(_blocks(text, tokens, lines)), tuple(links(text, tokens, lines, env))


def _blocks(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Block]:
    """Yield the blocks of ``text``, including list markers and heading signs."""
    for token in tokens:
        kind = _KINDS.get(token.type)
        if kind is None or token.map is None or (token.type == "html_block" and not _has_text(token.content)):
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
