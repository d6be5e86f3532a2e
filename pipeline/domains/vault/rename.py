"""Rename or move a note, and rewrite the links to it and in it, so that all lead to the same notes as before."""

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from pipeline.domains.vault.edits import Conflict, Edit, Unwritable, edited, find_conflicts, move, write_edits
from pipeline.domains.vault.links import (
    NoteResolver,
    code_spans,
    find_note,
    fits_wikilink,
    note_suffix,
    path_ends,
    without_suffix,
)
from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.domains.vault.sources import reread
from pipeline.errors import SourceError
from pipeline.grouping import grouped
from pipeline.ingest.sources.front_matter import is_well_formed
from pipeline.ingest.sources.link_targets import document_target, wikilink_target
from pipeline.records import Skipped

_UNFIT = re.compile(r"[\[\]#^|\x00-\x1f]")
_DESTINATION = r"(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:\\[^\n]|[^\s()<>\\]|\([^\s()]*\))+))"
_INLINE = re.compile(r"\]\([ \t]*\n?[ \t]*" + _DESTINATION)
_DEFINITION = re.compile(
    r"^[ >]*\[(?!\^)[^\[\]\n]+\]:[ \t]*" + _DESTINATION + r"""(?=[ \t]*(?:["'(][^\n]*)?$)""", re.MULTILINE
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_PATH_END = re.compile("[?#]")
_DEEP = "/_" * 64  # a folder so deep that no relative path leads above the root


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A link whose target ``before`` at ``[start:end]`` becomes ``after``, in the note with the key before the move."""

    note: str
    line: int
    start: int
    end: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Left:
    """A link that will lead elsewhere, since no target that it could have leads to its note."""

    note: str
    line: int
    target: str


@dataclass(frozen=True, slots=True)
class Rename:
    """A plan: the note ``old`` gets the key ``new``, and links are rewritten.

    ``left`` are links to mend by hand. ``skipped`` are files that couldn't be read, whose links stay as they are.
    """

    old: str
    new: str
    rewrites: tuple[Rewrite, ...]
    left: tuple[Left, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Renamed:
    """The outcome of a rename: whether the file moved, the keys of the notes whose links were changed, conflicts."""

    moved: bool
    changed: tuple[str, ...]
    conflicts: tuple[Conflict, ...]


def plan_rename(folder: Folder, old: str, new: str) -> Rename:
    """Return how a note, given by key, file name, title or alias, becomes ``new``; nothing is written.

    ``new`` is a file name in the same folder, or a path in the vault: ``/name`` at its top, ``folder/`` for the same
    name in a folder. The suffix can be left out. Links keep their style, alias and fragment. Raises SourceError if no
    note or several are named ``old``, and if ``new`` exists, lies outside of the vault, or can't be linked.
    """
    note = find_note(folder, old)
    key = _new_key(folder, note, new)
    relinker = _Relinker(folder, note, reread(replace(note, key=key), note.text))
    rewrites: list[Rewrite] = []
    left: list[Left] = []
    for before in folder.notes:
        edits = relinker.safe_edits(before)
        for edit in edits:
            target, line = before.text[edit.start : edit.end], before.line_of(edit.start)
            rewrites.append(Rewrite(before.key, line, edit.start, edit.end, target, edit.text))
        left += relinker.left(before, edits)
    return Rename(note.key, key, tuple(rewrites), tuple(left), folder.skipped)


def apply(folder: Folder, rename: Rename) -> Renamed:
    """Carry out a plan that was made for this ``folder``.

    If one of the notes has changed since, nothing is written. A note that changes or can't be written while the others
    are written is a conflict, and its links are as before.
    """
    edits = grouped((link.note, Edit(link.start, link.end, link.after)) for link in rename.rewrites)
    if conflicts := find_conflicts(folder, {rename.old, *edits}):
        return Renamed(False, (), tuple(conflicts))
    notes = {note.key: note for note in folder.notes}
    note = notes[rename.old]
    try:
        move(folder, note, rename.new)
    except Unwritable as error:
        return Renamed(False, (), (Conflict(note.key, error.message),))
    notes[note.key] = replace(note, key=rename.new, path=(Path(folder.root) / rename.new).as_posix())
    if rename.old in edits:
        edits[rename.new] = edits.pop(rename.old)
    written = write_edits(replace(folder, notes=tuple(notes.values())), edits)
    return Renamed(True, written.changed, written.conflicts)


def _new_key(folder: Folder, note: Note, new: str) -> str:
    path = new.strip().replace("\\", "/")
    if path.endswith("/"):
        path += posixpath.basename(note.key)
    elif "/" not in path:
        path = posixpath.join(posixpath.dirname(note.key), path)
    key = posixpath.normpath(path.lstrip("/"))
    key += "" if note_suffix(key) else note_suffix(note.key)
    parts, place = key.split("/"), Path(folder.root) / key
    if ".." in parts:
        raise SourceError(f"{new} lies outside of the vault.", "Give a path in it.")
    if any(part.startswith(".") or part != part.strip() for part in parts) or key.endswith(("/.md", "/.markdown")):
        raise SourceError(f"{new!r} is no name of a note.", "Notes and their folders begin with no dot and no blank.")
    if _UNFIT.search(key):
        raise SourceError(f"{new!r} has a character that no link can have.", "Leave out [ ] # ^ | and line ends.")
    if not place.parent.resolve().is_relative_to(Path(folder.root).resolve()):
        raise SourceError(f"{new} lies outside of the vault.", f"Give a path below {folder.root}.")
    if Path(note.path).is_symlink():
        raise SourceError(f"{note.key} is a symbolic link.", "Rename it by hand, or the file that it leads to.")
    if key == note.key:
        raise SourceError(f"{note.key} has that name already.", "Give another name.")
    is_other_case = key.casefold() == note.key.casefold() and place.exists() and place.samefile(note.path)
    if os.path.lexists(place) and not is_other_case:
        raise SourceError(f"{key} exists already.", "Give another name, or move that file first.")
    return key


@dataclass(frozen=True, slots=True)
class _Written:
    """A target in the note ``note``, without fragment, alias and title: decoded, and as ``source`` at ``start``.

    It stands in ``[[...]]``, else in ``](...)`` or, ``angled``, in ``](<...>)``; the last two in definitions too.
    """

    note: str
    target: str
    source: str
    start: int
    is_wikilink: bool = False
    angled: bool = False

    def spelled(self, target: str) -> str:
        """Return another target as this link writes it: paths are percent-encoded as far as its form needs it.

        Letters beyond ASCII are encoded only if this link encodes them.
        """
        if self.is_wikilink:
            return target
        safe = "/!$&'*+,;=:@~" + (" ()" if self.angled and "%" not in self.source else "")
        if self.source.isascii() and not self.target.isascii():
            return quote(target, safe=safe)
        return "".join(char if ord(char) > 127 and char.isprintable() else quote(char, safe=safe) for char in target)


def _written_targets(note: Note) -> Iterator[_Written]:
    """Yield the targets in wikilinks, Markdown links, images and link definitions, but for code, the web and itself."""
    for link in note.links:
        if note.text.startswith(("[[", "![["), link.start):
            begin = note.text.index("[[", link.start) + 2
            inside = note.text[begin : link.end - 2]
            if name := wikilink_target(inside):
                yield _Written(note.key, name, name, begin + len(inside) - len(inside.lstrip()), is_wikilink=True)
    code = list(code_spans(note))
    for pattern in (_INLINE, _DEFINITION):
        for match in pattern.finditer(note.text, note.body_start):
            group = "plain" if match["angled"] is None else "angled"
            source, start = _PATH_END.split(match[group], maxsplit=1)[0], match.start(group)
            target = document_target(_ESCAPED.sub(r"\1", source))
            if target and not any(begin <= start < end for begin, end in code):
                yield _Written(note.key, target, source, start, angled=group == "angled")


class _Relinker:
    """Rewrites the links of a vault in which the note ``old`` becomes ``new``."""

    def __init__(self, folder: Folder, old: Note, new: Note) -> None:
        before, after = folder.notes, [new if note is old else note for note in folder.notes]
        self._files = folder.attachments
        self._notes = {was.key: note for was, note in zip(before, after, strict=True)}
        self._before, self._after = NoteResolver(before, self._files), NoteResolver(after, self._files)
        self._names_before, self._names_after = (
            NoteResolver([replace(note, title="", aliases=()) for note in notes]) for notes in (before, after)
        )

    def safe_edits(self, note: Note) -> list[Edit]:
        """Return the edits of a note; without those of its front matter if that would break it."""
        by_start = {}
        for written in _written_targets(note):
            target = self._new_target(written)
            if target not in (None, written.target):
                end = written.start + len(written.source)
                by_start[written.start] = Edit(written.start, end, written.spelled(target))
        edits = list(by_start.values())
        in_body = [edit for edit in edits if edit.start >= note.body_start]
        breaks = in_body != edits and is_well_formed(note.text) and not is_well_formed(edited(note.text, edits))
        return in_body if breaks else edits

    def left(self, note: Note, edits: list[Edit]) -> Iterator[Left]:
        """Yield the links of a note that wouldn't lead to the same notes after its edits."""
        after = self._notes[note.key]
        edited_note = reread(after, edited(note.text, edits)) if edits else after
        links = edited_note.links
        for index, link in enumerate(note.links):
            wanted = self._wanted(link.target, note.key)
            target = links[index].target if len(links) == len(note.links) else ""
            if wanted.key and not _agree(self._after.resolve(target, edited_note.key), wanted):
                yield Left(note.key, note.line_of(link.start), link.target)

    def _wanted(self, target: str, source: str) -> Resolution:
        resolution = self._before.resolve(target, source)
        return replace(resolution, key=self._notes[resolution.key].key) if resolution.key else resolution

    def _new_target(self, written: _Written) -> str | None:
        """Return the target to write; None if the link stays, or if no target leads to its note."""
        wanted, now = self._wanted(written.target, written.note), self._notes[written.note].key
        if not wanted.key:
            return self._rebased(written)
        # Other programs resolve no titles: a link by file name has to lead there by the new file name.
        by_name = self._names_before.resolve(written.target, written.note).key
        found = (self._names_after if by_name else self._after).resolve(written.target, now)
        # And many know Markdown links as paths relative to the note only.
        was = self._before.resolve(written.target, written.note).key
        was_path = not written.is_wikilink and _is_path(written.target, written.note, was)
        if _agree(found, wanted) and (not was_path or _is_path(written.target, now, wanted.key)):
            return None
        for target in self._candidates(written, wanted.key):
            found = self._after.resolve(target, now)
            if found.key == wanted.key and not found.others and (fits_wikilink(target) or not written.is_wikilink):
                return target
        return None

    def _candidates(self, written: _Written, key: str) -> Iterator[str]:
        """Yield targets of the note ``key``, those in the manner of the written one first."""
        suffix = note_suffix(key) if note_suffix(written.target) else ""
        ends = path_ends(key)
        path = ends[-1].removeprefix("/") if written.is_wikilink else without_suffix(key)
        from_here = _relative(path, posixpath.dirname(self._notes[written.note].key))
        dotted = from_here if from_here.startswith(".") else f"./{from_here}"
        # Relative, or from the vault's folder, as the written one is.
        target = without_suffix(written.target)
        manner: tuple[str, ...] = ()
        if target.startswith("./"):
            manner = (dotted,)
        elif target.startswith("."):
            manner = (from_here, dotted)
        elif target.startswith("/"):
            manner = (f"/{path}",)
        elif "/" in target or not written.is_wikilink:
            was = self._before.resolve(written.target, written.note).key
            if _is_path(written.target, written.note, was):
                manner = (from_here, dotted)
            elif _joined("", target) == without_suffix(was):
                manner = (path,)
        parts = min(written.target.strip("/").count("/"), len(ends) - 2)
        yield from (f"{target}{suffix}" for target in (*manner, *ends[parts:], *ends))
        yield from (f"/{key}", key, dotted, f"{dotted}{note_suffix(key)}")
        if written.is_wikilink:
            note = next(note for note in self._notes.values() if note.key == key)
            yield from (note.title, *note.aliases)

    def _rebased(self, written: _Written) -> str | None:
        """Return the target of a link to no note, relative to the folder of a note that moves; None if it stays."""
        before, after = posixpath.dirname(written.note), posixpath.dirname(self._notes[written.note].key)
        target = written.target
        if before == after or target.startswith("/"):
            return None
        path = _joined(before, target)
        is_from_root = not target.startswith(".") and _joined("", target) in self._files
        is_name = written.is_wikilink and not target.startswith(".")
        is_kept = is_name and (is_from_root or "/" not in target)
        if is_kept or (path not in self._files and (is_name or is_from_root)):
            return None
        new = _relative(path, after)
        if target.startswith("./") and not new.startswith("."):
            new = f"./{new}"
        return new + "/" * target.endswith("/")


def _agree(found: Resolution, wanted: Resolution) -> bool:
    """Return whether a target leads to the wanted note, and to no more notes than before."""
    return found.key == wanted.key and (not found.others or bool(wanted.others))


def _is_path(target: str, source: str, key: str) -> bool:
    """Return whether a target is the path of the note ``key``, relative to the folder of the note ``source``."""
    return _joined(posixpath.dirname(source), target) in (key, without_suffix(key))


def _joined(folder: str, target: str) -> str:
    """Return the path in the vault of a target relative to a folder of it."""
    return posixpath.normpath(posixpath.join(folder, target))


def _relative(path: str, folder: str) -> str:
    """Return a path of the vault, or above it, relative to a folder of the vault."""
    return posixpath.relpath(posixpath.join(_DEEP, path), posixpath.join(_DEEP, folder))
