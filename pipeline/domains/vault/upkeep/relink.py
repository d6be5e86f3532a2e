"""Rewrite the links of a vault after a note has got another key, so that they lead to the same notes as before."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from pipeline.domains.vault.reading.resolve import NoteResolver
from pipeline.domains.vault.records import Note, Resolution
from pipeline.domains.vault.upkeep.files import Edit
from pipeline.domains.vault.upkeep.targets import (
    Form,
    WrittenTarget,
    fits_wikilink,
    joined,
    note_suffix,
    path_ends,
    relative,
    spelled,
    without_suffix,
    written_targets,
)


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
