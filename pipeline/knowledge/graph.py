"""The knowledge graph: typed nodes and edges on Neo4j, stored under a name."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Self, TypeVar, Unpack

from pipeline.db.catalogue import NamedGraph, get_graph
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.db.corpus import open_corpus
from pipeline.embedding.backends import make_embedder
from pipeline.embedding.embedder import Embedder
from pipeline.errors import GraphError
from pipeline.ids import digest
from pipeline.knowledge.catalogue import check_layout, drop_graph, make_graph
from pipeline.knowledge.chunks import CosineEdges, EdgeOptions, GraphChunk, chunk_edges, chunk_nodes
from pipeline.knowledge.edit import Change, Decide, EdgesRead, edit
from pipeline.knowledge.exchange import Format, read_graph
from pipeline.knowledge.load import load
from pipeline.knowledge.reader import GraphReader
from pipeline.knowledge.records import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.schema import Schema
from pipeline.knowledge.store.corpus import CorpusStore
from pipeline.knowledge.store.neo4j import Neo4jStore
from pipeline.knowledge.store.protocol import Store
from pipeline.knowledge.sync import NO_EMBEDDINGS, Changes, Embeddings, sync
from pipeline.knowledge.visibility import NOW
from pipeline.knowledge.write import NodeUpdates, Writer
from pipeline.progress import Progress
from pipeline.records import Precision
from pipeline.settings import Settings, load_settings

_PRECISION = Precision.FLOAT32
"""Precision of every graph's embeddings: the few texts of most changes are encoded without loading the model."""

_Result = TypeVar("_Result")


class KnowledgeGraph(GraphReader, AbstractContextManager["KnowledgeGraph"]):
    """A named graph on Neo4j, created on first use; a context manager. Thread-safe.

    Each change is one transaction: if any part of a batch is refused, nothing of it is written. Node and edge ids are
    unique within one graph. The graphs that :meth:`open` and :meth:`get_subgraph` return are read-only.

    Example::

        from hoprank import KnowledgeEdge, KnowledgeGraph, KnowledgeNode

        with KnowledgeGraph("skills") as graph:
            graph.add_nodes([KnowledgeNode("api-design", "skill"), KnowledgeNode("code-review", "skill")])
            graph.add_edge(KnowledgeEdge("api-design", "code-review", "requires"))
            print(graph.get_neighbors("api-design"))
    """

    _owned_client: Client | None = None

    def __init__(
        self,
        name: str | NamedGraph,
        *,
        client: Client | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        create: bool = True,
    ) -> None:
        """Open the graph of that name, or the one that was looked up.

        A missing graph is created, or GraphError is raised with ``create=False``.

        ``client`` is the connection to use; the default opens one from ``settings``, which :meth:`close` closes.
        ``embedder`` embeds texts; the default is the one that ``settings`` name.
        """
        settings = settings or load_settings()

        def store(client: Client) -> Store:
            graph = name
            if not isinstance(graph, NamedGraph):
                graph = make_graph(client, graph) if create else get_graph(client, graph)
            megabytes = settings.walk.projection_megabytes
            return Neo4jStore(client, check_layout(graph), settings.fulltext.of_graphs, megabytes)

        self._connect(client, embedder, settings, store)

    @classmethod
    def open(
        cls,
        corpus: str,
        *,
        client: Client | None = None,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
    ) -> Self:
        """Return an ingested corpus as a read-only graph: the documents, chunks and entities that searches see.

        Raises CorpusError if there is no corpus of that name.
        """
        settings = settings or load_settings()

        def store(client: Client) -> Store:
            return CorpusStore(open_corpus(client, corpus), settings.walk.projection_megabytes)

        opened = object.__new__(cls)
        opened._connect(client, embedder, settings, store)
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
        """Replace the graph of that name by the contents of a file, and return it.

        Readers see the old graph until the import is complete, and keep it if the import fails. Formats are those of
        :meth:`export`; files written by networkx work too. Raises GraphError naming what is wrong.
        """
        settings = settings or load_settings()
        with connect(settings) if client is None else nullcontext(client) as loaded:
            load(loaded, name, read_graph(Path(path), format), progress or Progress())
        return cls(name, client=client, settings=settings)

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, unless the caller passed it in."""
        if self._owned_client is not None:
            self._owned_client.close()
            self._owned_client = None

    def drop(self) -> None:
        """Delete the graph and its contents, irrevocably."""
        store = self._writable_store()
        drop_graph(store.client, store.graph)

    def add_node(self, node: KnowledgeNode) -> None:
        """Add one node; see :meth:`add_nodes`."""
        self.add_nodes([node])

    def add_nodes(self, nodes: Iterable[KnowledgeNode], *, replace: bool = False) -> None:
        """Add nodes, all or none; parents and children may be in the same batch.

        ``replace`` overwrites existing nodes, which keep their edges and their ``created_at``. Raises GraphError if a
        node exists already (without ``replace``), if its embedding differs in length from the graph's, or if its
        parent or a child doesn't exist.
        """
        self._writer().add(nodes=list(nodes), replace=replace)

    def update_node(
        self, node_id: str, *, remove_properties: Sequence[str] = (), **updates: Unpack[NodeUpdates]
    ) -> KnowledgeNode:
        """Change the given fields of a node and return the updated node; its id and its edges stay.

        ``properties`` are merged into the existing ones after ``remove_properties`` are removed.
        """
        return self._writer().update_node(node_id, updates, remove_properties=remove_properties)

    def remove_node(self, node_id: str) -> None:
        """Remove a node with its edges; its children stay, without a parent."""
        self.remove_nodes([node_id])

    def remove_nodes(self, node_ids: Sequence[str]) -> None:
        """Remove nodes with their edges, all or none; raises GraphError naming any that don't exist."""
        self._writer().remove("node", node_ids)

    def add_edge(self, edge: KnowledgeEdge) -> None:
        """Add one edge; see :meth:`add_edges`."""
        self.add_edges([edge])

    def add_edges(self, edges: Iterable[KnowledgeEdge], *, replace: bool = False) -> None:
        """Add edges, all or none.

        ``replace`` overwrites existing edges. Raises GraphError if an edge exists already (without ``replace``) or if
        an endpoint doesn't exist.
        """
        self._writer().add(edges=list(edges), replace=replace)

    def remove_edge(self, edge_id: str) -> None:
        """Remove an edge; raises GraphError if it doesn't exist."""
        self.remove_edges([edge_id])

    def remove_edges(self, edge_ids: Sequence[str]) -> None:
        """Remove edges, all or none; raises GraphError naming any that don't exist."""
        self._writer().remove("edge", edge_ids)

    def embed(self, texts: Mapping[str, str], done: Callable[[int], None] = lambda _: None) -> Embeddings:
        """Return the embedding of each text, by the id of its node; only texts that are new to the graph are encoded.

        A text is known if a node has been synced with it and its embedding by the same model. ``done`` is called with
        the number of texts that are ready.
        """
        store, embedder = self._writable_store(), self._embedder
        fingerprint = embedder.fingerprint_in(_PRECISION)
        hashes = {node_id: digest("text", fingerprint, text) for node_id, text in texts.items()}
        vectors = store.embedded_texts(sorted(set(hashes.values())))
        missing = {hashes[node_id]: text for node_id, text in texts.items() if hashes[node_id] not in vectors}
        done(len(texts) - len(missing))
        encoded = embedder.encode(list(missing.values()), done, precision=_PRECISION) if missing else ()
        vectors.update((hash_, vector.tolist()) for hash_, vector in zip(missing, encoded, strict=True))
        return Embeddings({node_id: vectors[hash_] for node_id, hash_ in hashes.items()}, hashes, len(missing))

    def sync(
        self,
        nodes: Iterable[KnowledgeNode],
        edges: Iterable[KnowledgeEdge],
        embeddings: Embeddings = NO_EMBEDDINGS,
        *,
        schema: Schema | None = None,
    ) -> Changes:
        """Bring the graph to hold exactly these nodes and edges; return what changed.

        Only differences are written, in one transaction: readers see the graph before or after it, and an unchanged
        graph is not written at all. ``embeddings``, from :meth:`embed`, become those of the nodes with their ids. A
        changed node or edge keeps its ``created_at``. Raises GraphError as :meth:`add_nodes` and :meth:`add_edges` do,
        and if a node or edge isn't of the ``schema``, or a node that the graph holds: it is of another kind then.
        """
        return sync(self._writable_store(), list(nodes), list(edges), embeddings, schema)

    def edit(
        self,
        node_ids: Iterable[str],
        decide: Decide[_Result],
        *,
        node_types: Iterable[str] = (),
        edge_types: Iterable[str] = (),
        reads: EdgesRead = EdgesRead.AMONG,
        around: Iterable[str] | None = None,
        since: int | None = None,
    ) -> _Result:
        """Write the edits that ``decide`` makes of the nodes with these ids that exist and their edges.

        ``decide`` returns the edits and a result, which is returned here. Reading, deciding and writing are one
        transaction under the lock of the graph: what ``decide`` sees still holds when its edits are written. It may be
        called again if the transaction is retried. ``node_types`` and ``edge_types`` are the types that the edits may
        bring; ``around`` are the nodes whose edges are read, by default all of ``node_ids``. Raises what ``decide``
        raises, and then writes nothing; GraphError if an edge lacks an endpoint; Overtaken if the graph has changed
        ``since`` a version.
        """
        types = tuple(node_types), tuple(edge_types)
        change = Change(tuple(node_ids), decide, *types, None if around is None else tuple(around))
        return edit(self._writable_store(), change, reads, since)

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

        ``edge_options`` is ``CosineEdges(threshold=0.7)`` (the default), ``ExplicitEdges(edges)`` or
        ``CallbackEdges(function)``. Embeddings are optional; ``embed`` computes missing ones from the texts.
        """
        chunks, store = list(chunks), self._writable_store()
        if embed:
            missing = [index for index, chunk in enumerate(chunks) if chunk.embedding is None and chunk.text]
            encoded = self._embedder.encode([chunks[index].text or "" for index in missing], precision=_PRECISION)
            for index, vector in zip(missing, encoded.tolist(), strict=True):
                chunks[index] = dataclasses.replace(chunks[index], embedding=vector)
        nodes = chunk_nodes(chunks, node_type)
        options = edge_options or CosineEdges()
        stored = store.embeddings() if isinstance(options, CosineEdges) else ()
        Writer(store).add(nodes, chunk_edges(nodes, chunks, options, stored), replace=replace)
        return nodes

    def _connect(
        self, client: Client | None, embedder: Embedder | None, settings: Settings, store: Callable[[Client], Store]
    ) -> None:
        self._configured_embedder = embedder or make_embedder(settings)
        if client is None:
            client = self._owned_client = connect(settings)
        try:
            self._store = store(client)
        except BaseException:
            self.close()
            raise

    def _writer(self) -> Writer:
        return Writer(self._writable_store())

    def _writable_store(self) -> Neo4jStore:
        if not isinstance(self._store, Neo4jStore) or self._store.visibility != NOW:
            raise GraphError(
                f"The graph {self.name!r} is read-only: it is a subgraph, a graph at another time, or a corpus.",
                "Change the graph that it came from, or ingest again.",
            )
        return self._store
