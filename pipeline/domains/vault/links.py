"""Resolve links to notes as Obsidian does: by path, by file name, then by title and alias.

Case, and spaces, dashes and underscores, make no difference where no exact name is found. Of several notes with a name
the one in the link's own folder is taken, then the one with the shortest path.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import quote

from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.errors import SourceError, did_you_mean
from pipeline.ingest.sources.link_targets import document_target, wikilink_target
from pipeline.records import BlockKind
from pipeline.text.names import folded as folded_name

SUFFIXES = (".md", ".markdown")
"""Suffixes of the files that are notes."""


class Named(Protocol):
    """A note, as read or as stored, as far as its names go."""

    @property
    def key(self) -> str:
        """Its path."""

    @property
    def title(self) -> str:
        """Its title."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """Its other titles."""


class NoteResolver:
    """Resolves the links of a vault's notes. ``attachments`` are the paths of its other files."""

    def __init__(self, notes: Iterable[Note], attachments: Iterable[str] = ()) -> None:
        self._notes: Mapping[str, Note] = {note.key: note for note in notes}
        self._attachments = attachments
        self._paths = {key.casefold(): key for key in sorted(self._notes, reverse=True)}

    def resolve(self, target: str, source: str) -> Resolution:
        """Return what ``target``, as written without its fragment, means in the note ``source``.

        An empty target means the note itself.
        """
        name = unicodedata.normalize("NFC", target).replace("\\", "/").strip()
        if not name:
            return Resolution(source)
        for path in self._as_path(name, source):
            if path in self._notes:
                return Resolution(path)
        for path in self._as_path(name, source):
            if key := self._paths.get(path.casefold()):
                return Resolution(key)
        if not name.startswith("."):
            for candidates in self._by_name(name):
                if candidates:
                    first, *others = sorted(candidates, key=lambda key: _nearness(key, source))
                    return Resolution(first, tuple(others))
        return Resolution(attachment=self._is_attachment(name))

    def _as_path(self, name: str, source: str) -> Iterator[str]:
        """Yield the keys that a name may mean as a path: from the note's folder, and from the vault's."""
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(source), name.lstrip("/")))
        absolute = posixpath.normpath(name.lstrip("/"))
        # A bare name is a note's file name anywhere; what has a folder or a suffix is a path.
        first = (relative, absolute) if name.startswith(".") or "/" not in name else (absolute, relative)
        for path in first if "/" in name or name.casefold().endswith(SUFFIXES) else ():
            yield path
            yield from (f"{path}{suffix}" for suffix in SUFFIXES)

    def _by_name(self, name: str) -> Iterator[Sequence[str]]:
        """Yield the notes with a name, the strictest reading first."""
        for variant in (str, str.casefold, folded):
            wanted = variant(name.lstrip("/").removesuffix(".md"))
            stem = wanted.rsplit("/", 1)[-1]
            files = self._files[variant].get(stem, ())
            yield [key for key in files if f"/{variant(_without_suffix(key))}".endswith(f"/{wanted}")]
        yield self._titles.get(folded(name), ())

    @cached_property
    def _files(self) -> dict[object, dict[str, list[str]]]:
        by_variant: dict[object, dict[str, list[str]]] = {}
        for variant in (str, str.casefold, folded):
            by_variant[variant] = defaultdict(list)
            for key in self._notes:
                by_variant[variant][variant(_without_suffix(key).rsplit("/", 1)[-1])].append(key)
        return by_variant

    @cached_property
    def _titles(self) -> dict[str, list[str]]:
        titles: dict[str, list[str]] = defaultdict(list)
        for note in self._notes.values():
            for name in {folded(name) for name in (note.title, *note.aliases)} - {""}:
                titles[name].append(note.key)
        return titles

    def _is_attachment(self, name: str) -> bool:
        if not PurePosixPath(name).suffix:
            return False
        wanted = name.casefold().lstrip("./")
        return f"/{wanted}" in self._attachment_ends or wanted.rsplit("/", 1)[-1] in self._attachment_ends

    @cached_property
    def _attachment_ends(self) -> frozenset[str]:
        paths = [path.casefold() for path in self._attachments]
        return frozenset([*(f"/{path}" for path in paths), *(path.rsplit("/", 1)[-1] for path in paths)])


class VaultResolver(NoteResolver):
    """Resolves the links of the notes of a folder and of those that agents have ``created`` beside it.

    A link of the folder means a note of the folder, else a created one of the same user: no agent leads it elsewhere.
    A created note's link means a note of its user; any note, if it has no user.
    """

    def __init__(self, notes: Iterable[Note], created: Iterable[Note], attachments: Iterable[str] = ()) -> None:
        notes, created = list(notes), list(created)
        super().__init__(notes, attachments)
        self._every = [*notes, *created]
        self._created = {note.key: note for note in created}
        self._users = {note.key: note.scope.user for note in self._every}
        self._seen_by: dict[str, NoteResolver] = {}
        self._created_for: dict[str, NoteResolver] = {}

    def resolve(self, target: str, source: str) -> Resolution:
        """Return what ``target`` means in the note ``source``; see :meth:`NoteResolver.resolve`."""
        user = self._users.get(source, "")
        if source in self._created:
            if user not in self._seen_by:
                seen = [note for note in self._every if user in ("", note.scope.user)]
                self._seen_by[user] = NoteResolver(seen, self._attachments)
            return self._seen_by[user].resolve(target, source)
        found = super().resolve(target, source)
        if found.key or found.attachment or not self._created:
            return found
        if user not in self._created_for:
            own = [note for note in self._created.values() if note.scope.user == user]
            self._created_for[user] = NoteResolver(own)
        return self._created_for[user].resolve(target, source)


def names_of(note: Named) -> set[str]:
    """Return the folded names by which a note can be meant: its path, file name, title and aliases."""
    path = _without_suffix(note.key)
    return {folded(name) for name in (path, path.rsplit("/", 1)[-1], note.title, *note.aliases)} - {""}


def folded(name: str) -> str:
    """Return a name without case, and with single spaces for dashes, underscores and spaces."""
    return folded_name(name, spaces="-_")


def _without_suffix(key: str) -> str:
    return unicodedata.normalize("NFC", PurePosixPath(key).with_suffix("").as_posix().replace("___", "/"))


def _nearness(key: str, source: str) -> tuple[bool, int, str]:
    """Order notes with one name: those in the link's own folder first, then by the length of their path."""
    return posixpath.dirname(key) != posixpath.dirname(source), key.count("/"), key


_BRACKETS = ("[[", "![[")
_DESTINATION = r"(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:\\[^\n]|[^\s()<>\\]|\([^\s()]*\))+))"
_INLINE = re.compile(r"\]\([ \t]*\n?[ \t]*" + _DESTINATION)
_DEFINITION = re.compile(
    r"^[ >]*\[(?!\^)[^\[\]\n]+\]:[ \t]*" + _DESTINATION + r"""(?=[ \t]*(?:["'(][^\n]*)?$)""", re.MULTILINE
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PATH_END = re.compile("[?#]")
_NOT_IN_WIKILINK = re.compile(r"[\[\]|#^\\\n]")
_DEEP = "/_" * 64
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:.(?!\n\s*\n))+?(?<!`)\1(?!`)", re.DOTALL)


class Form(Enum):
    """A way to write a target: in ``[[...]]``, in ``](...)``, or in ``](<...>)``; the last two in definitions too."""

    WIKILINK = auto()
    PLAIN = auto()
    ANGLED = auto()


@dataclass(frozen=True, slots=True)
class WrittenTarget:
    """A target at ``text[start:end]`` of a note, without fragment, alias and title.

    ``target`` is decoded; ``source`` is as written.
    """

    target: str
    source: str
    start: int
    end: int
    form: Form


def written_targets(note: Note) -> Iterator[WrittenTarget]:
    """Yield the targets in a note's wikilinks, Markdown links, images and link definitions; those in code don't count.

    Links to the web and within the note have none.
    """
    for link in note.links:
        if note.text.startswith(_BRACKETS, link.start):
            begin = note.text.index("[[", link.start) + 2
            inside = note.text[begin : link.end - 2]
            if name := wikilink_target(inside):
                start = begin + len(inside) - len(inside.lstrip())
                yield WrittenTarget(name, name, start, start + len(name), Form.WIKILINK)
    code = list(code_spans(note))
    for pattern in (_INLINE, _DEFINITION):
        for match in pattern.finditer(note.text, note.body_start):
            form = Form.PLAIN if match["angled"] is None else Form.ANGLED
            group = "plain" if form is Form.PLAIN else "angled"
            source, start = _PATH_END.split(match[group], maxsplit=1)[0], match.start(group)
            target = document_target(_ESCAPED.sub(r"\1", source))
            if target and not any(begin <= start < end for begin, end in code):
                yield WrittenTarget(target, source, start, start + len(source), form)


def spelled(target: str, like: WrittenTarget) -> str:
    """Return a target as a link of that form writes it; paths are percent-encoded as far as the form needs it.

    Letters beyond ASCII are encoded only if ``like`` encodes them.
    """
    if like.form is Form.WIKILINK:
        return target
    safe = "/!$&'*+,;=:@~" + (" ()" if like.form is Form.ANGLED and "%" not in like.source else "")
    if like.source.isascii() and not like.target.isascii():
        return quote(target, safe=safe)
    return "".join(char if ord(char) > 127 and char.isprintable() else quote(char, safe=safe) for char in target)


def fits_wikilink(target: str) -> bool:
    """Return whether ``[[target]]`` is a link with that target."""
    return bool(target) and target == target.strip() and not _NOT_IN_WIKILINK.search(target)


def shortest_target(note: Note, source: str, resolver: NoteResolver) -> str | None:
    """Return the shortest wikilink target that means only ``note`` in the note with the key ``source``, if any does.

    Names of files come before titles and aliases, which other programs don't resolve.
    """
    names = (*path_ends(note.key), note.key, note.title, *note.aliases)
    for target in names:
        resolution = resolver.resolve(target, source)
        if fits_wikilink(target) and resolution.key == note.key and not resolution.others:
            return target
    return None


def path_ends(key: str) -> list[str]:
    """Return the ends of a note's path without suffix, shortest first, and last the whole path with ``/`` before it.

    Logseq's ``a___b.md`` is ``a/b``.
    """
    path = without_suffix(key).replace("___", "/")
    parts = path.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts) - 1, -1, -1)] + [f"/{path}"]


def without_suffix(path: str) -> str:
    """Return a path without the suffix of a note, if it has one."""
    return path[: len(path) - len(note_suffix(path))]


def note_suffix(path: str) -> str:
    """Return the suffix of a note in a path as written, empty if it has none."""
    suffix = next((suffix for suffix in SUFFIXES if path.casefold().endswith(suffix)), "")
    return path[len(path) - len(suffix) :]


def joined(folder: str, target: str) -> str:
    """Return the path in the vault of a target relative to a folder of it."""
    return posixpath.normpath(posixpath.join(folder, target))


def relative(path: str, folder: str) -> str:
    """Return a path of the vault, or above it, relative to a folder of the vault."""
    return posixpath.relpath(posixpath.join(_DEEP, path), posixpath.join(_DEEP, folder))


_MOST_LISTED = 5


def find_note(folder: Folder, name: str) -> Note:
    """Return the note with a key, file name, title or alias.

    Raises SourceError if no note has that name, or if several have it.
    """
    resolution = NoteResolver(folder.notes).resolve(name, "")
    if resolution.others:
        keys = sorted((resolution.key, *resolution.others))
        more = f" and {len(keys) - _MOST_LISTED} more" if len(keys) > _MOST_LISTED else ""
        listed = ", ".join(keys[:_MOST_LISTED]) + more
        raise SourceError(f"{name!r} names {len(keys)} notes.", f"Give the path of one of them: {listed}.")
    by_key = {note.key: note for note in folder.notes}
    if resolution.key in by_key:
        return by_key[resolution.key]
    known = {known for note in folder.notes for known in (PurePosixPath(note.key).stem, note.title, *note.aliases)}
    fix = did_you_mean(name, sorted(known), "Give its path in the vault, its file name, its title or an alias.")
    raise SourceError(f"No note in {folder.root} is named {name!r}.", fix)


def code_spans(note: Note) -> Iterator[tuple[int, int]]:
    """Yield the spans of code, in blocks and within lines, in order of each kind."""
    for block in note.blocks:
        if block.kind is BlockKind.CODE:
            yield block.start, block.end
        else:
            for match in _CODE.finditer(note.text, block.start, block.end):
                yield match.span()
