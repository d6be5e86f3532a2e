"""Find the headings and blocks of a note that the fragments of links name."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.domains.vault.records import Note
from pipeline.records import BlockKind
from pipeline.text.outline import heading_text

_PUNCTUATION = re.compile(r"[\W_]+")
_NESTED = re.compile(r"[\s>*+-]*(?:\d+[.)]\s+)?(#{1,6})\s+(\S.*)")
_AT_END = re.compile(r"(?:^|\s)\^([\w-]+)\s*\Z")
_OWN_LINE = re.compile(r"^[\s>]*\^([\w-]+)\s*$", re.MULTILINE)
_EXPLICIT = re.compile(r"""<[^<>]*\s(?:id|name)=["']([^"'<>]+)["']|\{#([\w:.-]+)[ }]""")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading: its level, its text, and the folded spellings by which links name it."""

    level: int
    text: str
    names: frozenset[str]


class Anchors:
    """The headings, in order, and the blocks of a note that links can name."""

    def __init__(self, note: Note) -> None:
        self._headings = list(_headings(note))
        self._blocks = frozenset(_block_ids(note))
        self._ids = frozenset((*_slugs(self._headings), *_explicit_ids(note)))

    def has_block(self, fragment: str) -> bool:
        """Return whether a block has the identifier in ``heading#^block`` or ``^block``."""
        return fragment.rpartition("^")[2].strip().casefold() in self._blocks

    def has_heading(self, fragment: str, *, slug: bool = False) -> bool:
        """Return whether a heading has the name ``fragment``, or the last of ``outer#inner`` below the others.

        Case, punctuation and repeated spaces make no difference. ``slug``: an anchor as GitHub makes it counts too.
        """
        if slug and fragment.lower() in self._ids:
            return True
        # Obsidian writes a blank for each # of a heading, and some write it out.
        if any(_loose(fragment) in heading.names for heading in self._headings):
            return True
        return self._is_path([_loose(part) for part in fragment.split("#") if part.strip()])

    def _is_path(self, names: Sequence[str]) -> bool:
        """Return whether headings with these names are nested in each other."""
        spans = [(0, len(self._headings))]
        for name in names:
            spans = [
                (at + 1, self._end_of_section(at))
                for at in sorted({at for start, end in spans for at in range(start, end)})
                if name in self._headings[at].names
            ]
        return bool(names) and bool(spans)

    def _end_of_section(self, at: int) -> int:
        level = self._headings[at].level
        after = range(at + 1, len(self._headings))
        return next((index for index in after if self._headings[index].level <= level), len(self._headings))


def names_block(fragment: str) -> bool:
    """Return whether a fragment names a block, not a heading."""
    return fragment.rpartition("#")[2].lstrip().startswith("^")


def _headings(note: Note) -> Iterator[_Heading]:
    """Yield the headings of a note, with those in lists and quotations: Logseq keeps all text in lists."""
    for block in note.blocks:
        source, level = note.text[block.start : block.end], block.level
        if block.kind is not BlockKind.HEADING:
            match = None if block.kind is BlockKind.CODE else _NESTED.match(source)
            if match is None:
                continue
            source, level = match[2], len(match[1])
        source = _AT_END.sub("", source)
        text = heading_text(source)
        yield _Heading(level, text, frozenset((_loose(text), _loose(source))))


def _loose(name: str) -> str:
    """Return a heading's name without case and punctuation; one of punctuation alone keeps it."""
    normal = unicodedata.normalize("NFC", name).casefold()
    return _PUNCTUATION.sub(" ", normal).strip() or " ".join(normal.strip("#").split())


def _slugs(headings: Sequence[_Heading]) -> Iterator[str]:
    """Yield the anchors that GitHub gives headings; a repeated one gets a number."""
    seen: Counter[str] = Counter()
    for heading in headings:
        slug = _NOT_IN_SLUG.sub("", heading.text.lower()).replace(" ", "-")
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1


def _explicit_ids(note: Note) -> Iterator[str]:
    """Yield the anchors that HTML or a heading's attributes give."""
    return ((match[1] or match[2]).lower() for match in _EXPLICIT.finditer(note.text, note.body_start))


def _block_ids(note: Note) -> Iterator[str]:
    for block in note.blocks:
        if block.kind is not BlockKind.CODE:
            source = note.text[block.start : block.end]
            ids = [*_AT_END.findall(source), *_OWN_LINE.findall(source)]
            yield from (block_id.casefold() for block_id in ids)
