"""Markdown: headings, paragraphs, code, tables, links, ``[[wikilinks]]`` and front matter."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.files import decode
from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.markdown_links import links
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.source import Source
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading
from pipeline.text.paragraphs import trimmed

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "paragraph_open": BlockKind.PARAGRAPH,
    "html_block": BlockKind.PARAGRAPH,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
    "table_open": BlockKind.TABLE,
}
_LONG_HEADING = 200
_NEWLINE = re.compile("\n")
_TAG = re.compile(r"<[^<>]*>")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


_PARSER = _parser()


def parse(source: Source) -> Document:
    """Return a Markdown file as a document with the file's own text, without its front matter.

    The title comes from the front matter, else from the first heading of level 1, else from the file's stem. Raises
    Unreadable.
    """
    document = structure(Document(source.key, "", decode(source.data), path=source.path))
    return replace(document, title=document.title or source.stem)


def structure(document: Document) -> Document:
    """Return a document of Markdown without its front matter, with its blocks, links and metadata.

    The document's own title and metadata take precedence over the front matter's; the title may stay empty. Raises
    Unreadable.
    """
    mapping, text, line_offset = split_front_matter(document.text)
    blocks, linked = blocks_and_links(text)
    title = scalar_title(mapping.pop("title", None))
    return replace(
        document,
        title=document.title or title or first_heading(text, blocks),
        text=text,
        blocks=blocks,
        links=tuple(link for link in linked if link.target),
        metadata={**flat(mapping), **document.metadata},
        line_offset=line_offset,
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
