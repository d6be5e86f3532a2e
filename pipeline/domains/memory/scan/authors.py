"""Authors of files: all who made a commit that changed the path, with the names that .mailmap gives them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from pipeline.domains.memory.scan.history import changed_files, parent_tree
from pipeline.domains.memory.scan.records import AUTHORED_BY, Findings

if TYPE_CHECKING:
    import pygit2

_LONGEST = 200


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
        left = set(paths)
        if len(commit.parents) > 1:
            left -= self._merged(commit, left)
        author = _person(commit.author)
        self._people[author.email.lower()] = author
        for path in left:
            self._authors[path][author] = None

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
        found = Findings(scope)
        file = found.entity("file", path)
        for person in self._authors.get(path, ()):
            name, email = self._canonical(person)
            author = found.entity("person", name or email, "", [email] if email else [], {"email": email})
            found.fact(file, "authored_by", author, AUTHORED_BY)
        return found

    def _merged(self, merge: pygit2.Commit, paths: set[str]) -> set[str]:
        """Add the authors of the commits that a merge brought; return the paths of these that they changed."""
        walker = self._repository.walk(merge.parents[1].id)
        for other in merge.parents[2:]:
            walker.push(other.id)
        walker.hide(merge.parents[0].id)
        found: set[str] = set()
        for commit in walker:
            if len(commit.parents) > 1:
                continue
            author = _person(commit.author)
            self._people[author.email.lower()] = author
            for path, _ in changed_files(self._repository, parent_tree(commit), commit.tree):
                if path in paths:
                    self._authors[path][author] = None
                    found.add(path)
        return found

    def _canonical(self, person: Person) -> Person:
        if self._mailmap is None:
            return person
        if person not in self._seen:
            self._seen[person] = Person(*self._mailmap.resolve(person.name, person.email))
        return self._seen[person]


def _person(signature: pygit2.Signature) -> Person:
    name, email = (
        " ".join(raw.decode("utf-8", "replace").split())[:_LONGEST] for raw in (signature.raw_name, signature.raw_email)
    )
    return Person(name, email)
