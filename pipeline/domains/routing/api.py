"""Projects: a graph of projects and the searches over it, as one object."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from pipeline.domains.routing.folders import ProjectFolders
from pipeline.domains.routing.index import Indexed, index
from pipeline.domains.routing.learn import usage
from pipeline.domains.routing.learn.log import Log
from pipeline.domains.routing.learn.notes import read_sources
from pipeline.domains.routing.learn.proposals import Decisions, decide, propose
from pipeline.domains.routing.learn.usage import LearnedWeight
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.registry import Registry, read_registry
from pipeline.domains.routing.router import Router
from pipeline.domains.routing.schema import EdgeKey, Project, Relation, RelationType, Step, relation_type
from pipeline.domains.routing.sync import Announce, RegistryPlan, sync
from pipeline.progress import Progress


class Projects(Router):
    """The projects of a graph, by default that of the setting ``routing.graph``: related, indexed and searched.

    Projects are named by their ids, relations by ``(source, type, target)`` with the type in any case. All methods but
    ``sync`` raise GraphError if there is no graph of that name. Thread-safe.

    Example::

        from hoprank import HopRank, Projects

        with HopRank.connect() as hoprank:
            projects = Projects(hoprank)
            projects.sync("registry.yaml")
            projects.index()
            projects.link("shop", "uses", "dojo", evidence="its worlds run on dojo")
            for item in projects.search("How are hooks called?", source="shop").items:
                print(item.metadata["project"], item.metadata["document"])
            projects.used("How are hooks called?", "shop", "dojo", rank=2)
    """

    @property
    def graph(self) -> ProjectGraph:
        """The graph: its projects and relations, to read and to write one by one."""
        return ProjectGraph.open(self._hoprank, self.name, create=False)

    def holding(self, path: Path | str) -> str:
        """Return the id of the project whose path holds a file or folder; of nested ones the deepest, "" if none does.

        Links are resolved; of projects in the same folder it is one's own, then the first by id.
        """
        return ProjectFolders(self.graph.list_nodes()).holding(Path(path).absolute())

    def sync(
        self,
        registry: Path | str | Registry,
        *,
        dry_run: bool = False,
        drop: bool = False,
        announce: Announce = lambda _: None,
    ) -> RegistryPlan:
        """Make the graph hold exactly the projects of a registry, a YAML file, and the relations that it declares.

        See :func:`pipeline.domains.routing.sync.sync`. Raises SourceError if the file is malformed.
        """
        stated = registry if isinstance(registry, Registry) else read_registry(Path(registry))
        return sync(self._hoprank, self.name, stated, dry_run=dry_run, drop=drop, announce=announce)

    def index(
        self, projects: Iterable[str] = (), *, force: bool = False, progress: Progress | None = None
    ) -> list[Indexed]:
        """Bring the corpora of projects, of all by default, to hold the files in their paths.

        See :func:`pipeline.domains.routing.index.index`.
        """
        return index(self._hoprank, self.graph, tuple(projects), force=force, progress=progress)

    def link(
        self,
        source: str,
        type: str,  # noqa: A002 - the field's name
        target: str,
        *,
        weight: float | None = None,
        evidence: str | None = None,
    ) -> Relation:
        """Relate a project to another or to a domain; return the relation. An existing one keeps omitted values."""
        kind, graph = RelationType.parse(type), self.graph
        before = graph.get_edge(source, target, kind) or Relation(source, target, kind)
        weight = before.weight if weight is None else weight
        relation = Relation(source, target, kind, weight, evidence=before.evidence if evidence is None else evidence)
        graph.add_edge(relation)
        return graph.get_edge(source, target, kind) or relation

    def unlink(self, source: str, type: str, target: str) -> Relation | None:  # noqa: A002
        """Remove a relation and return it; one that the registry declares comes back with the next sync."""
        kind, graph = RelationType.parse(type), self.graph
        removed = graph.get_edge(source, target, kind)
        graph.remove_edge(source, target, kind)
        return removed

    def related(self, project: str, types: Iterable[str] = ()) -> list[tuple[Project, Relation]]:
        """Return the projects to which relations of a project lead, the strongest first; all types by default."""
        kinds = list(map(RelationType.parse, types))
        return self._hoprank.read_graph(self.name, lambda graph: ProjectGraph(graph).get_related(project, kinds))

    def traverse(self, project: str, depth: int | None = None, types: Iterable[str] = ()) -> list[Step]:
        """Return the projects around a project, the nearest first, each with the way to it."""
        kinds, depth = list(map(RelationType.parse, types)), self.settings.depth if depth is None else depth
        return self._hoprank.read_graph(self.name, lambda graph: ProjectGraph(graph).traverse(project, depth, kinds))

    def propose(
        self,
        notes: Iterable[Path | str] = (),
        *,
        source: str = "",
        accept: Iterable[str] = (),
        reject: Iterable[str] = (),
        auto: bool = False,
        rejected: bool = False,
        progress: Progress | None = None,
    ) -> Decisions:
        """Return the relations that files, notes and the log speak for, if one is kept; accept and reject some by id.

        ``source`` is the project of notes that name none. ``auto`` accepts all of at least ``routing.auto_accept``;
        ``rejected`` considers those alone that were rejected before.
        """
        graph = self.graph
        nodes = graph.list_nodes()
        sources = read_sources(map(Path, notes), nodes, source)
        if (log := Log.of(self._hoprank.settings)).is_kept:
            sources = replace(sources, log=tuple(log.read(datetime.now(UTC), self.name)))
        with (progress or Progress()).stage("read", len(nodes)) as done:
            found = propose(graph, sources, least=self.settings.proposed, rejected=rejected, done=done)
        sure = self.settings.auto_accept if auto else None
        decisions = decide(graph, found, datetime.now(UTC), accepted=accept, rejected=reject, sure=sure)
        return decisions._replace(unassigned=sources.unassigned, skipped=sources.skipped)

    def used(
        self,
        question: str,
        source: str,
        project: str,
        rank: int,
        *,
        useful: bool = True,
        type: str | None = None,  # noqa: A002
    ) -> list[LearnedWeight]:
        """Record that an answer of ``project`` to a question of ``source`` was of use, or wasn't; return the weights.

        ``rank`` is the place of the answer, from 1; ``type`` that of the relation over which it came, all by default.
        """
        kind, now = relation_type(type) if type else None, datetime.now(UTC)
        return usage.record_use(self.graph, question, source, project, rank, now, useful=useful, type=kind)

    def explain(self, source: str, type: str, target: str) -> LearnedWeight:  # noqa: A002
        """Return the weight of a relation now, and the judgements on answers that it follows from."""
        return usage.explain(self.graph, EdgeKey.parse(source, type, target), datetime.now(UTC))
