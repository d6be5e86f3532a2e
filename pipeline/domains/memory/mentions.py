"""The mentions of entities in the texts of a memory: found in stored texts, and changed as texts are read."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from pipeline.db.corpus import open_corpus
from pipeline.domains.memory.entities import bare, embed_new, entity_edits, met_again, together
from pipeline.domains.memory.extract.gazetteer import Gazetteer, spellings
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Entity, EntityKey, Memory
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import Change, Edits

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
    wanted, whole, lost = {node.id: node for node in nodes}, frozenset(complete), frozenset(dropped)
    entities = together(chain.from_iterable((*mentioned.values(), *shared.values())))
    memory.schema.check([entity.to_node() for entity in entities.values()], ())
    stored = {node.id: node for node in memory.graph(create=True).get_nodes([*entities, *whole])}
    embeddings = embed_new(memory, entities, stored)
    named, in_common = _pairs(mentioned), _pairs(shared)

    def decide(nodes: Mapping[str, KnowledgeNode], edges: Sequence[KnowledgeEdge]) -> tuple[Edits, Mentioned]:
        known = {(edge.source, edge.target): edge for edge in edges if edge.type == MENTIONS}
        is_shared = {pair: bool(edge.properties.get("shared")) for pair, edge in known.items()}
        pairs = named | {pair for pair in in_common if pair[0] in nodes or pair[0] in wanted}
        new = pairs - known.keys()
        gone = {
            pair
            for pair in known.keys() - named
            if (is_shared[pair] and pair[1] in lost) or (pair[0] in whole and pair not in pairs)
        }
        moved = {  # the text names by itself what it had in common with others, or no more
            pair
            for pair in pairs & known.keys()
            if (pair in named and is_shared[pair]) or (pair not in named and pair[0] in whole and not is_shared[pair])
        }
        counts = Counter(target for _, target in new)
        counts.subtract(target for _, target in gone)
        after = {id_: replace(entity, mention_count=counts[id_]) for id_, entity in entities.items()}
        for id_, count in counts.items():
            if id_ not in after and id_ in nodes:
                after[id_] = replace(bare(Entity.of(nodes[id_])), mention_count=count)
        changed = {id_: entity for id_, entity in after.items() if _changes(entity, nodes.get(id_))}
        fresh = [
            node
            for id_, node in wanted.items()
            if (old := nodes.get(id_)) is None or (old.properties, old.valid_at) != (node.properties, node.valid_at)
        ]
        ends = {id_ for _, id_ in gone if EntityKey.of(id_).type in STATED}
        left = {id_ for id_ in ends & nodes.keys() if Entity.of(nodes[id_]).mention_count + counts[id_] <= 0}
        others = [edge for edge in edges if (edge.source, edge.target) not in gone]
        held, was_held = (
            {end for edge in others if bool(edge.expired_at) is past for end in (edge.source, edge.target)}
            for past in (False, True)
        )
        empty = ((lost | left) & nodes.keys()) - held - {target for _, target in pairs}
        edits, _ = entity_edits(
            nodes, {id_: entity for id_, entity in changed.items() if id_ not in empty - was_held}, embeddings
        )
        put = {node.id: node for node in (*edits.nodes, *fresh)}
        put |= {id_: replace(put.get(id_, nodes[id_]), expired_at=now()) for id_ in empty & was_held}
        edits = replace(
            edits,
            nodes=list(put.values()),
            edges=[
                KnowledgeEdge(*pair, MENTIONS, properties={} if pair in named else {"shared": True})
                for pair in sorted(new | moved)
            ],
            removed_nodes=sorted(empty - was_held),
            removed_edges=[known[pair].id for pair in sorted(gone)],
        )
        return edits, Mentioned(
            len(named - known.keys()),
            sum(node.id not in nodes for node in fresh),
            len((changed.keys() & entities.keys()) - nodes.keys()),
            len({target for source, target in in_common if source in wanted}),
        )

    before = memory.mentioned_by([id_ for id_ in whole if id_ in stored])
    sources = {*wanted, *mentioned, *shared, *whole, *lost}
    stated = {id_ for id_ in before if EntityKey.of(id_).type in STATED}
    types = {MEMORY, *(entity.type for entity in entities.values())}
    return Change({*sources, *entities, *before}, decide, types, (MENTIONS,), sources | stated)


def _pairs(mentioned: Mapping[str, Sequence[Entity]]) -> set[tuple[str, str]]:
    return {(source, entity.id) for source, entities in mentioned.items() for entity in entities}


def _changes(entity: Entity, stored: KnowledgeNode | None) -> bool:
    """Return whether meeting an entity changes the stored one."""
    return stored is None or bool(stored.expired_at) or met_again(stored, entity) != Entity.of(stored)


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
