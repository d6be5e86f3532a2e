"""The mentions of entities in the texts of a memory: found in stored texts, and changed as texts are read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.entities import bare, embed_new, entity_edits, met_again, together
from pipeline.domains.memory.extract.gazetteer import Gazetteer, spellings
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey, Memory
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Change, Edits
from pipeline.knowledge.sync import Embeddings

STATED = ("convention", "error_pattern", "concept")
"""Types of entities that texts state: one of these goes when nothing is known of it any more."""

_FEW = 100
"""So many names are looked up by the server; for more, all texts are read. Chosen by hand; not measured."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The outcome of writing mentions: the mentions that are new, the memories' nodes and the entities that are.

    ``concepts`` are those by names in common that the memories mention, new or not; nothing else counts them.
    """

    mentions: int = 0
    memories: int = 0
    entities: int = 0
    concepts: int = 0


def mentions_change(
    memory: AgentMemory,
    nodes: Iterable[KnowledgeNode],
    mentioned: Mapping[str, Sequence[Entity]],
    complete: Collection[str],
    shared: Mapping[str, Sequence[Entity]],
    dropped: Collection[str],
) -> Change[Mentioned]:
    """Return the change that writes the nodes of memories and what they mention; its result is what is new.

    ``mentioned`` has entities by the id of a memory's node, ``shared`` concepts, by names that memories have in common;
    their mentions are kept apart. An entity counts a mention for each memory once. ``complete`` are the nodes all of
    whose mentions are passed: others are removed, as after a change of the text. Mentions of ``dropped`` concepts by
    names in common are removed. With its last mention an entity goes that texts state, if no fact of it is believed:
    one of which facts were believed expires, so that what was known can be asked for.
    """
    entities = together(chain.from_iterable((*mentioned.values(), *shared.values())))
    memory.schema.check([entity.to_node() for entity in entities.values()], ())
    whole, texts = frozenset(complete), {node.id: node for node in nodes}
    stored = {node.id: node for node in memory.graph(create=True).get_nodes([*entities, *whole])}
    embeddings = embed_new(memory, entities, stored)
    read = _Read(texts, entities, _pairs(mentioned), _pairs(shared), whole, frozenset(dropped), embeddings)
    before = memory.mentioned_by([id_ for id_ in whole if id_ in stored])
    sources = {*texts, *mentioned, *shared, *whole, *dropped}
    stated = {id_ for id_ in before if EntityKey.of(id_).type in STATED}
    types = {MEMORY, *(entity.type for entity in entities.values())}
    return Change({*sources, *entities, *before}, read.decide, types, (MENTIONS,), sources | stated)


_Pair = tuple[str, str]
"""The ids of a text's node and of an entity that it mentions."""


def _pairs(mentioned: Mapping[str, Sequence[Entity]]) -> set[_Pair]:
    return {(source, entity.id) for source, entities in mentioned.items() for entity in entities}


class _Pairs(NamedTuple):
    """The mentions that there are afterwards; of these the new ones and those of another kind; and those that go."""

    after: set[_Pair]
    new: set[_Pair]
    moved: set[_Pair]
    gone: set[_Pair]


@dataclass(frozen=True, slots=True)
class _Read:
    """The nodes of texts, and what these and others mention: by themselves (``named``), and by names ``in_common``."""

    texts: Mapping[str, KnowledgeNode]
    entities: Mapping[str, Entity]
    named: set[_Pair]
    in_common: set[_Pair]
    whole: frozenset[str]
    dropped: frozenset[str]
    embeddings: Embeddings

    def decide(self, nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Mentioned]:
        """Return the edits that write it over what is stored; see :func:`mentions_change`."""
        known = {(edge.source, edge.target): edge for edge in edges if edge.type == MENTIONS}
        pairs = self._changes_of(known, nodes)
        counts = Counter(target for _, target in pairs.new)
        counts.subtract(target for _, target in pairs.gone)
        changed = self._met(counts, nodes)
        removed, expired = self._without_mention(pairs, counts, nodes, edges)
        fresh = [node for node in self.texts.values() if _is_fresh(node, nodes.get(node.id))]
        kept = {id_: entity for id_, entity in changed.items() if id_ not in removed}
        edits, _ = entity_edits(nodes, kept, self.embeddings)
        put = {node.id: node for node in (*edits.nodes, *fresh)}
        put |= {id_: replace(put.get(id_, nodes[id_]), expired_at=now()) for id_ in expired}
        edits = replace(
            edits,
            nodes=list(put.values()),
            edges=[self._edge(pair) for pair in sorted(pairs.new | pairs.moved)],
            removed_nodes=sorted(removed),
            removed_edges=[known[pair].id for pair in sorted(pairs.gone)],
        )
        new = sum(node.id not in nodes for node in fresh), len((changed.keys() & self.entities.keys()) - nodes.keys())
        concepts = {target for source, target in self.in_common if source in self.texts}
        return edits, Mentioned(len(self.named - known.keys()), *new, len(concepts))

    def _changes_of(self, known: Mapping[_Pair, KnowledgeEdge], nodes: Mapping[str, KnowledgeNode]) -> _Pairs:
        shared = {pair for pair, edge in known.items() if edge.properties.get("shared")}
        after = self.named | {pair for pair in self.in_common if pair[0] in nodes or pair[0] in self.texts}
        gone = {
            pair
            for pair in known.keys() - after
            if pair[0] in self.whole or (pair in shared and pair[1] in self.dropped)
        }
        # the text names by itself what it had in common with others, or, as far as all of it was read, no more
        now_named = self.named & shared
        now_shared = {pair for pair in (after & known.keys()) - self.named - shared if pair[0] in self.whole}
        return _Pairs(after, after - known.keys(), now_named | now_shared, gone)

    def _edge(self, pair: _Pair) -> KnowledgeEdge:
        return KnowledgeEdge(*pair, MENTIONS, properties={} if pair in self.named else {"shared": True})

    def _met(self, counts: Mapping[str, int], nodes: Mapping[str, KnowledgeNode]) -> dict[str, Entity]:
        """Return the entities that are new or change, each with the change of its mentions as its count."""
        met = {id_: replace(entity, mention_count=counts.get(id_, 0)) for id_, entity in self.entities.items()}
        others = (id_ for id_ in counts if id_ not in met and id_ in nodes)
        met |= {id_: replace(bare(Entity.of(nodes[id_])), mention_count=counts[id_]) for id_ in others}
        return {id_: entity for id_, entity in met.items() if _changes(entity, nodes.get(id_))}

    def _without_mention(
        self,
        pairs: _Pairs,
        counts: Mapping[str, int],
        nodes: Mapping[str, KnowledgeNode],
        edges: Sequence[KnowledgeEdge],
    ) -> tuple[set[str], set[str]]:
        """Return the ids of entities of which nothing is known any more: those to remove, and those to expire."""
        ends = {id_ for _, id_ in pairs.gone if id_ in nodes and EntityKey.of(id_).type in STATED}
        left = {id_ for id_ in ends if Entity.of(nodes[id_]).mention_count + counts[id_] <= 0}
        others = [edge for edge in edges if (edge.source, edge.target) not in pairs.gone]
        held, was_held = (
            {end for edge in others if bool(edge.expired_at) is past for end in (edge.source, edge.target)}
            for past in (False, True)
        )
        empty = (left | (self.dropped & nodes.keys())) - held - {target for _, target in pairs.after}
        return empty - was_held, empty & was_held


def _changes(entity: Entity, stored: KnowledgeNode | None) -> bool:
    """Return whether merging an entity would change its stored node."""
    return stored is None or bool(stored.expired_at) or met_again(stored, entity) != Entity.of(stored)


def _is_fresh(node: KnowledgeNode, stored: KnowledgeNode | None) -> bool:
    return stored is None or (stored.properties, stored.valid_at) != (node.properties, node.valid_at)


def texts_with(memory: AgentMemory, entities: Sequence[Entity], known: Gazetteer) -> dict[str, list[Entity]]:
    """Return which of the entities the stored texts mention, by ``known`` names, by the id of a memory's node."""
    wanted = {entity.key for entity in entities}
    mentioned: dict[str, list[Entity]] = {}
    for text in texts_holding(memory, entities):
        keys = dict.fromkeys(mention.entity for mention in known.mentions(text.text) if mention.entity in wanted)
        mentioned[text.node_id] = [bare(known[key]) for key in keys]
    return {id_: named for id_, named in mentioned.items() if named}


def texts_holding(memory: AgentMemory, entities: Sequence[Entity], but: Collection[str] = ()) -> list[Memory]:
    """Return the stored texts that hold a name of the entities, as a name or not; ``but`` are keys of others."""
    stored = {EntityKey.of(id_).name for id_ in memory.text_nodes()} if entities else set()
    if not (stored := stored - set(but)):
        return []
    names = {one.text for entity in entities for one in spellings(entity)}
    if len(names) <= _FEW:
        corpus = open_corpus(memory.hoprank.client, memory.name)
        forms = {unicodedata.normalize(form, _longest_word(name)) for name in names for form in ("NFC", "NFD")}
        stored &= {row["document"] for row in corpus.read("memory_texts_holding", words=sorted(forms))}
    held = Gazetteer(entities)
    return [text for text in memory.texts(stored) if held.occurs_in(text.text)]


def _longest_word(name: str) -> str:
    """Return the longest word of a name in small letters; itself if it has none."""
    return max(_WORD.findall(name), key=len, default=name).lower()
