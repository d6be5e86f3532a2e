"""The entities that a question is about: those that it names, and those that its words and its meaning find."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pipeline.domains.memory.entities import gazetteer
from pipeline.domains.memory.memory import AgentMemory, read_entity
from pipeline.domains.memory.recall.levels import fits, fuse
from pipeline.domains.memory.records import Entity, EntityKey, When
from pipeline.domains.memory.schema import CODE, DEFINITIONS, MEMORY
from pipeline.knowledge import Mode, RankedNode

_ENTITIES = 100  # entities that each of words and meaning may bring; chosen by hand, not measured

_WEIGHTS = {"named": 8.0, "words": 1.0, "meaning": 1.0, "definitions": 1.0}
"""Weights of the rankings. Any entity that the question names comes before any that is only similar. The best
definition found in a file counts for the file as much as its own words. Chosen by hand; without "definitions" the right
file came first for 1 of 20 questions to code, with it for 10."""

_TESTS = 0.5
"""Weight of code that tests, unless a question speaks of tests: it has the words of what it tests, many times. Of 20
questions to code 14 find their file first with it and 13 without, 18 and 17 among the first three."""
_TEST = re.compile(r"\btest", re.IGNORECASE)
_TEST_PATH = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?)/|(?:^|/)(?:test_[^/]*|conftest\.py)$|[_.](?:test|spec)\.\w+$"
)


class Meant(NamedTuple):
    """The entities that a question is about, best first, by id, and the ids of those that it names.

    ``cosines`` are those of the nearest entities to the question.
    """

    entities: dict[str, Entity]
    named: frozenset[str] = frozenset()
    cosines: Mapping[str, float] = {}


def precedes(id_: str, meant: Meant, lead: float) -> bool:
    """Return whether an entity may come before texts: it is named, or is code nearer to the question than ``lead``."""
    return id_ in meant.named or (EntityKey.of(id_).type in CODE and meant.cosines.get(id_, 0.0) > lead)


def find_entities(memory: AgentMemory, question: str, vector: Sequence[float], when: When, scope: str | None) -> Meant:
    """Return the entities that a question is about: those that it names alone, if no other fits it."""
    graph = memory.graph_at(when)
    named = [mention.entity.id for mention in gazetteer(memory, scope).mentions(question)]
    words = graph.search(question, _ENTITIES, mode=Mode.BM25)
    nearest = graph.nearest(vector, _ENTITIES) if len(vector) and memory.has_embeddings() else []
    scores = _scores(named, _ids(words), _ids(nearest), tests=_TEST.search(question) is not None)
    wanted = [id_ for id_ in scores if scope is None or EntityKey.of(id_).scope == scope]
    entities = [read_entity(row["stored"]) for row in memory.read("memory_present", when, ids=wanted)]
    best = sorted(entities, key=lambda entity: (-scores[entity.id], entity.type != "file", entity.id))
    cosines = {one.node.id: one.score for one in nearest}
    evidence = ((cosines.get(entity.id, 0.0), f"{entity.name} {entity.text}") for entity in best)
    if not fits(question, memory.settings.entity_relevance, evidence):
        best = [entity for entity in best if entity.id in named]
    return Meant({entity.id: entity for entity in best}, frozenset(named), cosines)


def _scores(named: Sequence[str], words: Sequence[str], nearest: Sequence[str], *, tests: bool) -> dict[str, float]:
    """Return the scores of entities by id; ``tests``: the question speaks of tests."""
    similar = {"words": _ranks_apart(words), "meaning": _ranks_apart(nearest)}
    files = _files_of(fuse(similar, _WEIGHTS))
    scores = fuse({"named": _ranks_apart(named), "definitions": files, **similar}, _WEIGHTS)
    behind = () if tests else (id_ for id_ in scores if id_ not in named and _is_test(id_))
    return scores | {id_: scores[id_] * _TESTS for id_ in behind}


def _ranks_apart(ids: Iterable[str]) -> dict[str, int]:
    """Return ranks from 1: those of definitions, and those of the rest, which the many definitions would hide."""
    counts: Counter[bool] = Counter()
    ranks: dict[str, int] = {}
    for id_ in dict.fromkeys(ids):
        is_definition = EntityKey.of(id_).type in DEFINITIONS
        counts[is_definition] += 1
        ranks[id_] = counts[is_definition]
    return ranks


def _is_test(id_: str) -> bool:
    """Return whether an entity is code that tests, by its path."""
    key = EntityKey.of(id_)
    return key.type in CODE and _TEST_PATH.search(key.name.partition("::")[0]) is not None


def _files_of(definitions: Iterable[str]) -> dict[str, int]:
    """Return the files of the classes and functions among ranked ids, each by the rank of its first one, from 1."""
    keys = (EntityKey.of(id_) for id_ in definitions)
    paths = ((key.scope, key.name.partition("::")[0]) for key in keys if key.type in DEFINITIONS and "::" in key.name)
    files = dict.fromkeys(EntityKey(scope, "file", path).id for scope, path in paths)
    return {id_: rank for rank, id_ in enumerate(files, 1)}


def _ids(ranked: Sequence[RankedNode]) -> list[str]:
    return [one.node.id for one in ranked if one.node.type != MEMORY]
