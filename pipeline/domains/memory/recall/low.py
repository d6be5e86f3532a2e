"""The low level: the entities that a question is about, by name, words and meaning, and the memories that name them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pipeline.domains.memory.memory import AgentMemory, read_entity
from pipeline.domains.memory.recall.records import Level
from pipeline.domains.memory.records import Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.domains.memory.texts.mentions import gazetteer
from pipeline.knowledge import Mode, RankedNode

_CANDIDATES = 50
_NAMED = 8.0
"""Weight of being named in the question, beside 1 for each of words and meaning: any named entity comes before any that
is only similar. Chosen by hand; not measured."""

_UNNAMED = 20
"""Ranks that an entity which is only similar to the question loses against the memories, lest it come before the text
that answers. Chosen by hand; not measured."""

_K = 60


class Meant(NamedTuple):
    """The entities that a question is about, best first, by id, and the ids of those that it names."""

    entities: dict[str, Entity]
    named: frozenset[str]


NOTHING = Meant({}, frozenset())


def find_entities(memory: AgentMemory, question: str, vector: Sequence[float], when: When, scope: str | None) -> Meant:
    """Return the entities that a question is about."""
    graph = memory.graph_at(when)
    named = [mention.entity.id for mention in gazetteer(memory, scope).mentions(question)]
    rankings = [(named, _NAMED), (_ids(graph.search(question, _CANDIDATES, mode=Mode.BM25)), 1.0)]
    if memory.has_embeddings():
        rankings.append((_ids(graph.nearest(vector, _CANDIDATES)), 1.0))
    scores: dict[str, float] = {}
    for ids, weight in rankings:
        for rank, id_ in enumerate(dict.fromkeys(ids), 1):
            scores[id_] = scores.get(id_, 0.0) + weight / (_K + rank)
    there = _present(memory, scores, when, scope)
    best = sorted(there, key=lambda id_: (-scores[id_], id_))
    return Meant({id_: there[id_] for id_ in best}, frozenset(named))


def ranks_of_entities(meant: Meant, most: int) -> dict[str, int]:
    """Return the ranks of the first entities; one that the question doesn't name ranks 20 places lower."""
    first = list(meant.entities)[:most]
    return {id_: rank + (0 if id_ in meant.named else _UNNAMED) for rank, id_ in enumerate(first, 1)}


def mentioning(
    memory: AgentMemory, entities: Mapping[Level, Collection[str]], when: When, candidates: Collection[str]
) -> dict[Level, dict[str, float]]:
    """Return how rare the entities of each level are that ``candidates``, keys of memories, mention: their sum, by key.

    ``entities`` has the ids of each level.
    """
    wanted = dict.fromkeys(id_ for ids in entities.values() for id_ in ids) if candidates else ()
    rows = memory.read("memory_mentioning", when, ids=wanted, type=MENTIONS) if wanted else ()
    mentions = {row["entity"]: [EntityKey.of(id_).name for id_ in row["memories"]] for row in rows}
    return {level: _rarity([mentions.get(id_, []) for id_ in ids], candidates) for level, ids in entities.items()}


def _rarity(mentions: Sequence[Sequence[str]], candidates: Collection[str]) -> dict[str, float]:
    """Return the rarity of the entities that each candidate mentions; ``mentions`` has the memories of each entity."""
    total = 1 + sum(map(len, mentions))
    scores: dict[str, float] = {}
    for keys in mentions:
        for key in keys:
            if key in candidates:
                scores[key] = scores.get(key, 0.0) + math.log(1 + total / len(keys))
    return scores


def _ids(ranked: Sequence[RankedNode]) -> list[str]:
    return [one.node.id for one in ranked if one.node.type != MEMORY]


def _present(memory: AgentMemory, ids: Collection[str], when: When, scope: str | None) -> dict[str, Entity]:
    wanted = [id_ for id_ in ids if scope is None or EntityKey.of(id_).scope == scope]
    entities = (read_entity(row["stored"]) for row in memory.read("memory_present", when, ids=wanted))
    return {entity.id: entity for entity in entities}
