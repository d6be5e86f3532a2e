"""The high level: the themes of a question, communities of the graph that hold what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related, facts_of
from pipeline.domains.memory.recall.records import Theme
from pipeline.domains.memory.records import Entity, When
from pipeline.domains.memory.schema import MEMORY

_THEMES = 3
_SHOWN = 8
_FACTS = 12
_K = 60
_LEAST = 3
"""A community of fewer nodes is no theme."""


def find_themes(
    memory: AgentMemory, entities: Mapping[str, Entity], when: When
) -> tuple[list[Theme], dict[str, float]]:
    """Return the themes of a question, whose entities come best first, and the score of each entity of a theme.

    A community counts the reciprocal ranks of its entities, those of thematic types (the setting ``themes``) twice. Its
    entities are ranked by that and by their number of mentions.
    """
    strength = {
        id_: (2.0 if entity.type in memory.settings.themes else 1.0) / (_K + rank)
        for rank, (id_, entity) in enumerate(entities.items(), 1)
    }
    scored = [
        (sum(strength.get(id_, 0.0) for id_ in community), community)
        for community in memory.communities(when)
        if len(community) >= _LEAST
    ]
    best = sorted((item for item in scored if item[0] > 0), key=lambda item: (-item[0], item[1][0]))[:_THEMES]
    themes, scores = [], {}
    for score, community in best:
        members = _members(memory, community, strength, when)
        themes.append(Theme(tuple(members), _joining(memory, members, when), score))
        for rank, entity in enumerate(members, 1):
            scores[entity.id] = score / (_K + rank)
    return themes, scores


def _members(memory: AgentMemory, community: Sequence[str], strength: Mapping[str, float], when: When) -> list[Entity]:
    nodes = memory.graph_at(when).get_nodes(community)
    entities = [Entity.of(node) for node in nodes if node.type != MEMORY]
    thematic = [entity for entity in entities if entity.type in memory.settings.themes or entity.id in strength]
    return sorted(thematic, key=lambda entity: (-strength.get(entity.id, 0.0), -entity.mention_count, entity.id))[
        :_SHOWN
    ]


def _joining(memory: AgentMemory, members: Sequence[Entity], when: When) -> tuple[Related, ...]:
    ids = {entity.id for entity in members}
    joined = {}
    for _, related in facts_of(memory, sorted(ids), when):
        if {related.fact.source, related.fact.target} <= ids:
            joined[related.fact.id] = related
    return tuple(list(joined.values())[:_FACTS])
