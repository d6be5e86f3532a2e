"""Rename or move a note, and rewrite the links to it and in it."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.vault.check import line_of
from pipeline.domains.vault.edits import Conflict, Edit, Unwritable, edited, find_conflicts, move, write_edits
from pipeline.domains.vault.links import (
    Form,
    NoteResolver,
    WrittenTarget,
    find_note,
    fits_wikilink,
    joined,
    note_suffix,
    path_ends,
    relative,
    spelled,
    without_suffix,
    written_targets,
)
from pipeline.domains.vault.note import Folder, Note, Resolution
from pipeline.domains.vault.sources import reread
from pipeline.errors import SourceError
from pipeline.ingest.sources.source import Unreadable
from pipeline.records import Skipped

_UNFIT = re.compile(r"[\[\]#^|\x00-\x1f]")


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
    after = _renamed(note, key)
    notes = [after if one is note else one for one in folder.notes]
    relinker = Relinker(folder.notes, notes, folder.attachments)
    rewrites: list[Rewrite] = []
    left: list[Left] = []
    for before, moved in zip(folder.notes, notes, strict=True):
        edits = _safe_edits(before, moved, relinker)
        rewrites += (_rewrite(before, edit) for edit in edits)
        left += _left(before, moved, edits, relinker)
    return Rename(note.key, key, tuple(rewrites), tuple(left), folder.skipped)


def apply(folder: Folder, rename: Rename) -> Renamed:
    """Carry out a plan that was made for this ``folder``.

    If one of the notes has changed since, nothing is written. A note that changes or can't be written while the others
    are written is a conflict, and its links are as before.
    """
    edits: dict[str, list[Edit]] = defaultdict(list)
    for rewrite in rename.rewrites:
        edits[rewrite.note].append(Edit(rewrite.start, rewrite.end, rewrite.after))
    conflicts = find_conflicts(folder, {rename.old, *edits})
    if conflicts:
        return Renamed(False, (), tuple(conflicts))
    (note,) = (note for note in folder.notes if note.key == rename.old)
    try:
        move(folder, note, rename.new)
    except Unwritable as error:
        return Renamed(False, (), (Conflict(note.key, error.message),))
    moved = replace(note, key=rename.new, path=(Path(folder.root) / rename.new).as_posix())
    notes = tuple(moved if one is note else one for one in folder.notes)
    if rename.old in edits:
        edits[rename.new] = edits.pop(rename.old)
    written = write_edits(replace(folder, notes=notes), edits)
    return Renamed(True, written.changed, written.conflicts)


def _new_key(folder: Folder, note: Note, new: str) -> str:
    path = new.strip().replace("\\", "/")
    if path.endswith("/"):
        path += posixpath.basename(note.key)
    elif "/" not in path:
        path = posixpath.join(posixpath.dirname(note.key), path)
    key = posixpath.normpath(path.lstrip("/"))
    key += "" if note_suffix(key) else note_suffix(note.key)
    _check_name(new, key)
    place = Path(folder.root) / key
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


def _check_name(new: str, key: str) -> None:
    """Raise SourceError if a key can't be a note's."""
    parts = key.split("/")
    if ".." in parts:
        raise SourceError(f"{new} lies outside of the vault.", "Give a path in it.")
    if any(part.startswith(".") or part != part.strip() for part in parts) or key.endswith(("/.md", "/.markdown")):
        raise SourceError(f"{new!r} is no name of a note.", "Notes and their folders begin with no dot and no blank.")
    if _UNFIT.search(key):
        raise SourceError(f"{new!r} has a character that no link can have.", "Leave out [ ] # ^ | and line ends.")


def _renamed(note: Note, key: str) -> Note:
    """Return a note under another key, from which its title may come."""
    return reread(replace(note, key=key), note.text)


def _safe_edits(before: Note, after: Note, relinker: Relinker) -> list[Edit]:
    """Return the edits of a note; without those of its front matter if that couldn't be read any more."""
    edits = list({edit.start: edit for edit in relinker.edits(before)}.values())
    try:
        _edited_note(before, after, edits)
    except Unreadable:
        return [edit for edit in edits if edit.start >= before.body_start]
    return edits


def _edited_note(before: Note, after: Note, edits: list[Edit]) -> Note:
    return _renamed(replace(after, text=edited(before.text, edits)), after.key) if edits else after


def _left(before: Note, after: Note, edits: list[Edit], relinker: Relinker) -> Iterator[Left]:
    """Yield the links of a note that wouldn't lead to the same notes."""
    new = _edited_note(before, after, edits).links
    for index, link in enumerate(before.links):
        target = new[index].target if len(new) == len(before.links) else ""
        if not relinker.is_kept(link.target, before.key, target):
            yield Left(before.key, line_of(before.text, link.start), link.target)


def _rewrite(note: Note, edit: Edit) -> Rewrite:
    line = line_of(note.text, edit.start)
    return Rewrite(note.key, line, edit.start, edit.end, note.text[edit.start : edit.end], edit.text)


class Relinker:
    """Rewrites links for a vault whose notes ``before`` become those ``after``; they differ in the key of one.

    ``files`` are the paths of the vault's other files.
    """

    def __init__(self, before: Sequence[Note], after: Sequence[Note], files: Collection[str]) -> None:
        self._files = files
        self._notes = {note.key: note for note in after}
        self._keys = {old.key: new.key for old, new in zip(before, after, strict=True)}
        self._before, self._after = NoteResolver(before, files), NoteResolver(after, files)
        # Other programs resolve no titles: a link by file name has to lead there by the new file name.
        self._names_before, self._names_after = NoteResolver(_untitled(before)), NoteResolver(_untitled(after))

    def edits(self, note: Note) -> Iterator[Edit]:
        """Yield the edits of a note, given as it was before."""
        for written in written_targets(note):
            target = self._new_target(written, note.key)
            if target is not None and target != written.target:
                yield Edit(written.start, written.end, spelled(target, written))

    def is_kept(self, target: str, source: str, new_target: str) -> bool:
        """Return whether ``new_target`` leads where ``target`` led from the note ``source``, by its former key."""
        wanted, found = self._wanted(target, source), self._after.resolve(new_target, self._keys[source])
        return not wanted.key or (found.key == wanted.key and (bool(wanted.others) or not found.others))

    def _wanted(self, target: str, source: str) -> Resolution:
        """Return what a target means, with the note's later key."""
        resolution = self._before.resolve(target, source)
        return replace(resolution, key=self._keys.get(resolution.key, ""))

    def _new_target(self, written: WrittenTarget, source: str) -> str | None:
        """Return the target to write; None if the link stays, or if no target leads to its note."""
        wanted = self._wanted(written.target, source)
        if not wanted.key:
            return self._rebased(written, source)
        if self._stays(written, source, wanted):
            return None
        return next(
            (
                target
                for target in self._candidates(written, source, wanted.key)
                if self._leads(target, written.form, self._keys[source], wanted.key)
            ),
            None,
        )

    def _stays(self, written: WrittenTarget, source: str, wanted: Resolution) -> bool:
        """Return whether a target leads to its note as it is, in other programs too."""
        by_name = bool(self._names_before.resolve(written.target, source).key)
        resolver = self._names_after if by_name else self._after
        found = resolver.resolve(written.target, self._keys[source])
        if found.key != wanted.key or (found.others and not wanted.others):
            return False
        # Many programs know Markdown links as paths relative to the note only.
        was_path = written.form is not Form.WIKILINK and _is_path(
            written.target, source, self._before.resolve(written.target, source).key
        )
        return not was_path or _is_path(written.target, self._keys[source], wanted.key)

    def _leads(self, target: str, form: Form, source: str, key: str) -> bool:
        if form is Form.WIKILINK and not fits_wikilink(target):
            return False
        found = self._after.resolve(target, source)
        return found.key == key and not found.others

    def _candidates(self, written: WrittenTarget, source: str, key: str) -> Iterator[str]:
        """Yield targets of the note ``key``, those in the manner of the written one first."""
        suffix = note_suffix(key) if note_suffix(written.target) else ""
        ends = path_ends(key)
        path = ends[-1].removeprefix("/") if written.form is Form.WIKILINK else without_suffix(key)
        from_here = relative(path, posixpath.dirname(self._keys[source]))
        dotted = from_here if from_here.startswith(".") else f"./{from_here}"
        parts = min(written.target.strip("/").count("/"), len(ends) - 2)
        for target in (*self._in_manner(written, source, path, from_here, dotted), *ends[parts:], *ends):
            yield f"{target}{suffix}"
        yield from (f"/{key}", key, dotted, f"{dotted}{note_suffix(key)}")
        if written.form is Form.WIKILINK:
            yield from (self._notes[key].title, *self._notes[key].aliases)

    def _in_manner(self, written: WrittenTarget, source: str, path: str, from_here: str, dotted: str) -> Iterator[str]:
        """Yield targets that are relative, or from the vault's folder, as the written one is."""
        target = without_suffix(written.target)
        if target.startswith("./"):
            yield dotted
        elif target.startswith("."):
            yield from (from_here, dotted)
        elif target.startswith("/"):
            yield f"/{path}"
        elif "/" in target or written.form is not Form.WIKILINK:
            was = self._before.resolve(written.target, source).key
            if _is_path(written.target, source, was):
                yield from (from_here, dotted)
            elif joined("", target) == without_suffix(was):
                yield path

    def _rebased(self, written: WrittenTarget, source: str) -> str | None:
        """Return the target of a link to no note, relative to the folder of a note that moves; None if it stays."""
        before, after = posixpath.dirname(source), posixpath.dirname(self._keys[source])
        target = written.target
        if before == after or target.startswith("/"):
            return None
        path = joined(before, target)
        is_from_root = not target.startswith(".") and joined("", target) in self._files
        is_name = written.form is Form.WIKILINK and not target.startswith(".")
        if path not in self._files and (is_name or is_from_root):
            return None
        if is_name and (is_from_root or "/" not in target):
            return None
        new = relative(path, after)
        if target.startswith("./") and not new.startswith("."):
            new = f"./{new}"
        return new + "/" * target.endswith("/")


def _is_path(target: str, source: str, key: str) -> bool:
    """Return whether a target is the path of the note ``key``, relative to the folder of the note ``source``."""
    return joined(posixpath.dirname(source), target) in (key, without_suffix(key))


def _untitled(notes: Sequence[Note]) -> list[Note]:
    return [replace(note, title="", aliases=()) for note in notes]
