"""Check a vault: broken and ambiguous links, missing headings and blocks, orphans and duplicate titles."""

import difflib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from pipeline.domains.vault.links import NoteResolver, folded, without_suffix
from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.records import BlockKind, Link, Skipped
from pipeline.text.outline import heading_text

_SIMILAR = 0.7
"""Similarity of names (difflib's ratio) from which one is suggested for another. Chosen by hand; not measured."""

_PUNCTUATION = re.compile(r"[\W_]+")
_NESTED = re.compile(r"[\s>*+-]*(?:\d+[.)]\s+)?(#{1,6})\s+(\S.*)")
_AT_END = re.compile(r"(?:^|\s)\^([\w-]+)\s*\Z")
_OWN_LINE = re.compile(r"^[\s>]*\^([\w-]+)\s*$", re.MULTILINE)
_EXPLICIT = re.compile(r"""<[^<>]*\s(?:id|name)=["']([^"'<>]+)["']|\{#([\w:.-]+)[ }]""")
_NOT_IN_SLUG = re.compile(r"[^\w\- ]")


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


def check(folder: Folder, only: Collection[str] | None = None) -> Findings:
    """Report the findings in a vault; with ``only``, those in the notes with these keys, which may link to any note."""
    resolver = NoteResolver(folder.notes, folder.attachments)
    notes = {note.key: note for note in folder.notes if only is None or note.key in only}
    links = [(note, link, resolver.resolve(link.target, note.key)) for note in folder.notes for link in note.links]
    in_code = [
        (note, link, resolver.resolve(link.target, note.key)) for note in notes.values() for link in note.in_code
    ]
    nearest = _nearest_name(folder.notes)
    faults = [fault for linked in links if linked[0].key in notes for fault in _faults(*linked, nearest)]
    missing = list(_missing_places(folder, [linked for linked in links if linked[0].key in notes]))
    pairs = [{note.key, found.key} for note, _, found in links if found.key not in ("", note.key)]
    return Findings(
        notes=len(notes),
        broken=sorted(fault for fault in faults if isinstance(fault, BrokenLink)),
        broken_in_code=sorted(
            fault for linked in in_code for fault in _faults(*linked, nearest) if isinstance(fault, BrokenLink)
        ),
        ambiguous=sorted(fault for fault in faults if isinstance(fault, AmbiguousLink)),
        missing_headings=sorted(place for place in missing if not _names_block(place.fragment)),
        missing_blocks=sorted(place for place in missing if _names_block(place.fragment)),
        orphans=sorted(notes.keys() - set().union(*pairs)),
        duplicate_titles=sorted(_duplicates(folder.notes, notes)),
        skipped=sorted(folder.skipped, key=lambda skipped: skipped.source),
    )


def line_of(text: str, start: int) -> int:
    """Return the line, from 1, of a character."""
    return text.count("\n", 0, start) + 1


def _faults(
    note: Note, link: Link, found: Resolution, nearest: Callable[[str], str | None]
) -> Iterator[BrokenLink | AmbiguousLink]:
    if found.is_nothing:
        yield BrokenLink(note.key, line_of(note.text, link.start), link.target, nearest(link.target))
    elif found.others:
        others = tuple(sorted(found.others))
        yield AmbiguousLink(note.key, line_of(note.text, link.start), link.target, found.key, others)


def _nearest_name(notes: Iterable[Note]) -> Callable[[str], str | None]:
    """Return a function from a target to the most similar name of a note: of its file, its title or an alias."""
    names: dict[str, str] = {}
    for note in notes:
        for name in (PurePosixPath(note.key).stem, note.title, *note.aliases):
            names.setdefault(folded(name), name)
    choices = list(names)

    @cache
    def nearest(target: str) -> str | None:
        name = folded(without_suffix(target)).rsplit("/", 1)[-1]
        close = difflib.get_close_matches(name, choices, n=1, cutoff=_SIMILAR)
        return names[close[0]] if close else None

    return nearest


def _duplicates(notes: Iterable[Note], checked: Mapping[str, Note]) -> Iterator[DuplicateTitle]:
    by_title: dict[str, set[str]] = defaultdict(set)
    for note in notes:
        for name in (note.title, *note.aliases):
            by_title[folded(name)].add(note.key)
    for title, same in by_title.items():
        if title and len(same) > 1 and not same.isdisjoint(checked):
            yield DuplicateTitle(title, tuple(sorted(same)))


def _missing_places(folder: Folder, links: Iterable[tuple[Note, Link, Resolution]]) -> Iterator[MissingPlace]:
    notes = {note.key: note for note in folder.notes}
    places = cache(lambda key: _Places(notes[key]))
    for note, link, found in links:
        if link.fragment and found.key:
            is_wikilink = note.text.startswith(("[[", "![["), link.start)
            if not places(found.key).has(link.fragment, slug=not is_wikilink):
                yield MissingPlace(note.key, line_of(note.text, link.start), found.key, link.fragment)


class _Places:
    """The headings and blocks of a note that the fragments of links name."""

    def __init__(self, note: Note) -> None:
        headings = list(_headings(note))
        self._blocks = frozenset(_block_ids(note))
        self._ids = frozenset((*_slugs(text for _, text, _ in headings), *_explicit_ids(note)))
        self._paths: list[tuple[frozenset[str], ...]] = []
        above: list[tuple[int, frozenset[str]]] = []
        for level, _, names in headings:
            above = [*(outer for outer in above if outer[0] < level), (level, names)]
            self._paths.append(tuple(outer for _, outer in above))

    def has(self, fragment: str, *, slug: bool) -> bool:
        """Return whether a block or heading has the name ``fragment``, or the last of ``outer#inner`` below the others.

        Case, punctuation and repeated spaces make no difference. ``slug``: an anchor as GitHub makes it counts too.
        """
        if _names_block(fragment):
            return fragment.rpartition("^")[2].strip().casefold() in self._blocks
        # Obsidian writes a blank for each # of a heading, and some write it out.
        parts = [_loose(part) for part in fragment.split("#") if part.strip()]
        return (slug and fragment.lower() in self._ids) or any(
            _loose(fragment) in path[-1] or _ends(path, parts) for path in self._paths
        )


def _ends(path: Sequence[frozenset[str]], names: Sequence[str]) -> bool:
    """Return whether the last heading of a path has the last name, and those above it have the others, in order."""
    above = iter(path[:-1])
    return bool(names) and names[-1] in path[-1] and all(any(name in outer for outer in above) for name in names[:-1])


def _names_block(fragment: str) -> bool:
    return fragment.rpartition("#")[2].lstrip().startswith("^")


def _headings(note: Note) -> Iterator[tuple[int, str, frozenset[str]]]:
    """Yield the level, text and folded spellings of headings, those in lists too: Logseq keeps all text in lists."""
    for block in note.blocks:
        source, level = note.text[block.start : block.end], block.level
        if block.kind is not BlockKind.HEADING:
            match = None if block.kind is BlockKind.CODE else _NESTED.match(source)
            if match is None:
                continue
            source, level = match[2], len(match[1])
        source = _AT_END.sub("", source)
        text = heading_text(source)
        yield level, text, frozenset((_loose(text), _loose(source)))


def _loose(name: str) -> str:
    """Return a heading's name without case and punctuation; one of punctuation alone keeps it."""
    normal = unicodedata.normalize("NFC", name).casefold()
    return _PUNCTUATION.sub(" ", normal).strip() or " ".join(normal.strip("#").split())


def _slugs(headings: Iterable[str]) -> Iterator[str]:
    """Yield the anchors that GitHub gives headings; a repeated one gets a number."""
    seen: Counter[str] = Counter()
    for text in headings:
        slug = _NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-")
        yield f"{slug}-{seen[slug]}" if seen[slug] else slug
        seen[slug] += 1


def _explicit_ids(note: Note) -> Iterator[str]:
    """Yield the anchors that HTML or a heading's attributes give."""
    return ((match[1] or match[2]).lower() for match in _EXPLICIT.finditer(note.text, note.body_start))


def _block_ids(note: Note) -> Iterator[str]:
    for block in note.blocks:
        if block.kind is not BlockKind.CODE:
            source = note.text[block.start : block.end]
            yield from (name.casefold() for name in (*_AT_END.findall(source), *_OWN_LINE.findall(source)))
