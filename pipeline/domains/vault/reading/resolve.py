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
from functools import cached_property
from pathlib import PurePosixPath
from typing import Protocol

from pipeline.domains.vault.records import Note, Resolution

SUFFIXES = (".md", ".markdown")
"""Suffixes of the files that are notes."""

_SPACING = re.compile(r"[-_\s]+")


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
    return _SPACING.sub(" ", unicodedata.normalize("NFC", name).casefold()).strip()


def _without_suffix(key: str) -> str:
    return unicodedata.normalize("NFC", PurePosixPath(key).with_suffix("").as_posix().replace("___", "/"))


def _nearness(key: str, source: str) -> tuple[bool, int, str]:
    """Order notes with one name: those in the link's own folder first, then by the length of their path."""
    return posixpath.dirname(key) != posixpath.dirname(source), key.count("/"), key
