"""A routed search: question -> evidence -> route -> a search of each chosen corpus -> one ranking."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pipeline.api import HopRank
from pipeline.db.catalogue import check_graph, get_graph
from pipeline.db.client import batches
from pipeline.db.corpus import read_whole
from pipeline.domains.routing import route as steps
from pipeline.domains.routing.folders import ProjectFolders, working_folder
from pipeline.domains.routing.learn.log import Log
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.route import Evidence, Mode, Nearness, Route
from pipeline.domains.routing.schema import Project, Relation, unknown_project
from pipeline.domains.routing.settings import RoutingSettings
from pipeline.errors import CorpusError, GraphError, QuestionError, did_you_mean
from pipeline.records import Fingerprint, Hit, Vector
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.look import LookedAt, look
from pipeline.retrieve.question import check_question, remarks
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem, unknown

# Corpora that are searched at once. Chosen by hand: with more, more searches start that can't enter the result.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class State:
    """The ``known`` projects of a version of a graph, the embeddings of their ``summaries``, by id, and relations.

    Those in ``projects``, by id, have a corpus that can be searched, which is in ``corpora``; ``unindexed`` are the
    others, each with the reason.
    """

    version: tuple[str, int]
    known: tuple[Project, ...]
    summaries: Mapping[str, Vector]
    relations: tuple[Relation, ...]
    projects: Mapping[str, Project] = field(default_factory=dict)
    corpora: Mapping[str, LookedAt] = field(default_factory=dict)
    unindexed: Mapping[str, str] = field(default_factory=dict)


class StateReader:
    """Reads the state of a graph in one round trip, and the graph itself only after a change. Thread-safe."""

    def __init__(self, hoprank: HopRank, name: str) -> None:
        self._hoprank = hoprank
        self._name = name
        self._kept: State | None = None
        self._vectors: Mapping[str, Vector] = {}
        self._lock = threading.Lock()

    def read(self) -> State:
        """Return the state; raises GraphError if the graph doesn't exist or has no project."""
        return read_whole(self._read)

    def _read(self) -> State:
        rows = self._hoprank.client.read("routing_state", name=self._name)
        if not rows:
            raise GraphError(f"There is no graph {self._name!r}.", "Make it: hoprank route sync registry.yaml.")
        kept = self._graph((rows[0]["id"], rows[0]["version"]))
        if not kept.known:
            raise GraphError(
                f"The graph {self._name!r} holds no project.", "Write them into a registry: hoprank route sync FILE."
            )
        by_name = {name: LookedAt(*looked_at) for name, *looked_at in rows[0]["corpora"]}
        projects: dict[str, Project] = {}
        corpora: dict[str, LookedAt] = {}
        unindexed: dict[str, str] = {}
        for project in kept.known:
            corpus = by_name.get(project.corpus)
            if corpus is None:
                unindexed[project.id] = "there is no index yet"
            elif not self._hoprank.embedder.identity.is_comparable(Fingerprint.of(corpus.fingerprint)):
                unindexed[project.id] = "another model made its index"
            else:
                projects[project.id], corpora[project.id] = project, corpus
        return replace(kept, projects=projects, corpora=corpora, unindexed=unindexed)

    def _graph(self, version: tuple[str, int]) -> State:
        with self._lock:
            kept = self._kept
        if kept is None or kept.version != version:
            stored = get_graph(self._hoprank.client, self._name)
            graph = ProjectGraph(self._hoprank.graph_of(stored))
            projects = tuple(replace(one, corpus=one.corpus or one.id) for one in graph.list_nodes())
            # Embedded as questions: passages would load the whole model, where a question takes its export.
            embed, before = self._hoprank.embedder.embed_query, self._vectors
            texts = {project.id: project.summary for project in projects if project.summary}
            self._vectors = vectors = {
                text: before[text] if text in before else np.asarray(embed(text), dtype=np.float32)
                for text in dict.fromkeys(texts.values())
            }
            summaries = {project: vectors[text] for project, text in texts.items()}
            kept = State((stored.id, stored.version), projects, summaries, tuple(graph.get_edges()))
            check_graph(self._hoprank.client, stored, unchanged=True)
            with self._lock:
                self._kept = kept
        return kept


class Router:
    """Searches the projects of a graph, by default that of the setting ``routing.graph``. Thread-safe."""

    def __init__(self, hoprank: HopRank, name: str | None = None) -> None:
        self._hoprank = hoprank
        self.settings = hoprank.settings.section(RoutingSettings)
        self.name = name or self.settings.graph
        self._state = StateReader(hoprank, self.name)
        self._pool = ThreadPoolExecutor(_AT_ONCE, "hoprank-route")

    def search(
        self,
        question: str,
        *,
        source: str = "",
        here: Path | str | None = None,
        projects: Sequence[str] = (),
        mode: Mode | str | None = None,
        top_k: int = 10,
        filters: Mapping[str, Any] | None = None,
        leg: Leg | str = Leg.WHOLE,
        explain: bool = False,
        min_relevance: float | None = None,
    ) -> RetrieverResult:
        """Return the ``top_k`` passages of all searched projects that answer a question best.

        ``source`` is the project that asks, if any does; without one, that whose path holds the folder ``here``, where
        the graph chooses. ``projects`` searches exactly these, in place of the few that
        the graph chooses: without a ``mode`` it is ``oracle`` if some are named, else ``graph``. The metadata of each
        hit has its ``project``, ``corpus``, ``route`` (the reasons) and ``relation``; that of the result has the route
        as ``routing``. The question is embedded once. ``min_relevance`` is that of a search of one corpus.

        If those that ``graph`` chose find nothing, or nothing of that relevance, all are searched; the route then says
        so. Raises QuestionError, FilterError, and GraphError if there is no graph, a project is unknown, or none has an
        index.

        Example::

            for item in projects.search("How are hooks called?", source="shop").items:
                print(item.metadata["project"], item.metadata["route"], item.content)
        """
        with remarks() as warnings:
            question = check_question(question)
        if top_k < 1:
            raise QuestionError(f"top_k is {top_k}.", "Ask for 1 passage or more.")
        mode = mode or (Mode.ORACLE if projects else Mode.GRAPH)
        vector, route = self._route(question, mode, source, projects, here)

        def ask(one: Evidence) -> RetrieverResult | None:
            try:
                return self._hoprank.search(
                    question,
                    vector,
                    top_k,
                    filters,
                    corpus=one.project.corpus,
                    leg=leg,
                    explain=explain,
                    min_relevance=min_relevance,
                )
            except CorpusError:
                return None  # The corpus was dropped after the state was read.

        found = self._search(route, ask, top_k)
        nothing = not any(result.hits for result in found.values())
        if route.mode is Mode.GRAPH and nothing and len(route.chosen) < len(route.considered):
            names = ", ".join(one.project.id for one in route.chosen)
            route = replace(route, chosen=route.considered, widened=f"{names} found nothing")
            found = self._search(route, ask, top_k)
        result = _result(route, found, top_k, vector, leg)
        warnings += unknown(result.metadata, self._hoprank.settings.retrieve.known_relevance)
        return result.warned(warnings)

    def known(self) -> tuple[Project, ...]:
        """Return the projects of the graph."""
        return self._state.read().known

    def _route(
        self, question: str, mode: Mode | str, source: str, projects: Sequence[str], here: Path | str | None = None
    ) -> tuple[Sequence[float], Route]:
        """Return the vector of a question, which is embedded while the state is read, and its route."""
        reading = self._pool.submit(self._state.read)
        vector = self._hoprank.embedder.embed_query(question)
        state = reading.result()
        mode = _checked(mode, source, projects, state)
        stands_in = str(Path(here).absolute()) if here and not source and mode is Mode.GRAPH else ""
        source = source or (ProjectFolders(state.known).holding(stands_in) if stands_in else "")
        evidence = self._evidence(question, vector, state, source if mode is Mode.GRAPH else None)
        if not evidence:
            raise GraphError("No project has an index that can be searched.", "Make them: hoprank route index.")
        chosen, widened = evidence, ""
        if mode is Mode.GRAPH:
            few = steps.choose(evidence, steps.COVERAGE, steps.MOST)
            chosen, widened = steps.widen(evidence, few, steps.MARGIN)
        elif mode is Mode.ORACLE:
            chosen = [one for one in evidence if one.project.id in projects]
        stands_in = stands_in if source else ""
        return vector, Route(mode, source, tuple(chosen), tuple(evidence), state.unindexed, widened, stands_in)

    def _evidence(self, question: str, vector: Sequence[float], state: State, source: str | None) -> list[Evidence]:
        """Weigh the evidence for a question of ``source``; None: by passages alone, without the graph."""
        seen = look(self._hoprank.client, state.corpora.values(), question, vector)
        known = steps.knowledge_of_names(seen.names, len(state.corpora))
        near = {
            project: Nearness(
                max(seen.cosines.get(corpus.id, ()), default=-1.0),
                float(np.dot(state.summaries[project], vector)) if project in state.summaries else 0.0,
                known.get(corpus.id, 0.0),
            )
            for project, corpus in state.corpora.items()
        }
        found = steps.leads(source, state.relations, self.settings.depth) if source else {}
        return steps.weigh(list(state.projects.values()), near, question, source, found)

    def _search(
        self, route: Route, ask: Callable[[Evidence], RetrieverResult | None], top_k: int
    ) -> dict[str, RetrieverResult]:
        """Search the chosen projects, until the first hit of no further one can enter the best ``top_k``."""
        found: dict[str, RetrieverResult] = {}
        for batch in batches(route.chosen, _AT_ONCE):
            if can_enter(batch[0].share, _merged(route, found, top_k), top_k):
                results = zip(batch, self._pool.map(ask, batch), strict=True)
                found.update((one.project.id, result) for one, result in results if result)
        return found


class MergedHit(NamedTuple):
    """A hit with its project; its rank and score are those of the merged ranking."""

    project: str
    hit: Hit


def search_routed(
    hoprank: HopRank, question: str, *, source: str | None = None, projects: Sequence[str] = (), **options: Any
) -> RetrieverResult:
    """Search the projects of the graph of the settings, for ``hoprank search --routing``; see :meth:`Router.search`.

    Without a ``source``, the project whose path holds the working directory asks; with an empty one, none does. If a
    log is kept, it gets a line with the project that asks, and the searched ones that the question or the caller names.
    """
    router, here = Router(hoprank), working_folder() if source is None else None
    result = router.search(question, source=source or "", here=here, projects=projects, **options)
    log = Log.of(hoprank.settings)
    if log.is_kept:
        known, routing = router.known(), result.metadata["routing"]
        opened = routing["from"] or (ProjectFolders(known).holding(here) if here else "")
        searched = {one["project"] for one in routing["searched"]}
        named = [one.id for one in known if one.id in searched and steps.names_in(question, one)]
        log.add(router.name, opened, [*projects, *named], datetime.now(UTC))
    return result


def _checked(wanted: Mode | str, source: str, projects: Sequence[str], state: State) -> Mode:
    """Return the mode of that name; raises unless it suits the projects, and all of them exist."""
    if wanted not in list(Mode):
        fix = did_you_mean(str(wanted), map(str, Mode), "Use all, graph or oracle.")
        raise QuestionError(f"There is no routing {wanted!r}.", fix)
    mode = Mode(wanted)
    known = [*state.projects, *state.unindexed]
    for name in [source, *projects] if source else projects:
        if name not in known:
            raise unknown_project(name, known, "`hoprank graph list GRAPH` lists them.")
    if mode is not Mode.ORACLE and projects:
        raise QuestionError(
            f"The mode {mode} chooses the projects itself.", "Leave out --project, or search with --routing oracle."
        )
    if mode is Mode.ORACLE and not projects:
        raise GraphError("The mode oracle searches the projects that are named.", "Name them: --project NAME.")
    if projects and not any(name in state.projects for name in projects):
        reasons = ", ".join(f"{name} ({state.unindexed[name]})" for name in projects)
        raise GraphError(f"No named project can be searched: {reasons}.", "Make the indexes: hoprank route index.")
    return mode


def _result(
    route: Route, found: Mapping[str, RetrieverResult], top_k: int, vector: Sequence[float], leg: Leg | str
) -> RetrieverResult:
    evidence = {one.project.id: one for one in route.chosen}
    merged = _merged(route, found, top_k)
    items = []
    for project, hit in merged:
        item, relation = RetrieverResultItem.of(hit), evidence[project].relation
        provenance = {
            "project": project,
            "corpus": evidence[project].project.corpus,
            "route": evidence[project].reasons(),
            "relation": str(relation.type) if relation else None,
        }
        items.append(replace(item, metadata={**item.metadata, **provenance}))
    told = [best for result in found.values() if (best := result.metadata["relevance"]) is not None]
    metadata: dict[str, Any] = {"leg": str(leg), "routing": route.to_json(), "relevance": max(told, default=None)}
    filtered = [result.metadata["filter"] for result in found.values() if "filter" in result.metadata]
    if filtered:
        unknown = set.intersection(*(set(one["unknown_fields"]) for one in filtered))
        metadata["filter"] = {"unknown_fields": sorted(unknown)}
    return RetrieverResult(tuple(items), metadata, tuple(hit for _, hit in merged), vector)


def _merged(route: Route, found: Mapping[str, RetrieverResult], top_k: int) -> list[MergedHit]:
    shares = {one.project.id: one.share for one in route.chosen}
    return merge({project: result.hits for project, result in found.items()}, shares, top_k)


def can_enter(share: float, merged: Sequence[MergedHit], top_k: int) -> bool:
    """Return whether the first hit of a project with this share would enter the best ``top_k`` that are merged."""
    return len(merged) < top_k or share / 2 >= merged[top_k - 1].hit.score


def merge(rankings: Mapping[str, Sequence[Hit]], shares: Mapping[str, float], top_k: int) -> list[MergedHit]:
    """Return the best ``top_k`` hits of projects' rankings, best first.

    A hit's score is the share of its project divided by 1 + its rank: scores of different corpora can't be compared,
    since each counts its own words. Ties go by the project's and the hit's id.
    """
    scored = [
        MergedHit(project, replace(hit, score=shares[project] / (1 + hit.rank)))
        for project, hits in rankings.items()
        for hit in hits
    ]
    scored.sort(key=lambda one: (-one.hit.score, one.project, one.hit.id))
    return [MergedHit(one.project, replace(one.hit, rank=rank)) for rank, one in enumerate(scored[:top_k], start=1)]
