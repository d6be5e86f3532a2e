"""A memory: its texts in a corpus, and its entities and facts in a knowledge graph of the same name."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import cached_property
from typing import Any, Self, TypeVar

from neo4j import Record

from pipeline.api import HopRank
from pipeline.db.catalogue import NamedGraph, check_graph, derived_name, find_corpus, find_graphs
from pipeline.db.corpus import open_corpus, read_whole
from pipeline.domains.memory.records import FIELDS, NOW, Entity, EntityKey, Fact, Memory, When
from pipeline.domains.memory.schema import KIND, MEMORY, MENTIONS, relation_types, schema_of
from pipeline.domains.memory.settings import MemorySettings
from pipeline.domains.memory.times import zone_named
from pipeline.embedding.everyday import Everyday, Scale
from pipeline.errors import GraphError, did_you_mean
from pipeline.flows.maintain import drop
from pipeline.ids import document_id
from pipeline.knowledge import KnowledgeGraph
from pipeline.knowledge.catalogue import derived_graph, of_kind
from pipeline.knowledge.edit import Change, EdgesRead, Overtaken
from pipeline.knowledge.schema import Schema
from pipeline.knowledge.store.codec import node_key, read_edge, read_node
from pipeline.knowledge.visibility import Visibility
from pipeline.records import metadata_of
from pipeline.retrieve.lru import SharedCache
from pipeline.text.names import folded
from pipeline.text.outline import join_chunks

_Made = TypeVar("_Made")

_READINGS = 32  # kept of a graph, which scopes and times of clients name; chosen by hand, to bound memory
_TRIES = 10  # of a change that others overtake, lest a long one never gets its turn; chosen by hand

MERGES = "merges"
"""The graph beside a memory that records the merges of its entities."""


class AgentMemory:
    """The graphs, texts and settings of a memory of a name, which the first write makes. Thread-safe.

    :class:`pipeline.domains.memory.api.Memory` is its face.
    """

    def __init__(self, hoprank: HopRank, name: str = "memory") -> None:
        self.hoprank = hoprank
        self.name = name
        self.settings = hoprank.settings.section(MemorySettings)
        self.zone = zone_named(self.settings.timezone)
        self.schema: Schema = schema_of(self.settings)
        self._cache: SharedCache[tuple[str, int], SharedCache[Hashable, Any]] = SharedCache(1)
        self._of_merges: SharedCache[tuple[str, int], Any] = SharedCache(1)
        self._found: Mapping[str, NamedGraph] | None = None

    @cached_property
    def relations(self) -> tuple[str, ...]:
        """The types of facts."""
        return tuple(relation_types(self.schema))

    @cached_property
    def scale(self) -> Scale:
        """The scale of the model's cosines."""
        return Everyday(self.hoprank.embedder, self.hoprank.settings.data_home).scale

    def opened(self, *, create: bool = False) -> Self:
        """Return the memory for the steps of one call: its graphs are looked up here, and not by each step.

        With ``create`` it is made if there is none.
        """
        opened = copy(self)
        names = (self.name, journal_name(self.name))
        opened._found = find_graphs(self.hoprank.client, *names)
        if create and self.name not in opened._found:
            self.hoprank.graph(self.name, kind=KIND)
            opened._found = find_graphs(self.hoprank.client, *names)
        return opened

    def read_whole(self, read: Callable[[Self], _Made]) -> _Made:
        """Return what ``read`` returns of :meth:`opened`; it is called again if another graph takes the name."""

        def once() -> _Made:
            opened = self.opened()
            made = read(opened)
            if named := opened._find(self.name):
                check_graph(self.hoprank.client, named)
            return made

        return read_whole(once)

    def exists(self) -> bool:
        """Return whether anything has been written to the memory."""
        return self._find(self.name) is not None

    def has_texts(self) -> bool:
        """Return whether the memory has a corpus."""
        corpus = find_corpus(self.hoprank.client, self.name)
        return corpus is not None and corpus.kind == KIND

    def check_graph(self) -> None:
        """Raise GraphError if the graph of the memory's name holds what another has made."""
        if named := find_graphs(self.hoprank.client, self.name).get(self.name):
            of_kind(self.hoprank.client, named, KIND)

    def graph(self, *, create: bool = False) -> KnowledgeGraph:
        """Return the graph of entities and facts; raises GraphError if there is none and ``create`` is false."""
        if not create:
            return self.hoprank.graph_of(self._named())
        if (named := self._find(self.name)) is None:
            return self.hoprank.graph(self.name, kind=KIND)
        return self.hoprank.graph_of(of_kind(self.hoprank.client, named, KIND))

    def journal(self) -> KnowledgeGraph | None:
        """Return the graph that records the merges of entities; None if there was none yet."""
        named = self._find(journal_name(self.name))
        return self.hoprank.graph_of(named) if named else None

    def of_merges(self, read: Callable[[KnowledgeGraph], _Made]) -> _Made | None:
        """Return what ``read`` made of the record of merges as it is; None if there is none.

        ``read`` is always the same function. It is called again after a change of the record.
        """
        if (named := self._find(journal_name(self.name))) is None:
            return None
        made: _Made = self._of_merges.get((named.id, named.version), lambda: read(self.hoprank.graph_of(named)))
        return made

    def made_journal(self) -> KnowledgeGraph:
        """Return the graph that records the merges of entities; it is made if there is none."""
        return self.hoprank.graph_of(derived_graph(self.hoprank.client, self.name, MERGES))

    def graph_at(self, when: When = NOW) -> KnowledgeGraph:
        """Return the graph as it was at a time."""
        return self.graph().at(*when) if any(when) else self.graph()

    def has_embeddings(self) -> bool:
        """Return whether any entity is embedded."""
        return self._named().dimension is not None

    def cached(self, key: Hashable, make: Callable[[], _Made]) -> _Made:
        """Return what ``make`` made of the graph as it is; it is made again after a change of the graph."""
        graph = self._named()
        made: _Made = self._cache.get((graph.id, graph.version), lambda: SharedCache(_READINGS)).get(key, make)
        return made

    def drop(self) -> None:
        """Delete the memory: its texts, its entities and facts, and the record of merges, irrevocably.

        Raises CorpusError or GraphError, and deletes nothing, if the corpus or the graph of that name is another's.
        """
        client = self.hoprank.client
        named = find_graphs(client, self.name, journal_name(self.name))
        if self.name in named:
            of_kind(client, named[self.name], KIND)
        if self.has_texts():
            drop(client, self.name, kind=KIND)
        for graph in named.values():
            self.hoprank.graph_of(graph).drop()

    def read(
        self,
        query: str,
        when: When = NOW,
        /,
        *,
        ids: Iterable[str] | None = None,
        groups: Iterable[Iterable[str]] | None = None,
        **params: Any,
    ) -> Sequence[Record]:
        """Run a query of ``memory.cypher`` that depends on the time of the question.

        It takes ``ids`` of nodes, or ``groups`` of them, as the keys by which the server finds them.
        """
        graph = self._named()
        if ids is not None:
            params["keys"] = [node_key(graph.id, id_) for id_ in ids]
        if groups is not None:
            params["groups"] = [[node_key(graph.id, id_) for id_ in group] for group in groups]
        return self.hoprank.client.read(query, graph=graph.id, **Visibility.at(*when).params(), **params)

    def write(self, change: Change[_Made], *, since: int | None = None) -> _Made:
        """Make a change of the graph in one transaction; return its result.

        Raises Overtaken if the graph has changed ``since`` a version.
        """
        return self.graph(create=True).edit(
            change.node_ids,
            change.decide,
            node_types=change.node_types,
            edge_types=change.edge_types,
            reads=EdgesRead.TOUCHING,
            around=change.around,
            since=since,
        )

    def write_what(self, decide: Callable[[Self], Change[_Made]]) -> _Made:
        """Write the change that ``decide`` makes of the memory, which is opened for it; return its result.

        It is decided again if the graph changes meanwhile; after some times it is written all the same.
        """
        for _ in range(_TRIES - 1):
            opened = self.opened(create=True)
            with suppress(Overtaken):
                return opened.write(decide(opened), since=opened._named().version)
        opened = self.opened(create=True)
        return opened.write(decide(opened))

    def rows(self, query: str, /, **params: Any) -> Sequence[Record]:
        """Run a query of ``memory.cypher`` over all times."""
        return self.hoprank.client.read(query, **params)

    @property
    def label(self) -> str:
        """The label of the graph's nodes."""
        return self._named().label

    def keys(self, ids: Iterable[str]) -> list[str]:
        """Return the keys of nodes, by which the server finds them."""
        graph = self._named()
        return [node_key(graph.id, id_) for id_ in ids]

    def texts_after(self, time: str) -> list[str]:
        """Return the ids of the nodes of the texts that were remembered after a time, of all for ""."""
        return [row["id"] for row in self.rows("memory_texts_after", label=self.label, type=MEMORY, known_at=time)]

    def text_nodes(self) -> frozenset[str]:
        """Return the ids of the nodes of all texts; they are read again after a change of the graph."""
        return self.cached("nodes of texts", lambda: frozenset(self.texts_after("")))

    def shared_mentions(self) -> dict[str, set[str]]:
        """Return the ids of the concepts whose names texts share, with the ids of the nodes of these texts."""
        rows = self.rows("memory_shared_mentions", label=self.label, type=MENTIONS)
        return {row["concept"]: set(row["texts"]) for row in rows}

    def texts_of(self, id_: str, when: When = NOW) -> list[str]:
        """Return the keys of the texts that mention an entity, sorted: those that were said and known at a time."""
        if any(when):
            found = [
                id_ for row in self.read("memory_mentioning", when, ids=[id_], type=MENTIONS) for id_ in row["memories"]
            ]
        else:
            found = [row["id"] for row in self.rows("memory_texts_of", keys=self.keys([id_]), type=MENTIONS)]
        return sorted(EntityKey.of(text).name for text in found)

    def texts(self, keys: Iterable[str]) -> list[Memory]:
        """Return the texts with these keys, as they are kept, by time; unknown keys are left out."""
        if not self.has_texts():
            return []
        corpus = open_corpus(self.hoprank.client, self.name)
        rows = corpus.read("memory_texts", ids=[document_id(corpus.id, key) for key in keys])
        return sorted(map(_read_text, rows), key=lambda memory: (memory.time, memory.key))

    def text(self, key: str) -> Memory:
        """Return the text with this key; raises GraphError if there is none."""
        if texts := self.texts([key]):
            return texts[0]
        keys = (EntityKey.of(id_).name for id_ in self.text_nodes())
        fix = did_you_mean(key, keys, "hoprank memory search QUESTION shows the keys of texts.")
        raise GraphError(f"The memory {self.name!r} has no text {key[:80]!r}.", fix)

    def mentioned_by(self, nodes: Sequence[str]) -> list[str]:
        """Return the ids of the entities that texts mention, given by the ids of their nodes."""
        rows = self.rows("memory_mentioned", keys=self.keys(nodes), type=MENTIONS) if nodes else ()
        return [row["entity"] for row in rows]

    def resolve(self, name: str, *, type_: str | None = None, scope: str | None = None, when: When = NOW) -> Entity:
        """Return the entity with this id, name or alias.

        Raises GraphError if there is none, or if several have the name and none of them exactly.
        """
        self.check_type(type_)
        rows = self.read("memory_entities_named", when, label=self.label, name=name, type=type_, scope=scope)
        known = [read_entity(row["stored"]) for row in rows]
        exact = [entity for entity in known if name in (entity.id, entity.name)]
        chosen = exact or known
        if len(chosen) == 1 or (chosen and chosen[0].id == name):
            return chosen[0]
        if chosen:
            raise GraphError(
                f"{len(chosen)} entities are called {name!r}: {', '.join(entity.id for entity in chosen[:5])}.",
                "Give one of these ids, or its type and scope.",
            )
        rows = self.rows("memory_entity_names", label=self.label)
        names = [row["name"] for row in rows]
        same = {row["name"] for row in rows if folded(name) in map(folded, (row["name"], *row["aliases"]))}
        if len(same) == 1 and name not in same:  # the same name in another form, as with a soft hyphen
            return self.resolve(same.pop(), type_=type_, scope=scope, when=when)
        raise GraphError(
            f"The memory {self.name!r} has no entity {name[:80]!r}.",
            did_you_mean(name, names, f"`hoprank graph list {self.name} --type TYPE` lists entities."),
        )

    def check_type(self, type_: str | None) -> None:
        """Raise GraphError if the schema has no such entity type; None is fine."""
        if type_ is not None:
            _check_declared("entity", type_, [name for name in self.schema.nodes if name != MEMORY])

    def check_relations(self, types: Sequence[str] | None) -> list[str] | None:
        """Return relation types, None for all; raises GraphError if the schema lacks one."""
        for name in types or ():
            _check_declared("relation", name, [*self.relations, MENTIONS])
        return list(types) if types else None

    def _named(self) -> NamedGraph:
        if (graph := self._find(self.name)) is None:
            raise GraphError(
                f"There is no memory {self.name!r}.", "Make it by hoprank memory add, import or scan, or give its name."
            )
        return graph

    def _find(self, name: str) -> NamedGraph | None:
        found = find_graphs(self.hoprank.client, name) if self._found is None else self._found
        return found.get(name)


def journal_name(name: str) -> str:
    """Return the name of the graph that records the merges of a memory's entities."""
    return derived_name(name, MERGES)


def read_entity(stored: dict[str, Any]) -> Entity:
    """Return the entity with these stored properties of its node."""
    return Entity.of(read_node(stored, None, ()))


def _read_text(row: Record) -> Memory:
    stored = metadata_of(row["document"])
    own = {name: stored[name] for name in FIELDS if name in stored}
    text = join_chunks((start, end, text) for start, end, text in row["chunks"])
    return Memory(row["document"]["key"], text, **own, metadata={k: v for k, v in stored.items() if k not in own})


def read_fact(row: Record) -> Fact:
    """Return the version of a fact in a row of ``stored``, ``source`` and ``target``."""
    return Fact.of(read_edge(row["stored"], row["source"], row["target"]))


def _check_declared(kind: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        listed = f"There are {', '.join(known)}; the settings memory.entity_types and memory.relation_types add more."
        raise GraphError(f"There is no {kind} type {name!r}.", did_you_mean(name, known, listed))
