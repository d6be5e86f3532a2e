"""The levels of recall: the entities of a question (low), its themes (high), the texts that answer it; and fusion.

Entities are found by name, words and meaning. Themes are communities of the graph. Texts are found by words, vectors
and the walk, with dates as soft evidence.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeVar

from pipeline.domains.memory.memory import AgentMemory, read_entity, read_fact
from pipeline.domains.memory.patterns import Related
from pipeline.domains.memory.records import Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.coverage import terms_of
from pipeline.text.dates import closeness, time_hints

_WORDS = 0.5
"""Share of a question's words that make a text fit it without being near. Chosen with the least cosines of the
settings."""

_K = 60  # k of reciprocal rank fusion, as Cormack et al. (2009) chose it

# How much of the themes is shown: chosen by hand to fit a screen or a prompt; not measured.
_THEMES = 3
_SHOWN = 8
_FACTS = 12

_LEAST = 3  # a community of fewer nodes is no theme; chosen by hand
_CANDIDATES = 100  # passages that are searched for a question, as each ranking of the hybrid leg has

_DATE_K = 5
"""k of the reciprocal rank that a date may double: it moves a text from the 6th place before the 1st at most. Chosen by
hand; not measured."""


class Level(StrEnum):
    """A level of retrieval."""

    TEXTS = "texts"
    """the memories themselves, by words, vectors and walk"""
    LOW = "low"
    """the entities that a question is about, and their facts"""
    HIGH = "high"
    """themes: entities of thematic types and the communities that they are in"""


@dataclass(frozen=True, slots=True)
class LevelRank:
    """The rank of an item in a level, from 1, and its share of the item's score, 0 to 1."""

    rank: int
    share: float


@dataclass(frozen=True, slots=True)
class Theme:
    """A community that a question is about: its entities, those that fit best first, and the facts that join them."""

    entities: tuple[Entity, ...]
    facts: tuple[Related, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Period:
    """A period that the question speaks of: in its words, and from when until when; None leaves it open."""

    phrase: str
    start: str | None
    end: str | None


_Ranking = TypeVar("_Ranking")
Ranks = Mapping[str, int]
"""Ranks by id, from 1; equal ones share a rank."""


def ranks_of(scores: Mapping[str, float]) -> dict[str, int]:
    """Return ranks by score, the highest first; equal scores share the rank of the first."""
    best_first = sorted(scores.values(), reverse=True)
    return {id_: 1 + best_first.index(score) for id_, score in scores.items()}


def fuse(rankings: Mapping[_Ranking, Ranks], weights: Mapping[_Ranking, float]) -> dict[str, float]:
    """Return the fused scores by id, best first; ties go by id."""
    scores: dict[str, float] = {}
    for name, ranks in rankings.items():
        for id_, rank in ranks.items():
            scores[id_] = scores.get(id_, 0.0) + weights[name] / (_K + rank)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def levels_of(id_: str, rankings: Mapping[Level, Ranks], weights: Mapping[Level, float]) -> dict[Level, LevelRank]:
    """Return the rank of an item in each level that has it, with its share of the fused score."""
    parts = {level: weights[level] / (_K + ranks[id_]) for level, ranks in rankings.items() if id_ in ranks}
    total = sum(parts.values()) or 1.0
    return {level: LevelRank(rankings[level][id_], part / total) for level, part in parts.items()}


def fits(question: str, least: float, found: Iterable[tuple[float, str]]) -> bool:
    """Return whether any of what was ``found`` fits a question; it is given by its cosine to it, and its text.

    It fits with a cosine of ``least``, or with half of the words of the question; with a ``least`` of 0 all does.
    """
    found = list(found)
    if least <= 0 or max((cosine for cosine, _ in found), default=0.0) >= least:
        return True
    terms = set(terms_of(question))
    return any(len(terms.intersection(terms_of(text))) >= _WORDS * len(terms) for _, text in found)


def cosine_of(hit: Hit) -> float:
    """Return the cosine of a passage and the question; 0 for one that isn't among the nearest."""
    return hit.legs[Leg.VECTOR].score if Leg.VECTOR in hit.legs else 0.0


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


def find_themes(
    memory: AgentMemory, entities: Mapping[str, Entity], when: When
) -> tuple[list[Theme], dict[str, float]]:
    """Return the themes of a question, whose entities come best first, and the score of each entity of a theme.

    A community counts the reciprocal ranks of its entities, those of thematic types (the setting ``themes``) twice. Its
    entities are ranked by that and by their number of mentions.
    """
    strength = {
        id_: (2.0 if entity.type in memory.settings.themes else 1.0) / (_K + rank)  # chosen by hand, not measured
        for rank, (id_, entity) in enumerate(entities.items(), 1)
    }
    scored = [
        (sum(strength.get(id_, 0.0) for id_ in community), community)
        for community in memory.cached(("communities", when), memory.graph_at(when).communities)
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


def find_texts(
    memory: AgentMemory, question: str, vector: Sequence[float], filters: Mapping[str, Any] | None, now: datetime
) -> tuple[dict[str, Hit], tuple[Period, ...]]:
    """Return the best passage of each text that answers, by key, best first, and the periods of the question.

    Without a ``vector``, as for a question that the model can't read, words alone rank. A memory from such a period
    counts up to twice its reciprocal rank; none is left out for its time.
    """
    best: dict[str, Hit] = {}
    asked = vector if len(vector) else None
    for hit in memory.hoprank.search(question, asked, _CANDIDATES, filters, corpus=memory.name, leg=Leg.WHOLE).hits:
        best.setdefault(hit.document, hit)
    hints = time_hints(question, now)
    scores: dict[str, float] = {}
    for place, (key, hit) in enumerate(best.items(), 1):
        time = hit.document_metadata.get("time")
        close = max((closeness(str(time), hint) for hint in hints), default=0.0) if time else 0.0
        scores[key] = (1 + close) / (_DATE_K + place)
    hits = dict(sorted(best.items(), key=lambda item: -scores[item[0]]))  # ties stay in order
    return hits, tuple(Period(hint.phrase, hint.start, hint.end) for hint in hints)


def filters_of(
    memory: AgentMemory, when: When, scope: str | None, given: Mapping[str, Any] | None
) -> Mapping[str, Any] | None:
    """Return the filter of a search: the caller's, the scope, and texts said by ``as_of`` and known at ``known_at``."""
    parts: list[Mapping[str, Any]] = [given] if given else []
    if scope is not None:
        parts.append({"metadata.scope": scope})
    if when.as_of is not None:
        parts.append({"metadata.time": {"$lte": when.as_of}})
    if when.known_at is not None:
        later = [EntityKey.of(id_).name for id_ in memory.texts_after(when.known_at)]
        parts.append({"document": {"$nin": later or [""]}})  # no document has this key
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else {"$and": parts}
