"""Scan a repository, at one revision or over its history, into facts and the periods in which they held."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.domains.memory.scan.authors import Authorship
from pipeline.domains.memory.scan.folder import content_of, folder_files
from pipeline.domains.memory.scan.history import (
    blob_of,
    changed_files,
    first_parents,
    monotone_times,
    open_repository,
)
from pipeline.domains.memory.scan.parse_process import FileParser
from pipeline.domains.memory.scan.records import Scan, Triple
from pipeline.domains.memory.scan.state import State
from pipeline.errors import SourceError
from pipeline.knowledge.check import canonical_time
from pipeline.knowledge.clock import now
from pipeline.limits import DEFAULT_LIMITS, Limits
from pipeline.progress import Progress

if TYPE_CHECKING:
    import pygit2


def scan(
    path: str | Path,
    *,
    scope: str,
    revision: str = "HEAD",
    history: bool = False,
    newest: int | None = None,
    known_time: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Scan:
    """Return the entities and facts of a repository at a revision, or of a plain folder as it is.

    With ``history`` every commit along first parents is read, or the ``newest`` so many: a fact holds from the time of
    the commit that brought it to that of the commit that removed it. Without, all facts hold from the time of the
    revision on. Times are those at which commits were committed, in UTC, never earlier than the one before; of commits
    at the same time the last counts. Facts at a commit depend on its tree and on the authors up to it alone, so that a
    scan of that revision gives the same. ``known_time`` is the time of a plain folder, by default now.

    Submodules, links, binary files and those over ``limits.bytes_read`` are left out. Raises SourceError if the path
    doesn't exist, is a subfolder of a repository, or has no such revision.
    """
    place = Path(path).expanduser()
    if not place.is_dir():
        raise SourceError(f"{path} is no folder.", "Name a repository or a folder with source code.")
    repository = open_repository(place)
    progress = progress or Progress()
    if repository is None:
        return _scan_folder(place, scope, canonical_time(known_time, "known_time") or now(), limits, progress)
    commits = first_parents(repository, revision)
    visited = (newest or len(commits)) if history else 1
    return _scan_commits(repository, str(place), commits, visited, scope, limits, progress)


def facts_at(scan: Scan, as_of: str) -> set[Triple]:
    """Return the facts that held at a time."""
    time = canonical_time(as_of, "as_of") or now()
    return {
        span.triple
        for span in scan.spans
        if span.valid_at <= time and (span.invalid_at is None or time < span.invalid_at)
    }


def _scan_commits(
    repository: pygit2.Repository,
    name: str,
    commits: list[pygit2.Commit],
    visited: int,
    scope: str,
    limits: Limits,
    progress: Progress,
) -> Scan:
    """Return the scan of the last ``visited`` of the commits; those before them tell the authors alone."""
    import pygit2

    times = monotone_times(commits)
    authorship = Authorship(repository)
    changes: dict[str, pygit2.Oid | None] = {}
    tree: pygit2.Tree | None = None
    with FileParser(limits) as parser, progress.stage("scan", len(commits)) as advance:
        state = State[pygit2.Oid](
            scope,
            lambda blob: blob_of(repository, blob, limits.bytes_read),
            parser.parse,
            authorship,
            tracked=visited > 1,
        )
        for number, commit in enumerate(commits, 1):
            changed = dict(changed_files(repository, tree, commit.tree))
            authorship.add(commit, changed)
            changes.update(changed)
            tree = commit.tree
            is_last = number == len(commits)
            if is_last or (number > len(commits) - visited and times[number] != times[number - 1]):
                state.advance(changes, times[number - 1])
                changes = {}
            advance(1)
    return Scan(name, str(commits[-1].id), times[-1], state.timeline.entities(), state.timeline.spans())


def _scan_folder(folder: Path, scope: str, time: str, limits: Limits, progress: Progress) -> Scan:
    with FileParser(limits) as parser, progress.stage("scan") as advance:
        state = State[str](scope, lambda path: content_of(folder / path, limits), parser.parse)
        paths = list(folder_files(folder))
        state.advance(dict(zip(paths, paths, strict=True)), time)
        advance(len(paths))
    return Scan(str(folder), None, time, state.timeline.entities(), state.timeline.spans())
