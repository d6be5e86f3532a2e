"""The invented projects of ``examples``, indexed on a live server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, find_corpus, find_graph
from pipeline.domains.routing.index import index
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.registry import read_registry
from pipeline.domains.routing.sync import sync
from pipeline.knowledge.catalogue import drop_graph

EXAMPLES = Path(__file__).parent / "examples"


@dataclass(frozen=True, slots=True)
class Town:
    """The name of the graph of the example projects, with which the names of their corpora begin."""

    graph: str

    def corpus(self, project: str) -> str:
        return f"{self.graph}/{project}"


@contextmanager
def indexed(hoprank: HopRank, folder: Path) -> Iterator[Town]:
    """Index the example projects under names of their own, and drop them in the end; ``folder`` is empty."""
    found = Town(f"{folder.name}-{hash(folder):x}")
    document = yaml.safe_load((EXAMPLES / "registry.yaml").read_text(encoding="utf-8"))
    projects = {**document["projects"], **document["references"]}
    for name, fields in projects.items():
        fields |= {"path": str(EXAMPLES / name), "corpus": found.corpus(name)}
    (folder / "registry.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
    try:
        sync(hoprank, found.graph, read_registry(folder / "registry.yaml"))
        index(hoprank, ProjectGraph.open(hoprank, found.graph))
        yield found
    finally:
        if graph := find_graph(hoprank.client, found.graph):
            drop_graph(hoprank.client, graph)
        for name in projects:
            if corpus := find_corpus(hoprank.client, found.corpus(name)):
                drop_corpus(hoprank.client, corpus)
