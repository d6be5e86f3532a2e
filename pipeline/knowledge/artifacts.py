"""Artifacts in namespaces: stored content, searched by words, by vectors and along edges."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager

from pipeline.db.catalogue import find_graph, list_graphs
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.ingest.sources import read
from pipeline.knowledge.check import check_text
from pipeline.knowledge.chunks import EdgeOptions, GraphChunk, document_chunks
from pipeline.knowledge.graph import KnowledgeGraph
from pipeline.knowledge.records import KnowledgeNode, RankedNode
from pipeline.knowledge.search import Mode
from pipeline.records import Document, Skipped
from pipeline.settings import Settings, load_settings

_MAX_NAME_LENGTH = 90  # two of these and a slash are the name of a graph
ARTIFACT = "artifact"
"""Type of an artifact's node."""


class Knowledge(AbstractContextManager["Knowledge"]):
    """Artifacts of one ``id`` in namespaces; a context manager.

    Each namespace is a knowledge graph named ``id/namespace``, so namespaces share neither ids nor word statistics.
    ``bm25=True`` enables the search mode ``bm25``; with ``graph=True`` it also enables ``graph`` and ``hybrid``. The
    mode ``vector`` is always enabled.

    Example::

        with Knowledge("support", bm25=True, graph=True) as knowledge:
            knowledge.add("default", paths=["handbook/"])
            knowledge.add("default", [GraphChunk(id="password-reset", text="How to reset a password")])
            knowledge.search("default", "password reset", mode="hybrid", graph_hops=2)
    """

    def __init__(
        self,
        id: str,  # noqa: A002  # the public name of the argument
        *,
        bm25: bool = True,
        graph: bool = True,
        client: Client | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.id = _checked_name(id, "A knowledge's id")
        self._modes = {Mode.VECTOR} | ({Mode.BM25} if bm25 else set()) | ({Mode.GRAPH} if graph and bm25 else set())
        if bm25 and graph:
            self._modes.add(Mode.HYBRID)
        self._settings = settings or load_settings()
        self._owns_client = client is None
        self._client = client or connect(self._settings)
        self._embedder = embedder

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, unless the caller passed it in."""
        if self._owns_client:
            self._client.close()

    def namespaces(self) -> list[str]:
        """Return the names of all namespaces, empty ones included, sorted."""
        prefix = f"{self.id}/"
        names = [graph.name for graph, _ in list_graphs(self._client)]
        return [name.removeprefix(prefix) for name in names if name.startswith(prefix)]

    def graph(self, namespace: str) -> KnowledgeGraph:
        """Return the graph of a namespace; create it if it is missing."""
        return KnowledgeGraph(
            f"{self.id}/{_checked_name(namespace, 'A namespace')}",
            client=self._client,
            embedder=self._embedder,
            settings=self._settings,
        )

    def add(
        self,
        namespace: str,
        artifacts: Iterable[GraphChunk] = (),
        *,
        paths: Sequence[str] = (),
        strict: bool = False,
        skipped: Callable[[Skipped], object] = lambda _: None,
        edge_options: EdgeOptions | None = None,
        embed: bool = False,
        replace: bool = False,
    ) -> list[KnowledgeNode]:
        """Add artifacts to a namespace; see :meth:`pipeline.knowledge.KnowledgeGraph.add_nodes_from_chunks`.

        ``paths`` are files, folders, patterns or .jsonl files, of all formats that an ingest reads. Each document
        becomes an artifact: its id is the document's key, and edges ``links_to`` lead to those of ``paths`` that it
        links to. Files that can't be read are left out and passed to ``skipped``; if they are named themselves, or with
        ``strict``, SourceError is raised.
        """
        sources = self._settings.sources
        items = list(read(paths, strict=strict, limits=sources.limits, code=sources.code)) if paths else []
        for item in items:
            if isinstance(item, Skipped):
                skipped(item)
        chunks = [*artifacts, *document_chunks(item for item in items if isinstance(item, Document))]
        return self.graph(namespace).add_nodes_from_chunks(
            chunks, edge_options=edge_options, node_type=ARTIFACT, embed=embed, replace=replace
        )

    def remove(self, namespace: str, artifact_ids: Sequence[str]) -> None:
        """Remove artifacts from a namespace."""
        self._existing(namespace).remove_nodes(artifact_ids)

    def search(
        self, namespace: str, text: str, top_k: int = 10, *, mode: Mode | str | None = None, graph_hops: int = 2
    ) -> list[RankedNode]:
        """Return the artifacts of a namespace that match a text, best first.

        ``mode`` is ``bm25``, ``graph``, ``hybrid`` or ``vector``. The default is the first enabled mode of ``hybrid``,
        ``bm25`` and ``vector``. See :meth:`pipeline.knowledge.KnowledgeGraph.search`.
        """
        chosen = mode or next(default for default in (Mode.HYBRID, Mode.BM25, Mode.VECTOR) if default in self._modes)
        if chosen not in self._modes:
            raise GraphError(
                f"The knowledge {self.id!r} isn't searched by {chosen!r}.",
                f"Use one of {', '.join(sorted(self._modes))}, or make it with bm25=True and graph=True.",
            )
        return self._existing(namespace).search(text, top_k, mode=chosen, graph_hops=graph_hops)

    def _existing(self, namespace: str) -> KnowledgeGraph:
        if find_graph(self._client, f"{self.id}/{namespace}") is None:
            names = ", ".join(self.namespaces()) or "none"
            raise GraphError(f"{self.id!r} has no namespace {namespace[:80]!r}.", f"It has {names}.")
        return self.graph(namespace)


def _checked_name(name: str, what: str) -> str:
    check_text(name, what, _MAX_NAME_LENGTH)
    if "/" in name:
        raise GraphError(f"{what} is {name!r}, which holds a slash.", "Use another character.")
    return name
