"""Recall: question -> texts, entities, themes -> fusion -> items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related, facts_of
from pipeline.domains.memory.recall.fuse import ENTITY_WEIGHTS, TEXT_WEIGHTS, first_by, fuse, levels_of, ranks_of
from pipeline.domains.memory.recall.high import find_themes
from pipeline.domains.memory.recall.low import NOTHING, Meant, find_entities, mentioning, ranks_of_entities
from pipeline.domains.memory.recall.records import Found, FoundEntity, FoundText, Level, Period, Recall, Theme
from pipeline.domains.memory.recall.texts import filters_of, find_texts
from pipeline.domains.memory.records import NOW, Entity, When
from pipeline.domains.memory.times import read_time
from pipeline.errors import QuestionError, UnknownCorpus
from pipeline.records import Hit
from pipeline.retrieve.question import check_question

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
