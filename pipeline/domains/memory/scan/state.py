"""The state of a tree: its files as parsed, and their facts, brought up to date by what changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from pipeline.domains.memory.scan.authors import Authorship
from pipeline.domains.memory.scan.code_facts import facts_of
from pipeline.domains.memory.scan.index import Index
from pipeline.domains.memory.scan.parsed import MAILMAP, ParsedFile, is_binary
from pipeline.domains.memory.scan.paths import decided_by, is_scanned
from pipeline.domains.memory.scan.timeline import Timeline

_MOST_PARSED = 20_000
"""Parsed files that are kept for the case that a path gets an earlier content again."""

_Blob = TypeVar("_Blob", bound=Hashable)


class State(Generic[_Blob]):
    """A tree, its facts and their timeline. ``read`` returns the content of a blob, None for one to leave out."""

    def __init__(
        self,
        scope: str,
        read: Callable[[_Blob], bytes | None],
        parse: Callable[[str, bytes], ParsedFile],
        authorship: Authorship | None = None,
        *,
        tracked: bool = False,
    ) -> None:
        self.timeline = Timeline()
        self._scope = scope
        self._read = read
        self._parse = parse
        self._authorship = authorship
        self._blobs: dict[str, _Blob] = {}
        self._index = Index(tracked=tracked)
        self._parsed: dict[tuple[str, _Blob], ParsedFile | None] = {}

    def advance(self, changes: Mapping[str, _Blob | None], time: str) -> None:
        """Change the tree: a blob by path, None for a file that is gone; its state holds from ``time`` on.

        ``changes`` names every path that a commit since the last state touched.
        """
        changed = self._with_undecided(changes)
        files = {path: self._file(path) for path in changed}
        keys = self._index.update(files)
        renamed = MAILMAP in files
        if self._authorship is not None:
            if renamed:
                mailmap = files[MAILMAP]
                self._authorship.set_mailmap(mailmap.text if mailmap else "")
            keys |= self._index.set_people(self._authorship.people())
        self._find_facts(files.keys() | self._index.askers(keys))
        self._find_authors(files.keys() | self._blobs.keys() if renamed else files)
        self.timeline.close(time)

    def _with_undecided(self, changes: Mapping[str, _Blob | None]) -> set[str]:
        """Apply the changes to the tree; return the paths that changed, or may have become scanned or left out."""
        for path, blob in changes.items():
            if blob is None:
                self._blobs.pop(path, None)
            else:
                self._blobs[path] = blob
        folders = tuple(f"{folder}/" for path in changes if (folder := decided_by(path)))
        return set(changes) | {path for path in self._blobs if folders and path.startswith(folders)}

    def _file(self, path: str) -> ParsedFile | None:
        """Return the file at a path; None for one that is gone or left out."""
        blob = self._blobs.get(path)
        if blob is None or not is_scanned(path, self._blobs.__contains__):
            return None
        if (path, blob) not in self._parsed:
            if len(self._parsed) >= _MOST_PARSED:
                self._parsed.clear()
            data = self._read(blob)
            self._parsed[path, blob] = None if data is None or is_binary(data) else self._parse(path, data)
        return self._parsed[path, blob]

    def _find_facts(self, units: Iterable[Hashable]) -> None:
        for path in units:
            file = self._index.peek(str(path))
            if file is None:
                self._index.forget(path)
                self.timeline.replace(path, None)
                continue
            with self._index.asking(path):
                self.timeline.replace(path, facts_of(file, self._index, self._scope))

    def _find_authors(self, paths: Iterable[str]) -> None:
        if self._authorship is None:
            return
        for path in paths:
            held = self._index.peek(path) is not None
            self.timeline.replace(("authors", path), self._authorship.findings(path, self._scope) if held else None)
