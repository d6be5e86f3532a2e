"""Check a vault: broken and ambiguous links, missing headings and blocks, orphans and duplicate titles."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.domains.vault.links import SUFFIXES, NoteResolver, folded
from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.records import BlockKind, Link, Skipped
from pipeline.text.outline import heading_text


@dataclass(frozen=True, slots=True, order=True)
class BrokenLink:
    """A link that leads to no file; ``nearest`` is the most similar name of a note, if any is similar.

    Lines count from 1 in the file.
    """

    note: str
    line: int
    target: str
    nearest: str | None


@dataclass(frozen=True, slots=True, order=True)
class AmbiguousLink:
    """A link that several notes fit: the key of the ``chosen`` one, and those of the others."""

    note: str
    line: int
    target: str
    chosen: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, order=True)
class MissingPlace:
    """A link to a heading or block that the note ``target``, given by key, doesn't have."""

    note: str
    line: int
    target: str
    fragment: str


@dataclass(frozen=True, slots=True, order=True)
class DuplicateTitle:
    """A title or alias that several notes have, without case and with single spaces, and their keys."""

    title: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a check; each list is sorted, and empty if there is nothing to report.

    ``broken_in_code`` are wikilinks that code shows, which link nothing. ``orphans`` are the keys of notes without a
    link from or to another note. ``skipped`` are files that couldn't be read.
    """

    notes: int
    broken: Sequence[BrokenLink]
    broken_in_code: Sequence[BrokenLink]
    ambiguous: Sequence[AmbiguousLink]
    missing_headings: Sequence[MissingPlace]
    missing_blocks: Sequence[MissingPlace]
    orphans: Sequence[str]
    duplicate_titles: Sequence[DuplicateTitle]
    skipped: Sequence[Skipped]

    def __bool__(self) -> bool:
        """Return whether anything needs mending: orphans, code and skipped files don't."""
        return any(
            (self.broken, self.ambiguous, self.missing_headings, self.missing_blocks, self.duplicate_titles),
        )


class _Resolved(NamedTuple):
    """A link of a note, and what it means."""

    note: Note
    link: Link
    resolution: Resolution


def check(folder: Folder, only: Collection[str] | None = None) -> Findings:
    """Report the findings in a vault; with ``only``, those in the notes with these keys, which may link to any note."""
    resolver = NoteResolver(folder.notes, folder.attachments)
    checked = [note for note in folder.notes if only is None or note.key in only]
    keys = {note.key for note in checked}
    every = [_resolve(note, link, resolver) for note in folder.notes for link in note.links]
    links = [resolved for resolved in every if resolved.note.key in keys]
    in_code = [_resolve(note, link, resolver) for note in checked for link in note.in_code]
    names = _names(folder.notes)
    headings, blocks = _missing_places(links, {note.key: note for note in folder.notes})
    return Findings(
        notes=len(checked),
        broken=sorted(_broken(links, names)),
        broken_in_code=sorted(_broken(in_code, names)),
        ambiguous=sorted(_ambiguous(links)),
        missing_headings=sorted(headings),
        missing_blocks=sorted(blocks),
        orphans=sorted(keys - _linked(every)),
        duplicate_titles=sorted(_duplicates(folder.notes, keys)),
        skipped=sorted(folder.skipped, key=lambda skipped: skipped.source),
    )


def line_of(text: str, start: int) -> int:
    """Return the line, from 1, of a character."""
    return text.count("\n", 0, start) + 1


def _resolve(note: Note, link: Link, resolver: NoteResolver) -> _Resolved:
    return _Resolved(note, link, resolver.resolve(link.target, note.key))


def _broken(links: Iterable[_Resolved], names: Mapping[str, str]) -> Iterator[BrokenLink]:
    folded_names = list(names)

    @cache
    def nearest(name: str) -> str | None:
        close = difflib.get_close_matches(name, folded_names, n=1, cutoff=0.7)
        return names[close[0]] if close else None

    for note, link, resolution in links:
        if not resolution.key and not resolution.attachment:
            name = folded(_without_suffix(link.target))
            yield BrokenLink(note.key, line_of(note.text, link.start), link.target, nearest(name.rsplit("/", 1)[-1]))


def _names(notes: Iterable[Note]) -> dict[str, str]:
    """Return the names of all notes as written by their folded forms: of files, titles and aliases."""
    names: dict[str, str] = {}
    for note in notes:
        for name in (PurePosixPath(note.key).stem, note.title, *note.aliases):
            names.setdefault(folded(name), name)
    return names


def _without_suffix(target: str) -> str:
    suffix = next((suffix for suffix in SUFFIXES if target.casefold().endswith(suffix)), "")
    return target[: len(target) - len(suffix)]


def _ambiguous(links: Iterable[_Resolved]) -> Iterator[AmbiguousLink]:
    for note, link, resolution in links:
        if resolution.others:
            others = tuple(sorted(resolution.others))
            yield AmbiguousLink(note.key, line_of(note.text, link.start), link.target, resolution.key, others)


def _missing_places(
    links: Iterable[_Resolved], notes: Mapping[str, Note]
) -> tuple[list[MissingPlace], list[MissingPlace]]:
    """Return the links to missing headings, and those to missing blocks."""
    headings: list[MissingPlace] = []
    blocks: list[MissingPlace] = []
    anchors: dict[str, Anchors] = {}
    for note, link, resolution in links:
        if not link.fragment or not resolution.key:
            continue
        if resolution.key not in anchors:
            anchors[resolution.key] = Anchors(notes[resolution.key])
        there, missing = anchors[resolution.key], headings
        if names_block(link.fragment):
            present, missing = there.has_block(link.fragment), blocks
        else:
            is_wikilink = note.text.startswith(("[[", "![["), link.start)
            present = there.has_heading(link.fragment, slug=not is_wikilink)
        if not present:
            line = line_of(note.text, link.start)
            missing.append(MissingPlace(note.key, line, resolution.key, link.fragment))
    return headings, blocks


def _linked(links: Iterable[_Resolved]) -> set[str]:
    """Return the keys of the notes at the ends of links between two notes."""
    pairs = ((note.key, resolution.key) for note, _, resolution in links)
    return {key for source, target in pairs if target and source != target for key in (source, target)}


def _duplicates(notes: Iterable[Note], keys: Collection[str]) -> Iterator[DuplicateTitle]:
    by_title: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for name in (note.title, *note.aliases):
            by_title[folded(name)].add(note.key)
    for title, same in by_title.items():
        if title and len(same) > 1 and not same.isdisjoint(keys):
            yield DuplicateTitle(title, tuple(sorted(same)))


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
