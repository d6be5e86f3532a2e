"""Recall: question -> texts, entities, themes -> fusion -> items; and the hybrid pattern, by topic."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import Related, facts_of
from pipeline.domains.memory.recall import levels as steps
from pipeline.domains.memory.recall.entities import Meant, find_entities, precedes
from pipeline.domains.memory.recall.levels import Level, LevelRank, Period, Ranks, Theme
from pipeline.domains.memory.records import NOW, Entity, EntityKey, When
from pipeline.domains.memory.schema import MEMORY, MENTIONS
from pipeline.errors import QuestionError, UnknownCorpus
from pipeline.grouping import grouped
from pipeline.knowledge import Direction
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question

TEXT_WEIGHTS = {Level.TEXTS: 8.0, Level.LOW: 1.0, Level.HIGH: 0.5}
"""Weights of the levels for memories. The texts lead, the others shift a memory by a few places: two weak rankings of
equal weight would outvote one good one. The numbers are chosen by hand; not measured one by one."""

ENTITY_WEIGHTS = {Level.LOW: 8.0, Level.HIGH: 0.25}
"""Weights of the levels for entities, of which the low level knows most: a theme moves an entity up by two places at
most. Chosen on twenty questions to the code of two libraries, where 1 let modules and packages of the theme lead."""

_UNNAMED = 20
"""Ranks that an entity which is only similar to the question loses against the memories, lest it come before the text
that answers; but for code that is nearer to the question than any text. Chosen by hand; not measured."""

# How much of the entities counts and is shown: chosen by hand; not measured.
_ENTITIES = 10
_FACTS = 8


@dataclass(frozen=True, slots=True)
class FoundText:
    """A memory that answers: its passage, and when and by whom it was said."""

    hit: Hit
    score: float
    levels: Mapping[Level, LevelRank]

    @property
    def key(self) -> str:
        """The key of the memory."""
        return self.hit.document

    @property
    def time(self) -> str:
        """When it was said."""
        return str(self.hit.document_metadata.get("time", ""))

    @property
    def speaker(self) -> str:
        """The speaker, empty if there is none."""
        return str(self.hit.document_metadata.get("speaker", ""))


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that answers, with its heaviest facts."""

    entity: Entity
    facts: tuple[Related, ...]
    score: float
    levels: Mapping[Level, LevelRank]


Found = FoundText | FoundEntity


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question: items best first, themes, and the periods that the question speaks of.

    ``answered`` is the level that the first item owes most to; None if nothing was found.
    """

    items: tuple[Found, ...]
    themes: tuple[Theme, ...]
    periods: tuple[Period, ...]
    answered: Level | None


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
    """Return the memories and entities that answer a question best, and its themes; nothing if nothing fits it.

    ``filters`` are conditions on memories, as for a search (``{"metadata.session": "s1"}``). ``now`` is the time that
    "last May" is relative to: by default ``when.as_of``, or the present. ``levels`` are those that are asked.

    Raises QuestionError for an empty question or a ``top_k`` under 1, FilterError, GraphError without a memory.
    """
    if top_k < 1:
        raise QuestionError(f"top_k is {top_k}.", "Ask for 1 item or more.")
    question = check_question(question)
    embedder = memory.hoprank.embedder
    vector = embedder.embed_query(question) if embedder.reads(question) else ()
    return memory.read_whole(lambda opened: _recall(opened, question, vector, top_k, when, scope, filters, now, levels))


def _recall(
    memory: AgentMemory,
    question: str,
    vector: Sequence[float],
    top_k: int,
    when: When,
    scope: str | None,
    filters: Mapping[str, Any] | None,
    now: datetime | None,
    levels: Sequence[Level],
) -> Recall:
    memory.graph()
    hits: dict[str, Hit] = {}
    periods: tuple[Period, ...] = ()
    if Level.TEXTS in levels:
        as_of = datetime.fromisoformat(when.as_of) if when.as_of else datetime.now(UTC)
        conditions = steps.filters_of(memory, when, scope, filters)
        with suppress(UnknownCorpus):  # a memory of scans alone has no texts
            relative_to = now or as_of.astimezone(memory.zone)
            hits, periods = steps.find_texts(memory, question, vector, conditions, relative_to)
    meant = Meant({})
    if Level.LOW in levels or Level.HIGH in levels:
        meant = find_entities(memory, question, vector, when, scope)
    passages = [(steps.cosine_of(hit), f"{hit.title} {hit.heading} {hit.text}") for hit in hits.values()]
    # a name or a period that the question speaks of fits, whatever its other words
    if not meant.named and not periods and not steps.fits(question, memory.settings.relevance, passages):
        hits = {}
    texts, ranks, entities, themes = _rank(memory, when, levels, hits, meant)
    items: list[Found] = [
        FoundText(hits[key], score, steps.levels_of(key, texts, TEXT_WEIGHTS))
        for key, score in steps.fuse(_with_last(texts, hits), TEXT_WEIGHTS).items()
    ]
    items += _found_entities(memory, when, ranks, entities, top_k)
    items = sorted(items, key=lambda item: -item.score)[:top_k]  # of equal ones memories first, then by key or id
    shares = items[0].levels if items else {}
    return Recall(tuple(items), themes, periods, max(shares, key=lambda level: shares[level].share, default=None))


def _with_last(texts: Mapping[Level, Ranks], hits: Collection[str]) -> dict[Level, Ranks]:
    """Return the ranks of each level with the memories that it lacks behind all others.

    Else the best text would lose to a worse one that mentions anything at all.
    """
    return {level: {key: ranks.get(key, len(ranks) + 1) for key in hits} for level, ranks in texts.items()}


def _rank(
    memory: AgentMemory, when: When, levels: Sequence[Level], hits: Mapping[str, Hit], meant: Meant
) -> tuple[dict[Level, Ranks], dict[Level, Ranks], dict[str, Entity], tuple[Theme, ...]]:
    """Return the ranks of memories, by key, and of entities, by id, in each level; the entities and the themes."""
    entities, themes = dict(meant.entities), list[Theme]()
    texts: dict[Level, Ranks] = {Level.TEXTS: {key: rank for rank, key in enumerate(hits, 1)}} if hits else {}
    ranks: dict[Level, Ranks] = {}
    asked: dict[Level, Sequence[str]] = {}
    if Level.LOW in levels and entities:
        first = asked[Level.LOW] = list(entities)[:_ENTITIES]
        lead = max(map(steps.cosine_of, hits.values()), default=0.0)
        behind = {id_: _UNNAMED for id_ in first if hits and not precedes(id_, meant, lead)}
        ranks[Level.LOW] = {id_: rank + behind.get(id_, 0) for rank, id_ in enumerate(first, 1)}
    if Level.HIGH in levels and entities:
        themes, scores = steps.find_themes(memory, meant.entities, when)
        of_themes = {entity.id: entity for theme in themes for entity in theme.entities}
        ranks[Level.HIGH] = steps.ranks_of(scores)
        asked[Level.HIGH] = list(of_themes)
        entities = {**of_themes, **entities}
    texts |= {level: steps.ranks_of(scores) for level, scores in steps.mentioning(memory, asked, when, hits).items()}
    return texts, ranks, entities, tuple(themes)


def _found_entities(
    memory: AgentMemory, when: When, ranks: Mapping[Level, Ranks], entities: Mapping[str, Entity], top_k: int
) -> list[FoundEntity]:
    best = dict(islice(steps.fuse(ranks, ENTITY_WEIGHTS).items(), top_k))
    facts = grouped(facts_of(memory, list(best), when) if best else ())
    return [
        FoundEntity(entities[id_], tuple(facts[id_][:_FACTS]), score, steps.levels_of(id_, ranks, ENTITY_WEIGHTS))
        for id_, score in best.items()
    ]


def levels_named(names: Sequence[str] | None) -> tuple[Level, ...]:
    """Return the levels of these names, all without any; raises QuestionError if there is no such level."""
    known = [level.value for level in Level]
    for name in names or ():
        if name not in known:
            raise QuestionError(f"There is no level {name!r}.", f"Use {', '.join(known)}.")
    return tuple(Level(name) for name in dict.fromkeys(names)) if names else tuple(Level)


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
    filters = steps.filters_of(memory, when, scope, None)
    hits = memory.hoprank.search(topic, None, top_k, filters, corpus=memory.name, leg=Leg.FULLTEXT).hits
    scopes = [str(hit.document_metadata.get("scope", memory.settings.scope)) for hit in hits]
    ids = {EntityKey(own, MEMORY, hit.document).id: None for own, hit in zip(scopes, hits, strict=True)}
    rows = memory.read("memory_mentioned_at", when, ids=ids, type=MENTIONS)
    nodes = memory.graph_at(when).get_nodes([row["entity"] for row in rows])[:limit]
    facts = facts_of(memory, [node.id for node in nodes], when, direction=Direction.OUT, limit=limit)
    return Topic(tuple(hits), tuple(map(Entity.of, nodes)), tuple(related for _, related in facts))
