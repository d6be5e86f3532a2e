"""Resolve links to notes as Obsidian does, by path, by file name, then by title and alias; notes as documents.

Case, and spaces, dashes and underscores, make no difference where no exact name is found. Of several notes with a name
the one in the link's own folder is taken, then the one with the shortest path.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.errors import SourceError, did_you_mean
from pipeline.files.guard import composed
from pipeline.grouping import grouped
from pipeline.ingest.sources.parsers.markdown import blanked
from pipeline.records import BlockKind, Document, Metadata
from pipeline.text.names import folded as folded_name

ORIGIN = {"origin": "agent"}
"""Metadata of a note that an agent created and that is in no folder."""

SUFFIXES = (".md", ".markdown")
"""Suffixes of the files that are notes."""


class NoteResolver:
    """Resolves the links of a vault's notes. ``attachments`` are the paths of its other files."""

    def __init__(self, notes: Iterable[Note], attachments: Iterable[str] = ()) -> None:
        self._notes: Mapping[str, Note] = {note.key: note for note in notes}
        self._attachments = attachments
        self._paths = {composed(key).casefold(): key for key in sorted(self._notes, reverse=True)}

    def resolve(self, target: str, source: str) -> Resolution:
        """Return what ``target``, as written without its fragment, means in the note ``source``.

        An empty target means the note itself.
        """
        name = composed(target).replace("\\", "/").strip()
        if not name:
            return Resolution(source)
        paths = list(self._as_path(name, source))
        by_path = (path for path in paths if path in self._notes)
        if key := next(by_path, "") or next(filter(None, (self._paths.get(path.casefold()) for path in paths)), ""):
            return Resolution(key)
        folder = posixpath.dirname(source)
        by_name = self._by_name(name) if not name.startswith(".") else ()
        if notes := next(filter(None, by_name), None):
            first, *others = sorted(notes, key=lambda key: (posixpath.dirname(key) != folder, key.count("/"), key))
            return Resolution(first, tuple(others))
        wanted = name.casefold().lstrip("./")
        ends = {f"/{wanted}", wanted.rsplit("/", 1)[-1]}
        return Resolution(attachment=bool(PurePosixPath(name).suffix) and not ends.isdisjoint(self._attachment_ends))

    def _as_path(self, name: str, source: str) -> Iterator[str]:
        """Yield the keys that a name may mean as a path: from the note's folder, and from the vault's."""
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(composed(source)), name.lstrip("/")))
        absolute = posixpath.normpath(name.lstrip("/"))
        # A bare name is a note's file name anywhere; what has a folder or a suffix is a path.
        first = (relative, absolute) if name.startswith(".") or "/" not in name else (absolute, relative)
        for path in first if "/" in name or name.casefold().endswith(SUFFIXES) else ():
            yield path
            yield from (f"{path}{suffix}" for suffix in SUFFIXES)

    def _by_name(self, name: str) -> Iterator[Sequence[str]]:
        """Yield the notes with a name: exactly, then without case, then without spacing, then by title or alias."""
        for variant in (str, str.casefold, folded):
            wanted = variant(name.lstrip("/").removesuffix(".md"))
            stem = wanted.rsplit("/", 1)[-1]
            files = self._files[variant].get(stem, ())
            yield [key for key in files if f"/{variant(_name(key))}".endswith(f"/{wanted}")]
        yield self._titles.get(folded(name), ())

    @cached_property
    def _files(self) -> dict[object, dict[str, list[str]]]:
        stems = {key: _name(key).rsplit("/", 1)[-1] for key in self._notes}
        variants = (str, str.casefold, folded)
        return {variant: grouped((variant(stem), key) for key, stem in stems.items()) for variant in variants}

    @cached_property
    def _titles(self) -> dict[str, list[str]]:
        names = {key: {*map(folded, (note.title, *note.aliases))} - {""} for key, note in self._notes.items()}
        return grouped((name, key) for key, own in names.items() for name in own)

    @cached_property
    def _attachment_ends(self) -> frozenset[str]:
        paths = [composed(path).casefold() for path in self._attachments]
        return frozenset([*(f"/{path}" for path in paths), *(path.rsplit("/", 1)[-1] for path in paths)])


class VaultResolver(NoteResolver):
    """Resolves the links of the notes of a folder and of those that agents have created beside it.

    A link in the folder leads to a note of the folder, else to a created note of the same user, so that no agent can
    redirect it. A link in a created note leads to a note of its user, or to any note if it has no user.
    """

    def __init__(self, notes: Iterable[Note], attachments: Iterable[str] = ()) -> None:
        self._every = list(notes)
        super().__init__([note for note in self._every if not note.is_created], attachments)
        self._created = {note.key: note for note in self._every if note.is_created}
        self._users = {note.key: note.scope.user for note in self._every}
        self._resolvers: dict[tuple[str, bool], NoteResolver] = {}

    def resolve(self, target: str, source: str) -> Resolution:
        """Return what ``target`` means in the note ``source``; see :meth:`NoteResolver.resolve`."""
        user, is_created = self._users.get(source, ""), source in self._created
        if not is_created:
            resolution = super().resolve(target, source)
            if not resolution.is_nothing or not self._created:
                return resolution
        if (user, is_created) not in self._resolvers:
            notes = self._every if is_created else self._created.values()
            seen = [note for note in notes if note.scope.user == user or (is_created and not user)]
            self._resolvers[user, is_created] = NoteResolver(seen, self._attachments if is_created else ())
        return self._resolvers[user, is_created].resolve(target, source)


def names_of(note: Note) -> set[str]:
    """Return the folded names by which a note can be meant: its path, file name, title and aliases."""
    path = _name(note.key)
    return {folded(name) for name in (path, path.rsplit("/", 1)[-1], note.title, *note.aliases)} - {""}


def folded(name: str) -> str:
    """Return a name without case, and with single spaces for dashes, underscores and spaces."""
    return folded_name(name, spaces="-_")


def _name(key: str) -> str:
    """Return the path of a note without its suffix, with the folders of Logseq's ``a___b.md``."""
    return composed(PurePosixPath(key).with_suffix("").as_posix().replace("___", "/"))


_NOT_IN_WIKILINK = re.compile(r"[\[\]|#^\\\n]")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:.(?!\n\s*\n))+?(?<!`)\1(?!`)", re.DOTALL)


def fits_wikilink(target: str) -> bool:
    """Return whether ``[[target]]`` is a link with that target."""
    return bool(target) and target == target.strip() and not _NOT_IN_WIKILINK.search(target)


def shortest_target(note: Note, source: str, resolver: NoteResolver) -> str | None:
    """Return the shortest wikilink target that means only ``note`` in the note with the key ``source``, if any does.

    Names of files come before titles and aliases, which other programs don't resolve.
    """
    for target in (*path_ends(note.key), note.key, note.title, *note.aliases):
        if fits_wikilink(target) and resolver.resolve(target, source) == Resolution(note.key):
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


def find_note(folder: Folder, name: str) -> Note:
    """Return the note with a key, file name, title or alias.

    Raises SourceError if no note has that name, or if several have it.
    """
    resolution = NoteResolver(folder.notes).resolve(name, "")
    if resolution.others:
        keys = sorted((resolution.key, *resolution.others))
        listed = ", ".join(keys[:5]) + (f" and {len(keys) - 5} more" if len(keys) > 5 else "")
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


def documents(folder: Folder, created: Iterable[Note] = ()) -> Iterator[Document]:
    """Yield the notes of a vault as documents. A link's target is its note's key, with ``/`` before it.

    Links that lead to no note are kept as the metadata ``unresolved``. ``created`` are the notes of agents, which
    notes of the folder with the same keys replace.
    """
    keys = {note.key for note in folder.notes}
    notes = [*folder.notes, *(note for note in created if note.key not in keys)]
    resolver = VaultResolver(notes, folder.attachments)
    return (document_of(note, resolver) for note in notes)


def document_of(note: Note, resolver: NoteResolver) -> Document:
    """Return a note as a document; one without any text has its title as text.

    A note without a path is one that an agent created: its document holds its whole text.
    """
    meanings = [(link, resolver.resolve(link.target, note.key)) for link in note.links]
    links = [replace(link, target=f"/{to.key}") for link, to in meanings if to.key not in ("", note.key)]
    unresolved = dict.fromkeys(link.target for link, to in meanings if to.is_nothing)
    own: Mapping[str, object] = {
        **note.scope._asdict(),
        "description": note.description,
        "type": note.type.value,
        "tags": list(note.tags),
        "aliases": list(note.aliases),
        "created": note.created,
        "updated": note.updated,
        "unresolved": list(unresolved),
    }
    filled = {name: value for name, value in own.items() if value}
    origin = {} if note.path else ORIGIN
    metadata: Metadata = {**note.metadata, **filled, "published": note.published, **origin}  # type: ignore[dict-item]
    text = blanked(note.text, note.comments)
    has_text = bool(text[note.body_start :].strip()) or note.described[0] < note.described[1]
    document = Document(
        note.key,
        note.title,
        text if has_text else note.title,
        links=tuple(links if has_text else (replace(link, start=0, end=0) for link in links)),
        metadata=metadata,
        path=note.path,
        modified=note.modified,
        original="" if note.path else note.text,
        warnings=note.warnings,
    )
    if not has_text:
        return document
    return replace(document, blocks=note.blocks, body_start=note.body_start, summary=note.described)
