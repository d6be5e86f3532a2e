"""Files of a Git repository, commit by commit along first parents, without Git's own command; and of a plain folder."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pipeline.errors import SourceError
from pipeline.files import Limits
from pipeline.files.guard import well_formed
from pipeline.ingest.sources.ignored import own_files

if TYPE_CHECKING:
    import pygit2

    Commit: TypeAlias = "pygit2.Commit | OddCommit"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST, _LATEST = int(datetime(1, 1, 2, tzinfo=UTC).timestamp()), int(datetime(9999, 12, 30, tzinfo=UTC).timestamp())
"""The times that can be stored, in seconds since 1970; those of a commit may be any, and negative."""

_DAY = 86_400
_TREE = re.compile(rb"^tree ([0-9a-f]{40})$", re.MULTILINE)
_PARENT = re.compile(rb"^parent ([0-9a-f]{40})$", re.MULTILINE)
_AUTHOR = re.compile(rb"^author ([^<\n]*?)(?: -?\d+ [+-]\d+)?(?:<([^>\n]*).*)?$", re.MULTILINE)
_TIME = re.compile(rb"^committer .*[> ](-?\d{1,30}) [+-]\d+$", re.MULTILINE)
_SUBMODULE = re.compile(rb"^[ \t]*path[ \t]*=[ \t]*(\S[^\r\n]*)", re.MULTILINE)

_MOST_ENTRIES = 2_000_000
"""Entries of folders between two trees: a small repository can name as many as it likes, by naming a folder twice.

Chosen by hand: over 20 times the files of Linux.
"""


def open_repository(path: Path) -> pygit2.Repository | None:
    """Return the repository at ``path``, which is a working tree or bare; None if it is in no repository.

    Raises SourceError for a subfolder of a repository, and for a repository that can't be opened.
    """
    import pygit2

    place = pygit2.discover_repository(str(path))
    if place is None:
        return None
    try:
        repository = pygit2.Repository(place)
    except pygit2.GitError as error:
        raise SourceError(f"The repository {path} can't be opened: {error}.", "Check it with git fsck.") from error
    root = Path(repository.workdir or repository.path)
    if root.resolve() != path.resolve() and Path(repository.path).resolve() != path.resolve():
        raise SourceError(
            f"{path} is a subfolder of the repository {root}.", "Name the repository itself: a scan reads all of it."
        )
    return repository


@dataclass(frozen=True, slots=True)
class Signature:
    """The name and email of a commit's author, as written."""

    raw_name: bytes
    raw_email: bytes


@dataclass(frozen=True, slots=True)
class OddCommit:
    """A commit that libgit2 refuses, for a time that is none or overflows, or a person without an email.

    Its fields are those of libgit2's commits, as far as they are read.
    """

    id: pygit2.Oid
    tree: pygit2.Tree
    parent_ids: list[pygit2.Oid]
    commit_time: int
    author: Signature
    message_encoding: str | None


def commit_of(repository: pygit2.Repository, id_: pygit2.Oid | str) -> Commit:
    """Return a commit; raises KeyError if the repository lacks it, or its tree."""
    import pygit2

    try:
        return repository[id_].peel(pygit2.Commit)
    except pygit2.GitError:
        oid = pygit2.Oid(hex=str(id_))
        return _odd_commit(repository, oid, repository.odb.read(oid)[1])


def _odd_commit(repository: pygit2.Repository, oid: pygit2.Oid, content: bytes) -> OddCommit:
    import pygit2

    head = content.partition(b"\n\n")[0]
    tree, author, time = _TREE.search(head), _AUTHOR.search(head), _TIME.search(head)
    if tree is None:
        raise KeyError(str(oid))
    parents = [pygit2.Oid(hex=parent.decode()) for parent in _PARENT.findall(head)]
    held = repository[tree[1].decode()].peel(pygit2.Tree)
    seconds = int(time[1]) if time else _LATEST  # to come, so that another counts
    signature = Signature(*(part.strip() for part in author.groups(b""))) if author else Signature(b"", b"")
    return OddCommit(oid, held, parents, seconds, signature, None)


def first_parents(repository: pygit2.Repository, revision: str = "HEAD") -> list[Commit]:
    """Return the commits from ``revision`` back along first parents, the oldest first.

    Raises SourceError if the repository has no commit, or none of that name.
    """
    import pygit2

    try:
        if repository.is_empty or (revision == "HEAD" and repository.head_is_unborn):
            raise SourceError(f"The repository {repository.path} has no commit.", "Commit something first.")
        at = (
            repository.head.target
            if revision == "HEAD"
            else repository.revparse_single(revision).peel(pygit2.Commit).id
        )
        commit: Commit | None = commit_of(repository, at)
    except (KeyError, ValueError, pygit2.GitError) as error:
        raise SourceError(
            f"The repository {repository.path} has no revision {revision!r}.", "Name a commit, a branch or a tag."
        ) from error
    line = []
    while commit is not None:
        line.append(commit)
        commit = _parent(repository, commit)
    return line[::-1]


def monotone_times(commits: Sequence[Commit]) -> list[str]:
    """Return the times of commits, oldest first, as ISO 8601 in UTC, none earlier than the one before it.

    A time that is yet to come counts as that of the commit before, of the first commits as the first that isn't.
    """
    seconds = [min(max(commit.commit_time, _EARLIEST), _LATEST) for commit in commits]
    come = [time for time in seconds if not _is_to_come(time)] or seconds
    latest = accumulate((come[0] if _is_to_come(time) else time for time in seconds), max)
    return [(_EPOCH + timedelta(seconds=time)).isoformat() for time in latest]


def impossible_times(commits: Sequence[Commit], times: list[str]) -> int:
    """Return how many commits count as made at another time, since theirs is to come or that of a clock never set."""
    pairs = zip((commit.commit_time for commit in commits), times, strict=True)
    return sum(_is_to_come(own) or (0 <= own < _DAY and not time.startswith("1970-01-01")) for own, time in pairs)


def _is_to_come(seconds: int) -> bool:
    return seconds > datetime.now(UTC).timestamp() + _DAY


def border_of(repository: pygit2.Repository) -> frozenset[str]:
    """Return the ids of the commits whose parents a shallow clone lacks; none of a whole repository."""
    if not repository.is_shallow:
        return frozenset()
    place = Path(repository.path)
    with suppress(OSError):
        place /= (place / "commondir").read_text().strip()  # of a linked working tree
    try:
        return frozenset((place / "shallow").read_text().split())
    except OSError:
        return frozenset()


def submodules_of(repository: pygit2.Repository, tree: pygit2.Tree, largest: int) -> list[str]:
    """Return the paths of the submodules that .gitmodules names, whose contents are in repositories of their own."""
    entry = _entries(repository, tree.id).get(".gitmodules")
    content = blob_of(repository, entry[1], largest) if entry else None
    return [well_formed(path.decode("utf-8", "replace")) for path in _SUBMODULE.findall(content or b"")]


def changed_files(
    repository: pygit2.Repository, old: pygit2.Tree | None, new: pygit2.Tree | None
) -> Iterator[tuple[str, pygit2.Oid | None]]:
    """Yield the paths of the files that differ between two trees, with the blob in ``new``, None for a removed file.

    Submodules and links are left out; bytes of a name that aren't UTF-8 are written as ``\\xff``. Raises SourceError if
    the trees name millions of files.
    """
    pending: list[tuple[str, pygit2.Oid | None, pygit2.Oid | None]] = [
        ("", old.id if old else None, new.id if new else None)
    ]
    visited = 0
    while pending:
        prefix, *ids = pending.pop()
        before, after = (_entries(repository, tree) for tree in ids)
        visited += len(before) + len(after) + 1
        if visited > _MOST_ENTRIES:
            raise SourceError(f"A tree of {repository.path} has over {_MOST_ENTRIES:,} entries.", "Scan a smaller one.")
        for name in before.keys() | after.keys():
            was, now = before.get(name), after.get(name)
            if was == now:
                continue
            trees = _of_kind(was, stat.S_IFDIR), _of_kind(now, stat.S_IFDIR)
            files = _of_kind(was, stat.S_IFREG), _of_kind(now, stat.S_IFREG)
            if trees != (None, None):
                pending.append((f"{prefix}{name}/", *trees))
            if files != (None, None):
                yield prefix + name, files[1]


def blob_of(repository: pygit2.Repository, blob: pygit2.Oid, largest: int) -> bytes | None:
    """Return the bytes of a blob; None if there are more than ``largest``, or it is missing, as in a partial clone."""
    try:
        _, size = repository.odb.read_header(blob)
        return repository.odb.read(blob)[1] if size <= largest else None
    except KeyError:
        return None


def folder_files(folder: Path) -> Iterator[str]:
    """Yield the paths of the regular files below a folder, relative to it, with ``/``.

    Links are left out, as is what .gitignore files name.
    """
    for path in own_files(folder, lambda name: name != ".git"):
        with suppress(OSError):
            if stat.S_ISREG((folder / path).lstat().st_mode):
                yield path


def content_of(path: Path, limits: Limits) -> bytes | None:
    """Return the bytes of a file; None if there are more than the limit, or it can't be read."""
    try:
        with path.open("rb") as file:
            data = file.read(limits.bytes_read + 1)
    except OSError:
        return None
    return data if len(data) <= limits.bytes_read else None


def parent_tree(repository: pygit2.Repository, commit: Commit) -> pygit2.Tree | None:
    """Return the tree of a commit's first parent; None for the first commit."""
    parent = _parent(repository, commit)
    return parent.tree if parent is not None else None


def _parent(repository: pygit2.Repository, commit: Commit) -> Commit | None:
    try:
        return commit_of(repository, commit.parent_ids[0]) if commit.parent_ids else None
    except KeyError:  # beyond the border of a shallow clone
        return None


def _of_kind(entry: tuple[int, pygit2.Oid] | None, kind: int) -> pygit2.Oid | None:
    return entry[1] if entry and stat.S_IFMT(entry[0]) == kind else None


def _entries(repository: pygit2.Repository, tree: pygit2.Oid | None) -> dict[str, tuple[int, pygit2.Oid]]:
    """Return the modes and ids of the folders and files in a folder, by name."""
    import pygit2

    entries = {}
    stored = repository.get(tree) if tree is not None else None
    for entry in stored.peel(pygit2.Tree) if stored is not None else ():
        mode, name = int(entry.filemode), (entry.raw_name or b"").decode(errors="backslashreplace")
        if stat.S_IFMT(mode) in (stat.S_IFDIR, stat.S_IFREG):
            entries[name] = mode, entry.id
    return entries
