"""Check a vault: broken and ambiguous links, missing headings and blocks, orphans and duplicate titles."""

import difflib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath

from pipeline.domains.vault.links import NoteResolver, folded, without_suffix
from pipeline.domains.vault.note import Folder, Note
from pipeline.grouping import grouped
from pipeline.records import BlockKind, Skipped, Warned
from pipeline.text.outline import heading_text

_SIMILAR = 0.7
"""Similarity of names (difflib's ratio) from which one is suggested for another. Chosen by hand; not measured."""

_PUNCTUATION = re.compile(r"[\W_]+")
_NESTED = re.compile(r"[\s>*+-]*(?:\d+[.)]\s+)?(#{1,6})\s+(\S.*)")
_AT_END = re.compile(r"(?:^|\s)\^([\w-]+)\s*\Z")
_OWN_LINE = re.compile(r"^[ \t>]*\^([\w-]+)\s*$", re.MULTILINE)
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
    link from or to another note. ``skipped`` are files that couldn't be read, ``warnings`` name malformed front matter.
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
    warnings: Sequence[Warned] = ()

    def __bool__(self) -> bool:
        """Return whether anything needs mending: orphans, code and skipped files don't."""
        return any((self.broken, self.ambiguous, self.missing_headings, self.missing_blocks, self.duplicate_titles))


def check(folder: Folder, only: Collection[str] | None = None) -> Findings:
    """Report the findings in a vault; with ``only``, those in the notes with these keys, which may link to any note."""
    resolver, nearest = NoteResolver(folder.notes, folder.attachments), _nearest_name(folder.notes)
    notes = {note.key: note for note in folder.notes}
    checked = {key for key in notes if only is None or key in only}
    places = cache(lambda key: _Places(notes[key]))
    broken, ambiguous, missing, linked = [], [], [], set()
    for note in folder.notes:
        for link in note.links:
            found = resolver.resolve(link.target, note.key)
            if found.key not in ("", note.key):
                linked |= {note.key, found.key}
            if note.key not in checked:
                continue
            line = note.line_of(link.start)
            if found.is_nothing:
                broken.append(BrokenLink(note.key, line, link.target, nearest(link.target)))
            elif found.others:
                others = tuple(sorted(found.others))
                ambiguous.append(AmbiguousLink(note.key, line, link.target, found.key, others))
            if link.fragment and found.key:
                is_wikilink = note.text.startswith(("[[", "![["), link.start)
                if not places(found.key).has(link.fragment, slug=not is_wikilink):
                    missing.append(MissingPlace(note.key, line, found.key, link.fragment))
    return Findings(
        notes=len(checked),
        broken=sorted(broken),
        broken_in_code=sorted(
            BrokenLink(key, notes[key].line_of(link.start), link.target, nearest(link.target))
            for key in checked
            for link in notes[key].in_code
            if resolver.resolve(link.target, key).is_nothing
        ),
        ambiguous=sorted(ambiguous),
        missing_headings=sorted(place for place in missing if not _names_block(place.fragment)),
        missing_blocks=sorted(place for place in missing if _names_block(place.fragment)),
        orphans=sorted(checked - linked),
        duplicate_titles=sorted(duplicate for duplicate in _duplicates(folder.notes) if checked & {*duplicate.notes}),
        skipped=sorted(folder.skipped, key=lambda skipped: skipped.source),
        warnings=[
            Warned(note.key, warning) for note in folder.notes if note.key in checked for warning in note.warnings
        ],
    )


def _nearest_name(notes: Iterable[Note]) -> Callable[[str], str | None]:
    """Return a function from a target to the most similar name of a note: of its file, its title or an alias."""
    names: dict[str, str] = {}
    for note in notes:
        for name in (PurePosixPath(note.key).stem, note.title, *note.aliases):
            names.setdefault(folded(name), name)

    @cache
    def nearest(target: str) -> str | None:
        name = folded(without_suffix(target)).rsplit("/", 1)[-1]
        close = difflib.get_close_matches(name, names, n=1, cutoff=_SIMILAR)
        return names[close[0]] if close else None

    return nearest


def _duplicates(notes: Iterable[Note]) -> list[DuplicateTitle]:
    by_title = grouped((name, note.key) for note in notes for name in {*map(folded, (note.title, *note.aliases))})
    return [DuplicateTitle(title, tuple(sorted(keys))) for title, keys in by_title.items() if title and len(keys) > 1]


class _Places:
    """The headings and blocks of a note that the fragments of links name."""

    def __init__(self, note: Note) -> None:
        anchors = _EXPLICIT.finditer(note.text, note.body_start)
        self._ids = {(match[1] or match[2]).lower() for match in anchors}
        self._blocks: set[str] = set()
        self._paths: list[list[set[str]]] = []
        slugs: Counter[str] = Counter()
        above: list[tuple[int, set[str]]] = []
        for block in note.blocks:
            if block.kind is BlockKind.CODE:
                continue
            source, level = note.text[block.start : block.end], block.level
            self._blocks.update(name.casefold() for name in (*_AT_END.findall(source), *_OWN_LINE.findall(source)))
            if block.kind is not BlockKind.HEADING:
                # Logseq keeps all text in lists, headings too.
                if not (nested := _NESTED.match(source)):
                    continue
                source, level = nested[2], len(nested[1])
            source = _AT_END.sub("", source)
            text = heading_text(source)
            # GitHub numbers the anchors of headings with one text.
            slug = _NOT_IN_SLUG.sub("", text.lower()).replace(" ", "-")
            self._ids.add(f"{slug}-{slugs[slug]}" if slugs[slug] else slug)
            slugs[slug] += 1
            above = [*(outer for outer in above if outer[0] < level), (level, {_loose(text), _loose(source)})]
            self._paths.append([names for _, names in above])

    def has(self, fragment: str, *, slug: bool) -> bool:
        """Return whether a block or heading has the name ``fragment``, or the last of ``outer#inner`` below the others.

        Case, punctuation and repeated spaces make no difference. ``slug``: an anchor as GitHub makes it counts too.
        """
        if _names_block(fragment):
            return fragment.rpartition("^")[2].strip().casefold() in self._blocks
        # Obsidian writes a blank for each # of a heading, and some write it out.
        parts = [_loose(part) for part in fragment.split("#") if part.strip()]
        if slug and fragment.lower() in self._ids:
            return True
        for *outer, last in self._paths:
            above = iter(outer)
            # The headings above have the other names in their order.
            ends = parts and parts[-1] in last and all(any(part in names for names in above) for part in parts[:-1])
            if ends or _loose(fragment) in last:
                return True
        return False


def _names_block(fragment: str) -> bool:
    return fragment.rpartition("#")[2].lstrip().startswith("^")


def _loose(name: str) -> str:
    """Return a heading's name without case and punctuation; one of punctuation alone keeps it."""
    normal = unicodedata.normalize("NFC", name).casefold()
    return _PUNCTUATION.sub(" ", normal).strip() or " ".join(normal.strip("#").split())
