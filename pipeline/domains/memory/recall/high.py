"""The high level: the themes of a question, communities of the graph that hold what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.domains.memory.memory import AgentMemory, read_entity, read_fact
from pipeline.domains.memory.patterns import Related
from pipeline.domains.memory.recall.records import Theme
from pipeline.domains.memory.records import Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS

# How much of the themes is shown: chosen by hand to fit a screen or a prompt; not measured.
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
    members = _members(memory, [community for _, community in best], entities, strength, when)
    themes = [
        Theme(tuple(of_theme), facts, score)
        for (score, _), of_theme, facts in zip(best, members, _joining(memory, members, when), strict=True)
    ]
    scores = {entity.id: theme.score / (_K + rank) for theme in themes for rank, entity in enumerate(theme.entities, 1)}
    return themes, scores


def _members(
    memory: AgentMemory,
    communities: Sequence[Sequence[str]],
    entities: Mapping[str, Entity],
    strength: Mapping[str, float],
    when: When,
) -> list[list[Entity]]:
    """Return the first members of each community: entities of the question, then others of thematic types."""
    members = [[entities[id_] for id_ in community if id_ in entities] for community in communities]
    thematic = frozenset(memory.settings.themes) - {MEMORY}
    others = [
        [id_ for id_ in community if id_ not in entities and EntityKey.of(id_).type in thematic]
        for community in communities
    ]
    rows = memory.read("memory_most_mentioned", when, groups=others, limit=_SHOWN)
    for row in rows:
        members[row["place"]].append(read_entity(row["stored"]))
    return [
        sorted(of_one, key=lambda entity: (-strength.get(entity.id, 0.0), -entity.mention_count, entity.id))[:_SHOWN]
        for of_one in members
    ]


def _joining(memory: AgentMemory, members: Sequence[Sequence[Entity]], when: When) -> list[tuple[Related, ...]]:
    """Return the facts among the members of each theme, heaviest first, each with the member whose id is last."""
    joining: list[list[Related]] = [[] for _ in members]
    groups = [[entity.id for entity in of_theme] for of_theme in members]
    for row in memory.read("memory_facts_among", when, groups=groups, excluded=MENTIONS, limit=_FACTS):
        fact, by_id = read_fact(row), {entity.id: entity for entity in members[row["place"]]}
        joining[row["place"]].append(Related(fact, by_id[max(fact.source, fact.target)]))
    return [tuple(related) for related in joining]
