"""The projects and relations of a graph with the corpora of the projects, kept until the graph changes."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from pipeline.api import HopRank
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project, Relation
from pipeline.errors import GraphError
from pipeline.records import Fingerprint, Vector
from pipeline.retrieve.look import LookedAt


@dataclass(frozen=True, slots=True)
class State:
    """The ``projects`` with a corpus that can be searched, by id, and the ``corpora`` by the id of their project.

    ``summaries`` are the embeddings of those that have a summary. ``unindexed`` are the other projects, each with the
    reason.
    """

    projects: Mapping[str, Project]
    summaries: Mapping[str, Vector]
    relations: tuple[Relation, ...]
    corpora: Mapping[str, LookedAt]
    unindexed: Mapping[str, str]


class _Kept(NamedTuple):
    version: tuple[str, int]
    projects: tuple[Project, ...]
    summaries: Mapping[str, Vector]
    relations: tuple[Relation, ...]


class StateReader:
    """Reads the state of a graph in one round trip, and the graph itself only after a change. Thread-safe."""

    def __init__(self, hoprank: HopRank, name: str) -> None:
        self._hoprank = hoprank
        self._name = name
        self._kept: _Kept | None = None
        self._vectors: Mapping[str, Vector] = {}
        self._lock = threading.Lock()

    def read(self) -> State:
        """Return the state; raises GraphError if the graph doesn't exist or has no project."""
        rows = self._hoprank.client.read("routing_state", name=self._name)
        if not rows:
            raise GraphError(f"There is no graph {self._name!r}.", "Make it: hoprank route sync registry.yaml.")
        kept = self._graph((rows[0]["id"], rows[0]["version"]))
        if not kept.projects:
            raise GraphError(
                f"The graph {self._name!r} holds no project.", "Write them into a registry: hoprank route sync FILE."
            )
        by_name = {name: LookedAt(id_, fingerprint) for name, id_, fingerprint in rows[0]["corpora"]}
        projects: dict[str, Project] = {}
        corpora: dict[str, LookedAt] = {}
        unindexed: dict[str, str] = {}
        for project in kept.projects:
            corpus = by_name.get(project.corpus)
            if corpus is None:
                unindexed[project.id] = "there is no index yet"
            elif not self._hoprank.embedder.identity.is_comparable(Fingerprint.of(corpus.fingerprint)):
                unindexed[project.id] = "another model made its index"
            else:
                projects[project.id], corpora[project.id] = project, corpus
        return State(projects, kept.summaries, kept.relations, corpora, unindexed)

    def _graph(self, version: tuple[str, int]) -> _Kept:
        with self._lock:
            kept = self._kept
        if kept is None or kept.version != version:
            graph = ProjectGraph.open(self._hoprank, self._name, create=False)
            projects = tuple(replace(one, corpus=one.corpus or one.id) for one in graph.list_nodes())
            # Embedded as questions: passages would load the whole model, where a question takes its export.
            embed, before = self._hoprank.embedder.embed_query, self._vectors
            texts = {project.id: project.summary for project in projects if project.summary}
            self._vectors = vectors = {
                text: before[text] if text in before else np.asarray(embed(text), dtype=np.float32)
                for text in dict.fromkeys(texts.values())
            }
            summaries = {project: vectors[text] for project, text in texts.items()}
            kept = _Kept(version, projects, summaries, tuple(graph.get_edges()))
            with self._lock:
                self._kept = kept
        return kept
