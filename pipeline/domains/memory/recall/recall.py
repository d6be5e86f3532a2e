"""Recall: question -> texts, entities, themes -> fusion -> items; and the hybrid pattern, by topic."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related, facts_of
from pipeline.domains.memory.recall.levels import (
    NOTHING,
    Meant,
    filters_of,
    find_entities,
    find_texts,
    find_themes,
    mentioning,
    ranks_of_entities,
)
from pipeline.domains.memory.recall.records import (
    Found,
    FoundEntity,
    FoundText,
    Level,
    LevelRank,
    Period,
    Recall,
    Theme,
)
from pipeline.domains.memory.records import NOW, Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.domains.memory.times import read_time
from pipeline.errors import QuestionError, UnknownCorpus
from pipeline.knowledge import Direction
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question

_K = 60  # of reciprocal rank fusion, as Cormack et al. (2009) chose it

TEXT_WEIGHTS = {Level.TEXTS: 8.0, Level.LOW: 1.0, Level.HIGH: 0.5}
"""Weights of the levels for memories. The texts lead, the others shift a memory by a few places: two weak rankings of
equal weight would outvote one good one. The numbers are chosen by hand; not measured one by one."""

ENTITY_WEIGHTS = {Level.LOW: 8.0, Level.HIGH: 1.0}
"""Weights of the levels for entities, of which the low level knows most; chosen by hand, not measured."""

Ranks = Mapping[str, int]
"""Ranks by id, from 1; equal ones share a rank."""


def ranks_of(scores: Mapping[str, float]) -> dict[str, int]:
    """Return ranks by score, the highest first; equal scores share the rank of the first."""
    ordered = sorted(scores.values(), reverse=True)
    first: dict[float, int] = {}
    for rank, score in enumerate(ordered, 1):
        first.setdefault(score, rank)
    return {id_: first[score] for id_, score in scores.items()}


def fuse(rankings: Mapping[Level, Ranks], weights: Mapping[Level, float]) -> dict[str, float]:
    """Return the fused scores by id, best first; ties go by id."""
    scores: dict[str, float] = {}
    for level, ranks in rankings.items():
        for id_, rank in ranks.items():
            scores[id_] = scores.get(id_, 0.0) + _score(weights[level], rank)
    return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))


def levels_of(id_: str, rankings: Mapping[Level, Ranks], weights: Mapping[Level, float]) -> dict[Level, LevelRank]:
    """Return the rank of an item in each level that has it, with its share of the fused score."""
    parts = {level: _score(weights[level], ranks[id_]) for level, ranks in rankings.items() if id_ in ranks}
    total = sum(parts.values()) or 1.0
    return {level: LevelRank(rankings[level][id_], part / total) for level, part in parts.items()}


def first_by(ids: Sequence[str]) -> dict[str, int]:
    """Return the ranks of ids in order."""
    return {id_: rank for rank, id_ in enumerate(dict.fromkeys(ids), 1)}


def _score(weight: float, rank: int) -> float:
    return weight / (_K + rank)


_ENTITIES = 10
_FACTS = 8


def recall(
    memory: AgentMemory,
    question: str,
    top_k: int = 10,
    when: When = NOW,
    *,
    scope: str | None = None,
    filters: Mapping[str, Any] | None = None,
    now: datetime | None = None,
    levels: Sequence[Level] = tuple(Level),
) -> Recall:
    """Return the memories and entities that answer a question best, and its themes.

    ``filters`` are conditions on memories, as for a search (``{"metadata.session": "s1"}``). ``now`` is the time that
    "last May" is relative to: by default ``when.as_of``, or the present. ``levels`` are those that are asked.

    Raises QuestionError for an empty question or a ``top_k`` under 1, FilterError, GraphError without a memory.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 item or more.")
    question = check_question(question)
    memory = memory.opened()
    memory.graph()
    vector = memory.hoprank.embedder.embed_query(question)
    hits: dict[str, Hit] = {}
    periods: tuple[Period, ...] = ()
    if Level.TEXTS in levels:
        relative_to = now or _present_of(memory, when)
        conditions = filters_of(memory, when, scope, filters)
        with suppress(UnknownCorpus):  # a memory of scans alone has no texts
            found, periods = find_texts(memory, question, vector, conditions, relative_to)
            hits = {hit.document: hit for hit in found}
    meant = NOTHING
    if Level.LOW in levels or Level.HIGH in levels:
        meant = find_entities(memory, question, vector, when, scope)
    answer = _rank(memory, when, levels, hits, meant)
    items = _items(memory, when, hits, answer, top_k)
    return Recall(tuple(items), answer.themes, periods, _answered(items))


@dataclass(frozen=True, slots=True)
class _Ranked:
    """The ranks of memories, by key, and of entities, by id, in each level; the entities and the themes."""

    texts: Mapping[Level, Mapping[str, int]]
    ranks: Mapping[Level, Mapping[str, int]]
    entities: Mapping[str, Entity]
    themes: tuple[Theme, ...]


def _rank(memory: AgentMemory, when: When, levels: Sequence[Level], hits: Mapping[str, Hit], meant: Meant) -> _Ranked:
    entities = dict(meant.entities)
    texts: dict[Level, Mapping[str, int]] = {Level.TEXTS: first_by(list(hits))} if hits else {}
    ranks: dict[Level, Mapping[str, int]] = {}
    themes: list[Theme] = []
    asked: dict[Level, Sequence[str]] = {}
    if Level.LOW in levels and entities:
        asked[Level.LOW] = list(entities)[:_ENTITIES]
        ranks[Level.LOW] = ranks_of_entities(meant, _ENTITIES)
    if Level.HIGH in levels and entities:
        themes, scores = find_themes(memory, meant.entities, when)
        of_themes = {entity.id: entity for theme in themes for entity in theme.entities}
        ranks[Level.HIGH] = ranks_of(scores)
        asked[Level.HIGH] = list(of_themes)
        entities = {**of_themes, **entities}
    texts |= {level: ranks_of(scores) for level, scores in mentioning(memory, asked, when, hits).items()}
    return _Ranked(texts, ranks, entities, tuple(themes))


def levels_named(names: Sequence[str] | None) -> tuple[Level, ...]:
    """Return the levels of these names, all without any; raises QuestionError if there is no such level."""
    known = [level.value for level in Level]
    for name in names or ():
        if name not in known:
            raise QuestionError(f"There is no level {name!r}.", f"Use {', '.join(known)}.")
    return tuple(Level(name) for name in dict.fromkeys(names)) if names else tuple(Level)


def present(memory: AgentMemory, text: str) -> datetime:
    """Return the present that a text names, in the time zone of the memory; raises InputError if it is no time."""
    return datetime.fromisoformat(read_time(text, memory.zone, "now")).astimezone(memory.zone)


def _items(memory: AgentMemory, when: When, hits: Mapping[str, Hit], answer: _Ranked, top_k: int) -> list[Found]:
    found: list[Found] = [
        FoundText(hits[key], score, levels_of(key, answer.texts, TEXT_WEIGHTS))
        for key, score in fuse(answer.texts, TEXT_WEIGHTS).items()
    ]
    best = list(fuse(answer.ranks, ENTITY_WEIGHTS).items())[:top_k]
    facts = _facts(memory, [id_ for id_, _ in best], when)
    found += [
        FoundEntity(
            answer.entities[id_], tuple(facts.get(id_, ())), score, levels_of(id_, answer.ranks, ENTITY_WEIGHTS)
        )
        for id_, score in best
    ]
    return sorted(found, key=lambda item: (-item.score, isinstance(item, FoundEntity), _name(item)))[:top_k]


def _facts(memory: AgentMemory, ids: Sequence[str], when: When) -> dict[str, list[Related]]:
    facts: dict[str, list[Related]] = {}
    for id_, related in facts_of(memory, ids, when) if ids else ():
        if len(facts.setdefault(id_, [])) < _FACTS:
            facts[id_].append(related)
    return facts


def _answered(items: Sequence[Found]) -> Level | None:
    if not items:
        return None
    return max(items[0].levels, key=lambda level: items[0].levels[level].share)


def _present_of(memory: AgentMemory, when: When) -> datetime:
    return datetime.fromisoformat(when.as_of).astimezone(memory.zone) if when.as_of else datetime.now(memory.zone)


def _name(item: Found) -> str:
    return item.key if isinstance(item, FoundText) else item.entity.id


@dataclass(frozen=True, slots=True)
class Topic:
    """Memories on a topic, best first; the entities that they mention, those that most of them mention first."""

    memories: tuple[Hit, ...]
    entities: tuple[Entity, ...]
    facts: tuple[Related, ...]


def hybrid(
    memory: AgentMemory, topic: str, top_k: int = 5, when: When = NOW, *, scope: str | None = None, limit: int = 20
) -> Topic:
    """Return the memories that match a topic by words, the entities that they mention, and the facts of these."""
    memory = memory.opened()
    memory.graph()
    if not memory.has_texts():
        return Topic((), (), ())
    filters = filters_of(memory, when, scope, None)
    hits = memory.hoprank.search(topic, None, top_k, filters, corpus=memory.name, leg=Leg.FULLTEXT).hits
    entities = _mentioned(memory, hits, when)[:limit]
    facts = facts_of(memory, [entity.id for entity in entities], when, direction=Direction.OUT, limit=limit)
    return Topic(tuple(hits), tuple(entities), tuple(related for _, related in facts))


def _mentioned(memory: AgentMemory, hits: Sequence[Hit], when: When) -> list[Entity]:
    ids = [
        EntityKey(str(hit.document_metadata.get("scope", memory.settings.scope)), MEMORY, hit.document).id
        for hit in hits
    ]
    rows = memory.read("memory_mentioned_at", when, ids=dict.fromkeys(ids), type=MENTIONS)
    nodes = memory.graph_at(when).get_nodes([row["entity"] for row in rows])
    return [Entity.of(node) for node in nodes]
