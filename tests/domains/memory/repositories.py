"""Git repositories that tests write, commit by commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pygit2

from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.records import Fact
from pipeline.domains.memory.versions import Triple, holds
from pipeline.knowledge.check import canonical_time

Tree = dict[str, "str | bytes"]
"""Contents of files by path."""

ANN = ("Ann", "ann@example.org")
BOB = ("Bob", "bob@example.org")


class Repository:
    """A repository at ``path``, bare until :meth:`checkout`; commits follow one another unless parents are given."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._git = pygit2.init_repository(str(path), bare=False, initial_head="main")
        self.head: pygit2.Oid | None = None

    def commit(
        self,
        tree: Mapping[str, str | bytes],
        time: int,
        author: tuple[str, str] = ANN,
        parents: Sequence[pygit2.Oid] | None = None,
        links: Mapping[str, str] | None = None,
    ) -> pygit2.Oid:
        """Commit a whole tree at a number of seconds since 1970; ``links`` are symbolic ones."""
        index = pygit2.Index()
        for path, content in tree.items():
            data = content.encode() if isinstance(content, str) else content
            index.add(pygit2.IndexEntry(path, self._git.create_blob(data), pygit2.enums.FileMode.BLOB))
        for path, target in (links or {}).items():
            blob = self._git.create_blob(target.encode())
            index.add(pygit2.IndexEntry(path, blob, pygit2.enums.FileMode.LINK))
        written = index.write_tree(self._git)
        before = list(parents) if parents is not None else [self.head] if self.head else []
        # written by hand: libgit2 writes times before 1970 as unsigned
        lines = [f"tree {written}", *(f"parent {parent}" for parent in before)]
        lines += [f"author {author[0]} <{author[1]}> {time} +0000", f"committer C <c@example.org> {time} +0000"]
        content = "\n".join(lines) + "\n\nA change\n"
        self.head = self._git.odb.write(pygit2.enums.ObjectType.COMMIT, content.encode())
        self._git.references.create("refs/heads/main", self.head, force=True)
        return self.head


def export(tree: Mapping[str, str | bytes], folder: Path) -> Path:
    """Write a tree as a plain folder, and return it."""
    folder.mkdir()
    for path, content in tree.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def held(scan: Scan, time: str | None = None) -> set[tuple[str, ...]]:
    """Return the facts at a time with their strengths, without the scope of their ends; by default those that hold."""
    return {(*said(span), str(span.weight), str(span.confidence)) for span in scan.facts if _holds(span, time)}


def said(span: Fact) -> tuple[str, str, str]:
    """Return a fact with the types and names of its ends: ``file a.py``, ``imports``, ``library numpy``."""
    ends = (end.split("|", 2)[1:] for end in (span.source, span.target))
    source, target = (" ".join(end) for end in ends)
    return source, span.type, target


def facts(scan: Scan, *types: str) -> set[tuple[str, str, str]]:
    """Return the facts of these types that hold at the end."""
    return {said(span) for span in scan.facts if span.type in types and span.invalid_at is None}


def facts_at(scan: Scan, time: str) -> set[Triple]:
    """Return the facts that held at a time, by the ids of their ends."""
    return {span.triple for span in scan.facts if _holds(span, time)}


def _holds(fact: Fact, time: str | None) -> bool:
    return fact.invalid_at is None if time is None else holds(fact, canonical_time(time, "time") or "")
