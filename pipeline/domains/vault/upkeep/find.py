"""Find the note that a user names."""

from __future__ import annotations

from pathlib import PurePosixPath

from pipeline.domains.vault.reading.resolve import NoteResolver
from pipeline.domains.vault.records import Folder, Note
from pipeline.errors import SourceError, did_you_mean

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
