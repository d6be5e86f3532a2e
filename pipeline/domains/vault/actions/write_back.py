"""Write back to a vault's folder: new files for created notes, and links in notes of the folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.vault.actions.created import PresentNotes
from pipeline.domains.vault.edits import Edit, write_edits
from pipeline.domains.vault.note import ANY, Folder, Note, Scope
from pipeline.domains.vault.sources import modified_at, read_folder, reread
from pipeline.domains.vault.stored import OpenVault, StoredNote
from pipeline.errors import SourceError
from pipeline.temporary import replacing

_NO_FOLDER = Folder("", (), frozenset(), ())


@dataclass(frozen=True, slots=True)
class VaultFolder:
    """The folder of a vault as it was read; one without notes if changes stay in the corpus."""

    folder: Folder

    @classmethod
    def read(cls, vault: OpenVault, folder: Path | None) -> VaultFolder:
        """Return the folder as it is now; raises SourceError if there is none."""
        limits = vault.hoprank.settings.sources.limits
        return cls(read_folder(folder, limits=limits) if folder else _NO_FOLDER)

    @property
    def attachments(self) -> Iterable[str]:
        """The paths of the folder's files that are no notes."""
        return self.folder.attachments

    @property
    def keys(self) -> frozenset[str]:
        """The keys of the folder's notes."""
        return frozenset(note.key for note in self.folder.notes)

    def within(self, scope: Scope) -> list[Note]:
        """Return the notes of a user, skill and agent, as their front matter names these."""
        return PresentNotes(self.folder.notes, ()).within(scope)

    def note(self, stored: StoredNote) -> Note:
        """Return the note of the folder that the corpus holds as ``stored``; raises SourceError if it is gone."""
        notes = {note.key: note for note in self.folder.notes}
        if stored.key not in notes:
            raise SourceError(f"The folder has no note {stored.key!r}.", "Give the vault's folder, or sync it.")
        note = notes[stored.key]
        return reread(replace(note, scope=stored.scope), note.text)

    def create(self, note: Note) -> Note:
        """Write a created note as a new file, and return it as a note of the folder.

        Raises SourceError if a file has its path; none is overwritten.
        """
        root = Path(self.folder.root)
        path = root / note.key
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.resolve().is_relative_to(root.resolve()):
                raise SourceError(f"{note.key!r} is outside of {root}, by a link.", "Remove the link to that folder.")
            _create(path, note.text)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise SourceError(
                f"{path} can't be written: {reason}.", "Give another title, or mend the folder."
            ) from None
        return self._as_written(note, path)

    def extend(self, before: Note, after: Note) -> Note:
        """Write what was appended to a note to its file, and return the note; ``after`` begins as ``before`` does.

        Raises SourceError if the file has changed since it was read.
        """
        kept = len(before.text.rstrip())
        edit = Edit(kept, len(before.text), after.text[kept:])
        written = write_edits(self.folder, {before.key: [edit]})
        if written.conflicts:
            conflict = written.conflicts[0]
            raise SourceError(f"{conflict.note} {conflict.reason}.", "Nothing was written: try again.")
        return self._as_written(after, Path(before.path))

    def _as_written(self, note: Note, path: Path) -> Note:
        scope = note.scope if note.path else ANY
        return reread(replace(note, path=path.as_posix(), modified=modified_at(path), scope=scope), note.text)


def _create(path: Path, text: str) -> None:
    """Write a new file; raises FileExistsError if there is one. Readers see an empty file or the whole text."""
    path.open("xb").close()
    try:
        with replacing(path) as partial:
            with partial.open("wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            if path.stat().st_size:
                raise FileExistsError("somebody else has written to it")
    except OSError:
        if path.stat().st_size == 0:
            path.unlink()
        raise
