"""Write notes: atomically, only where a file still has the content that was read, and without touching other bytes."""

import codecs
import os
import re
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pipeline.domains.vault.note import ANY, Folder, Note
from pipeline.domains.vault.sources import modified_at, reread
from pipeline.errors import SourceError
from pipeline.files import unopenable, well_formed
from pipeline.temporary import replacing

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"", "utf-8"),
)
_TIMES = re.compile(r'^[ \t]*"?(?:created|updated)"?[ \t]*[:=][ \t].*$', re.MULTILINE)
_CHANGED = "has changed since it was read"
_AGAIN = "Run the command again."


class Unwritable(SourceError):
    """A note can't be written; the message continues a sentence that begins with its key: ``is read-only``."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A replacement of the characters ``[start:end]`` of a note's text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """A note that was left as it is, and the reason."""

    note: str
    reason: str


@dataclass(frozen=True, slots=True)
class Written:
    """The keys of the notes that were changed, the number of edits in them, and the notes that were left out."""

    changed: tuple[str, ...]
    edits: int
    conflicts: tuple[Conflict, ...]


def write_edits(folder: Folder, edits: Mapping[str, Sequence[Edit]]) -> Written:
    """Write edits of notes, given by key. A note is written with all its edits or not at all.

    The file keeps its encoding, byte order mark, line ends and mode. A note that has changed since ``folder`` was read
    is a conflict, and so is one that can't be written. Raises ValueError if edits of a note overlap.
    """
    changed, conflicts = [], []
    for note in sorted(folder.notes, key=lambda note: note.key):
        if edits.get(note.key):
            try:
                _write(Path(folder.root), note, edits[note.key])
                changed.append(note.key)
            except Unwritable as error:
                conflicts.append(Conflict(note.key, error.message))
    return Written(tuple(changed), sum(len(edits[key]) for key in changed), tuple(conflicts))


def find_conflicts(folder: Folder, keys: Iterable[str]) -> list[Conflict]:
    """Return those of some notes that can't be written now, or have changed since ``folder`` was read."""
    wanted, conflicts = set(keys), []
    for note in folder.notes:
        if note.key in wanted:
            try:
                _unchanged(Path(folder.root), note)
            except Unwritable as error:
                conflicts.append(Conflict(note.key, error.message))
    return conflicts


def move(folder: Folder, note: Note, key: str) -> None:
    """Move a note's file to a new key, for which missing folders are made; its content stays.

    Raises Unwritable if a file has that key; none is overwritten, even if it appears meanwhile.
    """
    old, new = Path(note.path), Path(folder.root) / key
    try:
        new.parent.mkdir(parents=True, exist_ok=True)
        # An empty file keeps the name from others; not if it is the old file in other letter case.
        claimed = not (new.exists() and new.samefile(old) and new.parent.samefile(old.parent))
        if claimed:
            new.open("xb").close()
        try:
            old.replace(new)
        except OSError:
            if claimed:
                new.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise Unwritable(f"can't be moved: {_reason(error)}") from None


def note_in(folder: Folder, stored: Note) -> Note:
    """Return the note of a folder that the corpus holds as ``stored``; raises SourceError if it is gone."""
    for note in folder.notes:
        if note.key == stored.key:
            return reread(replace(note, scope=stored.scope), note.text)
    raise SourceError(f"The folder has no note {stored.key!r}.", "Give the vault's folder, or sync it.")


def create_in(folder: Folder, note: Note) -> Note:
    """Write a created note as a new file of a folder, and return it as a note of that.

    Readers see an empty file or the whole text. A file that an interrupted run has begun is the note's; raises
    SourceError if another has its path, which is not overwritten.
    """
    root = Path(folder.root)
    path = root / note.key
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.resolve().is_relative_to(root.resolve()):
            raise SourceError(f"{note.key!r} is outside of {root}, by a link.", "Remove the link to that folder.")
        try:
            path.open("xb").close()
        except FileExistsError:
            begun = reread(note, path.read_text(encoding="utf-8", errors="replace"))
            if not is_begun(begun, note):
                raise
            if begun.text:
                return _as_written(begun, path)
        try:
            with replacing(path) as partial:
                _write_through(partial, note.text.encode())
                if path.stat().st_size:
                    raise FileExistsError("somebody else has written to it")
        except OSError:
            if path.stat().st_size == 0:
                path.unlink()
            raise
    except OSError as error:
        message = f"{path} can't be written: {_reason(error)}."
        raise SourceError(message, "Give another title, or mend the folder.") from None
    return _as_written(note, path)


def is_begun(file: Note | None, note: Note) -> bool:
    """Return whether a file is what an interrupted run left of a note: nothing, or its text but for the times."""
    return file is not None and (not file.text or is_same(file.text, note.text))


def is_same(text: str, other: str) -> bool:
    """Return whether the texts of two notes are the same but for the times in their front matter."""
    return _TIMES.sub("", text) == _TIMES.sub("", other)


def replace_in(folder: Folder, before: Note, after: Note) -> Note:
    """Write to a note's file where ``after`` differs from ``before``, and return the note.

    Raises SourceError if the file has changed since it was read.
    """
    pairs = enumerate(zip(before.text, after.text, strict=False))
    kept = next((at for at, (old, new) in pairs if old != new), min(len(before.text), len(after.text)))
    written = write_edits(folder, {before.key: [Edit(kept, len(before.text), after.text[kept:])]})
    for conflict in written.conflicts:
        raise SourceError(f"{conflict.note} {conflict.reason}.", "Nothing was written: try again.")
    return _as_written(after, Path(before.path))


def delete_in(folder: Folder, note: Note) -> None:
    """Delete a note's file; raises SourceError if it has changed since it was read, or can't be deleted."""
    for conflict in find_conflicts(folder, [note.key]):
        raise SourceError(f"{conflict.note} {conflict.reason}.", "Nothing was deleted: try again.")
    try:
        Path(note.path).unlink(missing_ok=True)
    except OSError as error:
        raise SourceError(f"{note.path} can't be deleted: {_reason(error)}.", "Mend the folder.") from None


def _as_written(note: Note, path: Path) -> Note:
    scope = note.scope if note.path else ANY
    return reread(replace(note, path=path.as_posix(), modified=modified_at(path), scope=scope), note.text)


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with edits applied. Raises ValueError if they overlap."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise ValueError(f"edits overlap at character {edit.start}")
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def _write(root: Path, note: Note, edits: Sequence[Edit]) -> None:
    path = Path(note.path)
    data, mark, encoding, raw = _unchanged(root, note)
    # The offsets of edits count a line end as one character.
    ends = [match.start() - index for index, match in enumerate(re.finditer("\r\n", raw))]
    newline = "\r\n" if ends else "\n"
    shifted = [
        Edit(at.start + bisect_left(ends, at.start), at.end + bisect_left(ends, at.end), at.text.replace("\n", newline))
        for at in edits
    ]
    try:
        with replacing(path) as partial:
            _write_through(partial, mark + edited(raw, shifted).encode(encoding))
            shutil.copymode(path, partial)
            if path.read_bytes() != data:
                raise Unwritable(_CHANGED, _AGAIN)
    except OSError as error:
        raise Unwritable(f"can't be written: {_reason(error)}") from None


def _write_through(path: Path, data: bytes) -> None:
    """Write a new file down to the disk, so that a loss of power leaves the old file or the whole new one."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


def _unchanged(root: Path, note: Note) -> tuple[bytes, bytes, str, str]:
    """Return a note's file: its bytes, byte order mark, encoding, and text with the line ends that it has.

    Raises Unwritable unless they are those that were read.
    """
    path = Path(note.path)
    try:
        if not path.resolve().is_relative_to(root.resolve()):
            raise Unwritable("is a link to a file outside of the vault")
        data = path.read_bytes()
    except FileNotFoundError:
        raise Unwritable("is gone", _AGAIN) from None
    except OSError as error:
        raise Unwritable(unopenable(error).message) from None
    if not os.access(path, os.W_OK):
        raise Unwritable("is read-only")
    mark, encoding = next(known for known in _MARKS if data.startswith(known[0]))
    try:
        raw = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError:
        raise Unwritable(_CHANGED, _AGAIN) from None
    text = well_formed(raw.replace("\r\n", "\n").replace("\r", "\n"))
    # A note of white space alone is read as empty.
    if text != note.text and (note.text or raw.strip()):
        raise Unwritable(_CHANGED, _AGAIN)
    return data, mark, encoding, raw
