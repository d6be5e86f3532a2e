"""Rename or move a note, and rewrite the links to it and in it."""

from __future__ import annotations

import os
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.vault.reading.notes import reread
from pipeline.domains.vault.records import Folder, Note
from pipeline.domains.vault.upkeep.check import line_of
from pipeline.domains.vault.upkeep.files import Conflict, Edit, Unwritable, edited, find_conflicts, move, write_edits
from pipeline.domains.vault.upkeep.find import find_note
from pipeline.domains.vault.upkeep.relink import Relinker
from pipeline.domains.vault.upkeep.targets import note_suffix
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
