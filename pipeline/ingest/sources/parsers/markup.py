"""Org, AsciiDoc and LaTeX by one table: headings, code, tables and links; comments and preambles are left out.

The text stays as it is written, line for line, but for headings, macros of LaTeX and attributes of AsciiDoc, which
stand for what they show. Nothing is run or included.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace

from pipeline.ingest.sources.front_matter import split_front_matter
from pipeline.ingest.sources.link_targets import document_target
from pipeline.ingest.sources.metadata import flat, scalar_title
from pipeline.ingest.sources.parsers.markup_table import MARKUPS, Markup
from pipeline.records import Block, BlockKind, Document, Link
from pipeline.text.outline import first_heading, paragraphs
from pipeline.text.prose import trimmed

_METADATA = frozenset(
    "author date description email filetags keywords lang language revdate revision revnumber subtitle version".split()
)
_LONGEST_VALUE, _MOST_WARNINGS = 200, 20
"""Characters of a macro or attribute that stands for its text, so that no text grows without bounds, and includes of a
file that are named. Chosen by hand; not measured."""

_WRITTEN = frozenset(("words", "code", "table", "kept", "text"))
_KINDS = _WRITTEN | {"included", "begins", "name", "define", "target", "accent", "note", "attribute", "macro"}
"""What groups are named by: those whose text is written in its place, and all."""


def structure(name: str, document: Document) -> Document:
    """Return a document of the markup ``name`` with its blocks and links, what it says of itself as metadata.

    Attributes and macros without arguments stand for their values. Files that it includes are named in the warnings.
    """
    return _Reader(MARKUPS[name]).read(_without_front_matter(document))


def _without_front_matter(document: Document) -> Document:
    """Return a document without the front matter that site generators read above any markup, with its values."""
    front = split_front_matter(document.text)
    title = scalar_title(front.mapping.pop("title", None))
    return replace(
        document,
        title=document.title or title,
        text=front.text,
        metadata={**flat(front.mapping), **document.metadata},
        line_offset=front.lines,
        warnings=(*document.warnings, *front.warnings),
    )


class _Reader:
    """Writes a text part by part, by what the groups of a markup's patterns say of it."""

    def __init__(self, markup: Markup) -> None:
        self._markup = markup
        self._values = dict(markup.values)
        self._title = ""
        self._metadata: dict[str, object] = {}
        self._included: dict[str, None] = {}
        self._begin()

    def _begin(self) -> None:
        self._pieces: list[str] = []
        self._offset = 0
        self._blocks: list[Block] = []
        self._links: list[Link] = []

    def read(self, document: Document) -> Document:
        at = 0
        for match in self._matches(document.text):
            self._prose(document.text[at : match.start()])
            self._block(match)
            at = match.end()
        self._prose(document.text[at:])
        text = "".join(self._pieces)
        blocks = tuple(self._with_paragraphs(text))
        included = (f"includes {name}, which isn't read" for name in list(self._included)[:_MOST_WARNINGS])
        return replace(
            document,
            title=document.title or self._title or first_heading(text, blocks),
            text=text,
            blocks=blocks,
            links=tuple(self._links),
            metadata={**flat(self._metadata), **document.metadata},
            warnings=(*document.warnings, *included),
        )

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of ``blocks``; a line that is no title, for what underlines it is longer, goes on."""
        at = 0
        while match := self._markup.blocks.search(text, at):
            under = match.groupdict().get("under")
            if under and abs(len(match["words_under"].rstrip()) - len(under)) > 1:
                at = match.end("words_under")
                continue
            yield match
            at = max(match.end(), at + 1)

    def _block(self, match: re.Match[str]) -> None:
        """Take a match of ``blocks``; the line ends around what is written of it stay."""
        group, value = _first_group(match)
        kind = group.partition("_")[0]
        start, end = match.span(group) if kind in _WRITTEN else (match.end(), match.end())
        self._write("\n" * match.string.count("\n", match.start(), start))
        if kind in _WRITTEN:
            self._content(match, kind, value)
        elif kind == "included":
            self._included[value] = None
        elif kind == "begins":
            self._leave_out_preamble()
        elif kind in ("name", "define"):
            self._note(kind, value, " ".join(_given(match, "value").replace("\\\n", " ").split()))
        self._write("\n" * match.string.count("\n", end, match.end()))

    def _content(self, match: re.Match[str], kind: str, value: str) -> None:
        """Write the text of a match, which may be a heading, code or a table."""
        at = self._offset
        (self._write if kind in ("code", "kept") else self._prose)(value)
        if kind == "words":
            mark = _given(match, "mark")
            level = self._markup.levels.get(mark, min(len(mark), 6))
            self._blocks.append(Block(BlockKind.HEADING, at, self._offset, level))
        elif kind in ("code", "table"):
            self._blocks.append(Block(BlockKind(kind), at, self._offset))

    def _leave_out_preamble(self) -> None:
        lines = "".join(self._pieces).count("\n")
        self._begin()
        self._write("\n" * lines)

    def _note(self, kind: str, name: str, value: str) -> None:
        """Note what a document says of itself, and what an attribute or macro stands for."""
        words = " ".join("".join(words for words, _ in self._shown(value)).split()).replace(" ,", ",")
        if kind == "define":
            self._values |= {name: words} if len(words) <= _LONGEST_VALUE else {}
        elif name.lower() == "title":
            self._title = f"{self._title} {words}".strip()
        if words and name.lower() in _METADATA:
            self._metadata[name.lower()] = words.strip(":").split(":") if name.lower() == "filetags" else words

    def _prose(self, text: str) -> None:
        for words, target in self._shown(text):
            if words and target:
                self._links.append(Link(target, self._offset, self._offset + len(words)))
            self._write(words)

    def _shown(self, text: str) -> Iterator[tuple[str, str]]:
        """Yield (what a part of prose shows, the document that it links to)."""
        at = 0
        for match in self._markup.inline.finditer(text):
            yield text[at : match.start()], ""
            yield self._inline(match)
            at = match.end()
        yield text[at:], ""

    def _inline(self, match: re.Match[str]) -> tuple[str, str]:
        group, value = _first_group(match)
        match group.partition("_")[0]:
            case "target":
                bare = value.removeprefix("file:").removeprefix("./").partition("::")[0]
                is_place = bare.startswith(("*", "#", "id:")) or ("." not in bare and not value.startswith("file:"))
                return match["words"] or bare, "" if is_place else document_target(bare) or ""
            case "accent":
                letter = match["letter"].lstrip("\\")
                return unicodedata.normalize("NFC", letter + self._markup.accents[value]), ""
            case "note":
                return f" ({''.join(words for words, _ in self._shown(value))})", ""
            case "attribute":
                return self._values.get(value, match[0]), ""
            case "macro":
                return self._values.get(value, ""), ""
        return value or "\n" * match[0].count("\n"), ""

    def _write(self, words: str) -> None:
        self._pieces.append(words)
        self._offset += len(words)

    def _with_paragraphs(self, text: str) -> Iterator[Block]:
        at = 0
        for block in self._blocks:
            start, end = trimmed(text, block.start, block.end)
            if start < end:
                yield from paragraphs(text, at, start)
                yield replace(block, start=start, end=end)
                at = end
        yield from paragraphs(text, at)


def _first_group(match: re.Match[str]) -> tuple[str, str]:
    """Return the name of the first group that says what becomes of a match, and its text; empty if there is none."""
    groups = match.groupdict().items()
    return next(
        ((name, text) for name, text in groups if text is not None and name.partition("_")[0] in _KINDS), ("", "")
    )


def _given(match: re.Match[str], group: str) -> str:
    """Return the text of the first group of a name, such as ``mark`` and ``mark_title``, that has some."""
    return next((text for name, text in match.groupdict().items() if text and name.partition("_")[0] == group), "")
