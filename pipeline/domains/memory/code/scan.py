"""Scan a repository, at one revision or over its history, into facts and the periods in which they held."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Mapping, Set
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from pipeline.domains.memory.code import files as sources
from pipeline.domains.memory.code.authors import Authorship
from pipeline.domains.memory.code.facts import facts_of
from pipeline.domains.memory.code.findings import Findings, Scan, Strength
from pipeline.domains.memory.code.index import Index
from pipeline.domains.memory.code.parse import FileParser, ParsedFile, is_binary, texts_of
from pipeline.domains.memory.code.paths import MAILMAP, decided_by, is_scanned
from pipeline.domains.memory.records import ORIGIN, SCANNED, TEXT, Entity, EntityKey, Fact
from pipeline.domains.memory.versions import Triple
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits
from pipeline.files.guard import name_in_utf_8
from pipeline.knowledge.clock import now
from pipeline.progress import Progress
from pipeline.text.prose import counted, listed

if TYPE_CHECKING:
    import pygit2

_MOST_PARSED = 20_000
"""Parsed files kept for contents that come again: a large tree's, some hundred megabytes at most. Chosen by hand."""

_MOST_NAMED = 5  # submodules in a remark; chosen by hand

_Blob = TypeVar("_Blob", bound=Hashable)


def scan(
    path: str | Path,
    *,
    scope: str,
    revision: str = "HEAD",
    history: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> Scan:
    """Return the entities and facts of a repository at a revision, or of a plain folder as it is.

    With ``history`` every commit along first parents is read: a fact holds from the time of the commit that brought it
    to that of the commit that removed it. Without, all facts hold from the time of the revision on; those of a plain
    folder from now on. Times are those at which commits were committed, in UTC, never earlier than the one before; of
    commits at the same time the last counts. Facts at a commit depend on its tree and on the authors up to it alone, so
    that a scan of that revision gives the same.

    Submodules, links, binary files and those over ``limits.bytes_read`` are left out. Of a shallow clone, nobody is the
    author of what its oldest commits hold. Raises SourceError if the path doesn't exist, is a subfolder of a
    repository, or has no such revision.
    """
    place = Path(path).expanduser()
    if not place.is_dir():
        raise SourceError(f"{path} is no folder.", "Name a repository or a folder with source code.")
    progress = progress or Progress()
    if (repository := sources.open_repository(place)) is not None:
        commits = sources.first_parents(repository, revision)
        return _scan_commits(repository, str(place), commits, scope, limits, progress, history=history)
    time = now()
    with FileParser(limits) as parser, progress.stage("scan") as advance:
        state = State[str](scope, lambda file: sources.content_of(place / file, limits), parser.parse)
        paths = {name_in_utf_8(path): path for path in sources.folder_files(place)}
        state.advance(paths, time)
        advance(len(paths))
    return state.scan(str(place), None, time)


def _scan_commits(
    repository: pygit2.Repository,
    name: str,
    commits: list[sources.Commit],
    scope: str,
    limits: Limits,
    progress: Progress,
    *,
    history: bool,
) -> Scan:
    """Return the scan of all commits, or of the last: of those before it only the authors are read."""
    import pygit2

    times = sources.monotone_times(commits)
    border = sources.border_of(repository)
    authorship = Authorship(repository, border)
    changes: dict[str, pygit2.Oid | None] = {}
    tree: pygit2.Tree | None = None
    with FileParser(limits) as parser, progress.stage("scan", len(commits)) as advance:
        read = partial(sources.blob_of, repository, largest=limits.bytes_read)
        state = State[pygit2.Oid](scope, read, parser.parse, authorship, tracked=history)
        for number, commit in enumerate(commits, 1):
            changed = dict(sources.changed_files(repository, tree, commit.tree))
            authorship.add(commit, changed)
            changes.update(changed)
            tree = commit.tree
            if number == len(commits) or (history and times[number] != times[number - 1]):
                state.advance(changes, times[number - 1])
                changes = {}
            advance(1)
    remarks = _remarks(repository, commits, times, border, limits)
    return state.scan(name, str(commits[-1].id), times[-1], remarks)


def _remarks(
    repository: pygit2.Repository, commits: list[sources.Commit], times: list[str], border: Set[str], limits: Limits
) -> tuple[str, ...]:
    """Return what of a repository couldn't be read, or is read otherwise than it stands there."""
    remarks = []
    if border:
        remarks.append("It is a shallow clone: authors and times of what is older than its commits aren't known.")
    if wrong := sources.impossible_times(commits, times):
        remarks.append(f"{counted(wrong, 'commit')} with an impossible time, read as made when the one before was.")
    if submodules := sources.submodules_of(repository, commits[-1].tree, limits.bytes_read):
        names = ", ".join(listed(submodules, _MOST_NAMED))
        remarks.append(f"Submodules aren't scanned, but may be by themselves: {names}.")
    return tuple(remarks)


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
        # in order: of two states of an entity in one commit, as the emails of a person, the last counts
        files = {path: self._file(path) for path in sorted(changed)}
        keys = self._index.update(files)
        renamed = MAILMAP in files
        if self._authorship is not None:
            if renamed:
                mailmap = files[MAILMAP]
                self._authorship.set_mailmap(mailmap.text if mailmap else "")
            keys |= self._index.set_people(self._authorship.people())
        for path in sorted(files.keys() | map(str, self._index.dependents(keys))):
            self._find_facts(path)
        if self._authorship is not None:
            for path in sorted(files.keys() | self._blobs.keys()) if renamed else files:
                authors = self._authorship.findings(path, self._scope) if self._index.peek(path) else None
                self.timeline.replace(("authors", path), authors)
        self.timeline.close(time)

    def scan(self, name: str, commit: str | None, time: str, remarks: tuple[str, ...] = ()) -> Scan:
        """Return all that was found in a repository or folder of a name."""
        evidence = f"commit {commit}" if commit else f"folder {name}"
        facts = self.timeline.facts(self._scope, evidence)
        return Scan(name, commit, time, evidence, self._entities(), facts, remarks)

    def _entities(self) -> tuple[Entity, ...]:
        """Return all entities that occurred, by id; the source files and definitions that are there have their text."""
        files = (file for path in self._blobs if (file := self._index.peek(path)) and file.language)
        texts = {EntityKey(self._scope, *named): text for file in files for *named, text in texts_of(file)}
        return tuple(
            replace(entity, metadata={**entity.metadata, TEXT: text}) if (text := texts.get(entity.key)) else entity
            for entity in self.timeline.entities()
        )

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

    def _find_facts(self, path: str) -> None:
        if (file := self._index.peek(path)) is None:
            self._index.forget(path)
            self.timeline.replace(path, None)
            return
        with self._index.recording(path):
            self.timeline.replace(path, facts_of(file, self._index, self._scope))


class Timeline:
    """Collects findings by unit, a file for example, and closes a state at a time.

    A fact in the findings of two units holds as long as either has it, with the greater strength.
    """

    def __init__(self) -> None:
        self._units: dict[Hashable, Mapping[Triple, Strength]] = {}
        self._strengths: dict[Triple, Counter[Strength]] = defaultdict(Counter)
        self._touched: set[Triple] = set()
        self._open: dict[Triple, tuple[Strength, str]] = {}
        self._closed: list[tuple[Triple, str, str | None, Strength]] = []
        self._entities: dict[EntityKey, Entity] = {}

    def replace(self, unit: Hashable, findings: Findings | None) -> None:
        """Put the findings of a unit in place of its former ones; None for a unit that is gone."""
        old = self._units.pop(unit, {})
        new: Mapping[Triple, Strength] = findings.facts if findings else {}
        for facts, others, change in ((old, new, -1), (new, old, 1)):
            for triple, strength in facts.items():
                if others.get(triple) != strength:
                    self._strengths[triple][strength] += change
                    self._touched.add(triple)
        if findings is not None:
            self._units[unit] = new
            self._update(findings.entities)

    def close(self, time: str) -> None:
        """End the state: facts that begin or end with it do so at ``time``, which is later than that of the last."""
        for triple in self._touched:
            strength = max(+self._strengths[triple], default=None)
            if strength is None:
                del self._strengths[triple]
            former = self._open.get(triple)
            if former and former[0] == strength:
                continue
            if former:
                self._closed.append((triple, former[1], time, former[0]))
                del self._open[triple]
            if strength:
                self._open[triple] = strength, time
        self._touched.clear()

    def facts(self, scope: str, evidence: str) -> tuple[Fact, ...]:
        """Return all facts with their periods, by triple and time."""
        opened = ((triple, since, None, strength) for triple, (strength, since) in self._open.items())
        periods = sorted((*self._closed, *opened), key=lambda period: period[:2])
        origin = {ORIGIN: SCANNED}
        return tuple(
            Fact(*triple, since, end, *strength, scope, (evidence,), evidence if end else "", metadata=origin)
            for triple, since, end, strength in periods
        )

    def entities(self) -> tuple[Entity, ...]:
        """Return all entities that occurred, by id, each in its latest state, with its latest description."""
        return tuple(sorted(self._entities.values(), key=lambda entity: entity.id))

    def _update(self, entities: Mapping[EntityKey, Entity]) -> None:
        for key, entity in entities.items():
            former = self._entities.get(key)
            if former is not None and former is not entity and former != entity:
                entity = replace(
                    entity,
                    description=entity.description or former.description,
                    aliases=entity.aliases or former.aliases,
                    metadata={**former.metadata, **entity.metadata},
                )
            self._entities[key] = entity
