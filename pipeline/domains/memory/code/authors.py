"""Authors of files: all who changed them in commits, as .mailmap names them; and owners: those of CODEOWNERS."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pathspec import GitIgnoreSpec

from pipeline.domains.memory.code.files import blob_of, changed_files, parent_tree
from pipeline.domains.memory.code.findings import Findings
from pipeline.files.guard import well_formed
from pipeline.ingest.sources.ignored import git_rules

if TYPE_CHECKING:
    import pygit2

    from pipeline.domains.memory.code.files import Commit

_LONGEST = 200  # characters of a name or an email; a longer one is generated or hostile

_MOST_PAIRS = 2_500
"""Pairs of a file that is gone and a new one that are compared in a commit; Git, too, has a limit. Chosen by hand."""

_EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
"""The blob without content: files that are empty aren't one file."""

_ALIKE = 0.5  # the share from which Git, too, calls it a rename
_LARGEST = 1_000_000  # bytes of a file that is compared; chosen by hand

_MOST_RULES = 1000
"""Rules of CODEOWNERS: the last ones count. GitHub allows 3 MB, but each path is matched with each rule."""

_OWNER = re.compile(r"@[\w./-]+|[^@\s]+@[^@\s]+")
_NO_PATTERN = re.compile(r"[#!]|\^?\[")  # comments, negations, sections of GitLab


class Person(NamedTuple):
    """A name and an email, as in a commit."""

    name: str
    email: str


class Authorship:
    """The authors of each path, up to the last commit that was added.

    A file that was removed keeps its authors, for the case that it comes back; one that was renamed has them, too. Of a
    merge, the authors are those of the merged commits for what they changed; its own author counts only for what none
    of them did. What the commits at the ``border`` of a shallow clone changed isn't known: nobody is its author.
    """

    def __init__(self, repository: pygit2.Repository, border: Set[str] = frozenset()) -> None:
        self._repository = repository
        self._border = border
        self._blobs: dict[str, pygit2.Oid] = {}
        self._authors: dict[str, dict[Person, None]] = defaultdict(dict)
        self._mailmap: pygit2.Mailmap | None = None
        self._people: dict[str, Person] = {}
        self._seen: dict[Person, Person] = {}

    def add(self, commit: Commit, changes: Mapping[str, pygit2.Oid | None]) -> None:
        """Add the authors of a commit to what it changed: blobs by their paths, None for a file that is gone."""
        import pygit2

        self._rename(changes)
        left = changed = frozenset(changes)
        try:
            for merged in self._merged(commit):
                files = changed_files(self._repository, parent_tree(self._repository, merged), merged.tree)
                its_own = changed.intersection(path for path, _ in files)
                if str(merged.id) not in self._border:
                    self._credit(merged, its_own)
                left -= its_own
        except pygit2.GitError:  # of a merged commit that libgit2 refuses: whose the rest is isn't known
            left = frozenset()
        if str(commit.id) not in self._border:
            self._credit(commit, left)

    def _rename(self, changes: Mapping[str, pygit2.Oid | None]) -> None:
        """Give new files the authors of those that are gone and have the same content, or half of its lines."""
        gone = {path: self._blobs.pop(path) for path, blob in changes.items() if blob is None and path in self._blobs}
        there = {path: blob for path, blob in changes.items() if blob is not None}
        new = {path: blob for path, blob in there.items() if path not in self._blobs}
        self._blobs |= there
        paths = {blob: path for path, blob in gone.items() if str(blob) != _EMPTY}
        same = {path: old for path, blob in new.items() if (old := paths.get(blob)) is not None}
        moved = set(same.values())
        left = {path: blob for path, blob in gone.items() if path not in moved}
        others = {path: blob for path, blob in new.items() if path not in same}
        if len(left) * len(others) <= _MOST_PAIRS:
            same |= self._alike(left, others)
        for path, old in same.items():
            self._authors[path] = self._authors[old] | self._authors[path]

    def _alike(self, gone: Mapping[str, pygit2.Oid], new: Mapping[str, pygit2.Oid]) -> dict[str, str]:
        """Return the most similar file that is gone for each new one; none for one that is like none."""
        if not (gone and new):
            return {}
        lines = {blob: self._lines(blob) for blob in (*gone.values(), *new.values())}
        found = {}
        for path, blob in new.items():
            shares = {old: _share(lines[gone[old]], lines[blob]) for old in gone}
            best = max(shares, key=lambda old: (shares[old], old))
            if shares[best] >= _ALIKE:
                found[path] = best
        return found

    def _lines(self, blob: pygit2.Oid) -> Counter[bytes]:
        return Counter(filter(None, (blob_of(self._repository, blob, _LARGEST) or b"").splitlines()))

    def _credit(self, commit: Commit, paths: Iterable[str]) -> None:
        name, email = (
            " ".join(_decoded(raw, commit.message_encoding).split())[:_LONGEST]
            for raw in (commit.author.raw_name, commit.author.raw_email)
        )
        self._people[email.lower()] = author = Person(name, email)
        for path in paths:
            self._authors[path][author] = None

    def _merged(self, merge: Commit) -> Iterator[Commit]:
        """Yield the commits that a merge brought, but for other merges."""
        if len(merge.parent_ids) < 2:
            return
        walker = self._repository.walk(merge.parent_ids[1])
        for other in merge.parent_ids[2:]:
            walker.push(other)
        walker.hide(merge.parent_ids[0])
        yield from (commit for commit in walker if len(commit.parent_ids) < 2)

    def set_mailmap(self, text: str) -> None:
        """Use the text of a .mailmap from now on; an empty one changes no names."""
        import pygit2

        self._mailmap = pygit2.Mailmap.from_buffer(text) if text else None
        self._seen.clear()

    def people(self) -> dict[str, str]:
        """Return the names of all authors by email, in lower case."""
        return {email: self._canonical(person).name for email, person in self._people.items()}

    def findings(self, path: str, scope: str) -> Findings:
        """Return the authors of a file as findings."""
        findings = Findings(scope)
        file = findings.entity("file", path)
        for person in self._authors.get(path, ()):
            name, email = self._canonical(person)
            author = findings.entity("person", name or email, "", [email] if email else [], {"email": email})
            findings.fact(file, "authored_by", author)
        return findings

    def _canonical(self, person: Person) -> Person:
        if person not in self._seen:
            self._seen[person] = Person(*self._mailmap.resolve(*person)) if self._mailmap else person
        return self._seen[person]


def _share(one: Counter[bytes], other: Counter[bytes]) -> float:
    """Return the share of the lines of the longer text that both have."""
    return (one & other).total() / max(one.total(), other.total(), 1)


def _decoded(raw: bytes, declared: str | None) -> str:
    """Return the text of a name: in UTF-8, else as its commit says, else in the encoding of the old West."""
    for encoding in ("utf-8", declared, "cp1252"):
        with suppress(UnicodeDecodeError, LookupError, ValueError):
            return well_formed(raw.decode(encoding or "utf-8"))
    return well_formed(raw.decode("latin-1"))


class Owners:
    """The rules of a CODEOWNERS file: the last that matches a path names its owners, as they are written."""

    def __init__(self, text: str) -> None:
        self._rules = deque((rule for line in text.splitlines() if (rule := _rule(line))), maxlen=_MOST_RULES)
        self.of = lru_cache(maxsize=100_000)(self._of)  # chosen by hand, to bound memory
        """Return the owners of a file, or of a folder given with a slash at its end."""

    def _of(self, path: str) -> tuple[str, ...]:
        return next((owners for spec, owners in reversed(self._rules) if spec.match_file(path)), ())


def _rule(line: str) -> tuple[GitIgnoreSpec, tuple[str, ...]] | None:
    """Return the pattern of a line and its owners; a pattern without any means that nobody owns what it matches."""
    pattern, *words = re.split(r"(?<!\\)\s+", line.split(" #")[0].strip())
    if not pattern or _NO_PATTERN.match(pattern):
        return None
    try:
        return git_rules([pattern]), tuple(dict.fromkeys(filter(_OWNER.fullmatch, words)))
    except ValueError:
        return None
