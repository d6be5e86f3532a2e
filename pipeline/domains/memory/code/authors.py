"""Authors of files: all who changed them in commits, as .mailmap names them; and owners: those of CODEOWNERS."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from pathspec import GitIgnoreSpec

from pipeline.domains.memory.code.files import changed_files, parent_tree
from pipeline.domains.memory.code.findings import Findings

if TYPE_CHECKING:
    import pygit2

_LONGEST = 200  # characters of a name or an email; a longer one is generated or hostile

_MOST_RULES = 1000
"""Rules of CODEOWNERS: the last ones count. GitHub allows 3 MB, but each path is matched with each rule."""

_MOST_WILDCARDS = 4  # a pattern takes time by the power of its wildcards; chosen by hand
_WILDCARD = re.compile(r"\*+|\?")
_OWNER = re.compile(r"@[\w./-]+|[^@\s]+@[^@\s]+")
_NO_PATTERN = re.compile(r"[#!]|\^?\[")  # comments, negations, sections of GitLab


class Person(NamedTuple):
    """A name and an email, as in a commit."""

    name: str
    email: str


class Authorship:
    """The authors of each path, up to the last commit that was added.

    A file that was removed keeps its authors, for the case that it comes back. Of a merge, the authors are those of the
    merged commits for what they changed; its own author counts only for what none of them did.
    """

    def __init__(self, repository: pygit2.Repository) -> None:
        self._repository = repository
        self._authors: dict[str, dict[Person, None]] = defaultdict(dict)
        self._mailmap: pygit2.Mailmap | None = None
        self._people: dict[str, Person] = {}
        self._seen: dict[Person, Person] = {}

    def add(self, commit: pygit2.Commit, paths: Iterable[str]) -> None:
        """Add the authors of a commit to the ``paths`` that it changed."""
        changed = frozenset(paths)
        left = changed
        for merged in self._merged(commit):
            files = changed_files(self._repository, parent_tree(merged), merged.tree)
            its_own = changed.intersection(path for path, _ in files)
            self._credit(merged, its_own)
            left -= its_own
        self._credit(commit, left)

    def _credit(self, commit: pygit2.Commit, paths: Iterable[str]) -> None:
        name, email = (
            " ".join(raw.decode("utf-8", "replace").split())[:_LONGEST]
            for raw in (commit.author.raw_name, commit.author.raw_email)
        )
        self._people[email.lower()] = author = Person(name, email)
        for path in paths:
            self._authors[path][author] = None

    def _merged(self, merge: pygit2.Commit) -> Iterator[pygit2.Commit]:
        """Yield the commits that a merge brought, but for other merges."""
        if len(merge.parents) < 2:
            return
        walker = self._repository.walk(merge.parents[1].id)
        for other in merge.parents[2:]:
            walker.push(other.id)
        walker.hide(merge.parents[0].id)
        yield from (commit for commit in walker if len(commit.parents) < 2)

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
    if not pattern or _NO_PATTERN.match(pattern) or len(_WILDCARD.findall(pattern)) > _MOST_WILDCARDS:
        return None
    try:
        return GitIgnoreSpec.from_lines([pattern]), tuple(dict.fromkeys(filter(_OWNER.fullmatch, words)))
    except ValueError:
        return None
