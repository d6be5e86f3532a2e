"""The knowledge graph: typed nodes and edges on Neo4j, kept by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self, Unpack

from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.embedding.embedder import Embedder, make_embedder
from pipeline.errors import GraphError
from pipeline.knowledge.catalogue import drop_graph, get_graph, make_graph
from pipeline.knowledge.chunks import CosineEdges, EdgeOptions, GraphChunk, chunk_edges, chunk_nodes
from pipeline.knowledge.exchange import Format, read_graph
from pipeline.knowledge.load import load
from pipeline.knowledge.reader import GraphReader
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.store.corpus import CorpusStore
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.write import NodeUpdates, Writer
from pipeline.progress import Progress
from pipeline.settings import Settings, load_settings


class KnowledgeGraph(GraphReader, AbstractContextManager["KnowledgeGraph"]):
    """A graph stored on Neo4j under a name, created at its first use; a context manager.

    Each change is one transaction: a batch is written whole or refused whole. Node and edge ids are unique within the
    graph. :meth:`open` and :meth:`get_subgraph` return graphs with the same methods that refuse changes. Thread-safe.

    Example::

        from pipeline import KnowledgeEdge, KnowledgeGraph, KnowledgeNode

        with KnowledgeGraph("skills") as graph:
            graph.add_nodes([KnowledgeNode("api-design", "skill"), KnowledgeNode("code-review", "skill")])
            graph.add_edge(KnowledgeEdge("api-design", "code-review", "requires"))
            print(graph.get_neighbors("api-design"))
    """

    _closing: Client | None = None

    def __init__(
        self,
        name: str,
        *,
        client: Client | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        create: bool = True,
    ) -> None:
        """Open the graph called ``name``; without ``create`` it must exist.

        Without a ``client`` a connection is opened by ``settings``, and closed by :meth:`close`. ``embedder`` encodes
        texts; the default is the one in ``settings``.
        """
        settings = settings or load_settings()
        self._given_embedder = embedder or make_embedder(settings)
        client = self._connect(client, settings)
        try:
            graph = make_graph(client, name) if create else get_graph(client, name)
        except BaseException:
            self.close()
            raise
        self._store = Neo4jStore(client, graph, settings.fulltext.analyzer)

    @classmethod
    def open(
        cls,
        corpus: str,
        *,
        client: Client | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Return an ingested corpus as a read-only graph: its documents, chunks and entities, as searches see them.

        Raises CorpusError if there is no corpus of that name.
        """
        settings = settings or load_settings()
        opened = object.__new__(cls)
        opened._given_embedder = embedder or make_embedder(settings)
        client = opened._connect(client, settings)
        try:
            opened._store = CorpusStore(client, get_corpus(client, corpus))
        except BaseException:
            opened.close()
            raise
        return opened

    @classmethod
    def import_graph(
        cls,
        path: str | Path,
        name: str,
        format: Format | str | None = None,  # noqa: A002  # the usual name
        *,
        client: Client | None = None,
        settings: Settings | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Replace the contents of the graph called ``name`` by those of a file, and return the graph.

        Readers see the earlier graph until the new one is complete, and keep it after an error. The formats are those
        of :meth:`export`, also as networkx writes them. Raises GraphError naming what is wrong.
        """
        settings = settings or load_settings()
        loaded = connect(settings) if client is None else client
        try:
            load(loaded, name, read_graph(Path(path), format), progress or Progress())
        finally:
            if client is None:
                loaded.close()
        return cls(name, client=client, settings=settings)

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, if this opened it."""
        if self._closing is not None:
            self._closing.close()
            self._closing = None

    def drop(self) -> None:
        """Delete the graph and its contents. This can't be undone."""
        store = self._named()
        drop_graph(store.client, store.graph)

    def add_node(self, node: KnowledgeNode) -> None:
        """Add one node; see :meth:`add_nodes`."""
        self.add_nodes([node])

    def add_nodes(self, nodes: Iterable[KnowledgeNode], *, replace: bool = False) -> None:
        """Add nodes, all or none; parents and children may be in the same batch.

        Raises GraphError if a node exists already (with ``replace`` it is overwritten, and keeps its edges and its
        creation time), has an embedding of another length, or names a parent or child that doesn't exist.
        """
        self._writer().add(nodes=list(nodes), replace=replace)

    def update_node(
        self, node_id: str, *, remove_properties: Sequence[str] = (), **updates: Unpack[NodeUpdates]
    ) -> KnowledgeNode:
        """Change the given fields of a node and return the changed node; its id and its edges stay.

        ``properties`` are merged with the node's own, less ``remove_properties``.
        """
        return self._writer().update_node(node_id, updates, remove_properties=remove_properties)

    def remove_node(self, node_id: str) -> None:
        """Remove a node with its edges; its children stay, without a parent."""
        self.remove_nodes([node_id])

    def remove_nodes(self, node_ids: Sequence[str]) -> None:
        """Remove nodes with their edges, all or none; raises GraphError naming one that doesn't exist."""
        self._writer().remove_nodes(node_ids)

    def add_edge(self, edge: KnowledgeEdge) -> None:
        """Add one edge; see :meth:`add_edges`."""
        self.add_edges([edge])

    def add_edges(self, edges: Iterable[KnowledgeEdge], *, replace: bool = False) -> None:
        """Add edges, all or none.

        Raises GraphError if an edge exists already (with ``replace`` it is overwritten), or an endpoint doesn't.
        """
        self._writer().add(edges=list(edges), replace=replace)

    def remove_edge(self, edge_id: str) -> None:
        """Remove an edge; raises GraphError if it doesn't exist."""
        self._writer().remove_edges([edge_id])

    def remove_edges(self, edge_ids: Sequence[str]) -> None:
        """Remove edges, all or none; raises GraphError naming one that doesn't exist."""
        self._writer().remove_edges(edge_ids)

    def add_nodes_from_chunks(
        self,
        chunks: Iterable[GraphChunk],
        *,
        edge_options: EdgeOptions | None = None,
        node_type: str = "chunk",
        embed: bool = False,
        replace: bool = False,
    ) -> list[KnowledgeNode]:
        """Add a node for each chunk and the edges between them, all or none; return the nodes.

        ``edge_options`` are ``CosineEdges(threshold=0.7)`` (the default), ``ExplicitEdges(edges)`` or
        ``CallbackEdges(function)``. An embedding is optional; ``embed`` makes the missing ones from the texts.
        """
        chunks = list(chunks)
        writer = self._writer()
        if embed:
            chunks = self._with_embeddings(chunks)
        nodes = chunk_nodes(chunks, node_type)
        options = edge_options or CosineEdges()
        earlier = self._named().embeddings() if isinstance(options, CosineEdges) else ()
        writer.add(nodes, chunk_edges(nodes, chunks, options, earlier), replace=replace)
        return nodes

    def _with_embeddings(self, chunks: Sequence[GraphChunk]) -> list[GraphChunk]:
        lacking = [at for at, chunk in enumerate(chunks) if chunk.embedding is None and chunk.text]
        vectors = self._embedder.encode([chunks[at].text or "" for at in lacking])
        made = dict(zip(lacking, vectors.tolist(), strict=True))
        return [
            dataclasses.replace(chunk, embedding=made[at]) if at in made else chunk for at, chunk in enumerate(chunks)
        ]

    def _connect(self, client: Client | None, settings: Settings) -> Client:
        if client is not None:
            return client
        self._closing = connect(settings)
        return self._closing

    def _writer(self) -> Writer:
        store = self._named()
        return Writer(store.client, store.graph)

    def _named(self) -> Neo4jStore:
        if not isinstance(self._store, Neo4jStore):
            raise GraphError(
                f"The graph {self.name!r} is read-only: it is a subgraph, or an ingested corpus.",
                "Change the graph that it came from, or ingest again.",
            )
        return self._store
