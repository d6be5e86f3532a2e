"""Candidates: pairs of entities that may be the same thing, with what speaks for and against, and groups of them.

Homonyms are no candidates: entities with similar names that are different things, distinguished by what contradicts.

Both are of one type and scope. Vectors are compared in blocks of matrix products, names by the keys of their forms: no
step looks at all pairs in Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from pipeline.domains.memory.dedupe.variants import (
    LANGUAGES,
    NEGATIVES,
    Name,
    Variant,
    difference,
    opposites,
    read_name,
    variant,
)
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.settings import MemorySettings
from pipeline.embedding.nearest import nearest, unit_vectors
from pipeline.knowledge.records import Json
from pipeline.text.names import folded

Pair = tuple[str, str]
"""The ids of two entities, in order."""

Contradicts = Callable[[str, str], str]
"""A function that returns why two entities, given by id, can't be the same thing; "" if they can."""

# Where no reason is given, these were chosen by hand, and not measured.
_NEIGHBOURS = 10
"""The most entities that are compared with one by their vectors: more than anything has names."""

_LARGEST_BLOCK = 100
"""The most names under one key that are compared pair by pair; of more, each is compared with the first."""

_PRODUCT = 16_000_000
"""The most cosines of a block of products: 64 MB."""

_SUPPORTED = 0.7
"""The least strength of a variant that counts: together with the cosine for a merge, alone for a review.

Below it are names of which half is left out, as @grafana/e2e and e2e: they filled the review with what isn't the same.
"""

_UNLIKE = 0.3
"""Descriptions of a lower cosine speak of different things."""

_SHARED, _OVERLAP = 2, 0.5
"""Entities have the same place in the graph from that many shared neighbours, and that share of the fewer ones."""

_NAMED_TYPES = frozenset(("library", "person", "config"))
"""Types of which two with different names are two, whatever their meaning and neighbours."""


class Place(NamedTuple):
    """A place in the graph: a relation, whether the entity is its source, and the entity at its other end."""

    relation: str
    outward: bool
    neighbour: str


@dataclass(frozen=True, slots=True)
class Subject:
    """An entity with its name as it was read."""

    entity: Entity
    name: Name

    @classmethod
    def read(cls, entity: Entity) -> Subject:
        """Read the name and the aliases of an entity; a person's e-mail addresses lead to it, too."""
        addresses = _values(entity.metadata.get("email")) | _values(entity.metadata.get("emails"))
        aliases = [*entity.aliases, *(sorted(addresses) if entity.type == "person" else ())]
        return cls(entity, read_name(entity.name, entity.type, aliases))

    @property
    def id(self) -> str:
        """The id of the entity's node."""
        return self.entity.id


@dataclass(frozen=True, slots=True)
class Candidate:
    """Two entities that may be the same thing, by id, in order.

    ``cosine`` is None if one of them has no embedding. ``strength`` and ``reason`` are those of the names' variant; 0
    and "" if there is none. ``shared`` are neighbours that both have in the same relation. ``against`` says what speaks
    against. ``automatic`` candidates are merged unasked.
    """

    first: str
    second: str
    cosine: float | None
    strength: float
    reason: str
    shared: tuple[str, ...]
    against: tuple[str, ...]
    automatic: bool

    @property
    def pair(self) -> Pair:
        """The two ids."""
        return self.first, self.second


def find_candidates(
    subjects: Sequence[Subject],
    vectors: Mapping[str, Sequence[float]],
    places: Mapping[str, frozenset[Place]],
    settings: MemorySettings,
) -> list[Candidate]:
    """Return the candidates among entities, ordered by their ids; homonyms are none.

    ``vectors`` are the embeddings of those that have one, and ``places`` their places in the graph, by id.
    """
    by_id = {subject.id: subject for subject in subjects}
    groups: dict[tuple[str, str], list[Subject]] = defaultdict(list)
    for subject in sorted(subjects, key=lambda subject: subject.id):
        groups[subject.entity.scope, subject.entity.type].append(subject)
    cosines: dict[Pair, float] = {}
    named: set[Pair] = set()
    for group in groups.values():
        cosines |= _near(group, vectors, settings.dedupe_cosine)
        if group[0].entity.type not in settings.dedupe_whole_names:
            named |= _pairs_by_name(group)
    pairs = sorted(cosines.keys() | named)
    missing = [pair for pair in pairs if pair not in cosines and all(id_ in vectors for id_ in pair)]
    cosines |= _cosines(missing, vectors)
    judged = (_judge(by_id[a], by_id[b], cosines.get((a, b)), places, settings) for a, b in pairs)
    return [candidate for candidate in judged if candidate]


def group_candidates(
    candidates: Sequence[Candidate], contradicts: Contradicts
) -> tuple[list[tuple[str, ...]], list[Candidate]]:
    """Return the groups, each by the ids of its members in order, and the candidates that are left for review.

    An automatic candidate is left if one of its two has another candidate that contradicts the other: J. Doe may be
    John or Jane. The others are joined, the strongest first, unless any two members would contradict.
    """
    near: dict[str, set[str]] = defaultdict(set)
    for candidate in candidates:
        if candidate.automatic:
            near[candidate.first].add(candidate.second)
            near[candidate.second].add(candidate.first)
    group_of: dict[str, frozenset[str]] = {id_: frozenset((id_,)) for id_ in near}
    review = []
    for candidate in sorted(candidates, key=_strongest_first):
        if not candidate.automatic:
            review.append(candidate)
            continue
        first, second = candidate.pair
        if against := _ambiguity(first, second, near, contradicts) or _conflict(
            group_of[first], group_of[second], contradicts
        ):
            review.append(replace(candidate, against=(*candidate.against, against), automatic=False))
            continue
        joined = group_of[first] | group_of[second]
        group_of.update(dict.fromkeys(joined, joined))
    groups = sorted({tuple(sorted(group)) for group in group_of.values() if len(group) > 1})
    return groups, review


def _near(group: Sequence[Subject], vectors: Mapping[str, Sequence[float]], threshold: float) -> dict[Pair, float]:
    ids = [subject.id for subject in group if subject.id in vectors]
    if len(ids) < 2:
        return {}
    unit = unit_vectors([vectors[id_] for id_ in ids])
    cosines: dict[Pair, float] = {}
    step = max(1, _PRODUCT // len(ids))
    for at in range(0, len(ids), step):
        lists = nearest(unit, np.arange(at, min(at + step, len(ids))), _NEIGHBOURS, threshold)
        for row, other, score in zip(lists.row.tolist(), lists.other.tolist(), lists.score.tolist(), strict=True):
            cosines[ids[min(row, other)], ids[max(row, other)]] = score
    return cosines


def _cosines(pairs: Sequence[Pair], vectors: Mapping[str, Sequence[float]]) -> dict[Pair, float]:
    cosines = {}
    for pair in pairs:
        first, second = unit_vectors([vectors[id_] for id_ in pair])
        cosines[pair] = round(float(first @ second), 4)
    return cosines


def _pairs_by_name(group: Iterable[Subject]) -> set[Pair]:
    blocks: dict[str, list[Subject]] = defaultdict(list)
    for subject in group:
        for key in subject.name.keys:
            blocks[key].append(subject)
    return {
        (first.id, second.id)
        for block in blocks.values()
        for first, second in _pairs(block)
        if variant(first.name, second.name) is not None
    }


def _pairs(block: Sequence[Subject]) -> Iterator[tuple[Subject, Subject]]:
    if len(block) <= _LARGEST_BLOCK:
        return combinations(block, 2)
    return ((block[0], other) for other in block[1:])


def _judge(
    first: Subject,
    second: Subject,
    cosine: float | None,
    places: Mapping[str, frozenset[Place]],
    settings: MemorySettings,
) -> Candidate | None:
    if contradiction(first, second, settings.dedupe_identity):
        return None
    whole = first.entity.type in settings.dedupe_whole_names
    named = variant(first.name, second.name)
    if whole and named is None:
        return None
    named = named or Variant(0.0, "")
    own, others = places.get(first.id, frozenset()), places.get(second.id, frozenset())
    shared = own & others
    together = len(shared) >= _SHARED and len(shared) >= _OVERLAP * min(len(own), len(others))
    against = tuple(_against(first, second, cosine, named))
    near = cosine is not None and cosine >= settings.dedupe_cosine
    if named.strength < _SUPPORTED and not near and not together:
        return None  # so weak a variant alone is no sign: @grafana/e2e and e2e
    meant = together and first.entity.type not in _NAMED_TYPES
    agrees = named.strength >= settings.dedupe_strength or (near and (named.strength >= _SUPPORTED or meant))
    neighbours = tuple(sorted({place.neighbour for place in shared}))
    return Candidate(first.id, second.id, cosine, *named, neighbours, against, agrees and not against and not whole)


def _against(first: Subject, second: Subject, cosine: float | None, named: Variant) -> Iterator[str]:
    if cosine is not None and cosine < _UNLIKE and first.entity.description and second.entity.description:
        yield f"their descriptions differ: cosine {cosine:.2f}"
    if first.entity.type in _NAMED_TYPES and not named.strength:
        yield "their names differ"
    if first.name.qualifier != second.name.qualifier:
        qualifier = first.name.qualifier or second.name.qualifier
        if "abbreviation" not in named.reason:
            yield f"only one of them is the {' '.join(qualifier)}"


def _strongest_first(candidate: Candidate) -> tuple[float, float, str, str]:
    return -candidate.strength, -(candidate.cosine or 0.0), candidate.first, candidate.second


def _ambiguity(first: str, second: str, near: dict[str, set[str]], contradicts: Contradicts) -> str:
    for one, other in ((first, second), (second, first)):
        for third in sorted(near[one] - {other}):
            if contradicts(other, third):
                return f"{one} may be {third} instead"
    return ""


def _conflict(group: frozenset[str], other: frozenset[str], contradicts: Contradicts) -> str:
    if group == other:
        return ""
    for one in sorted(group):
        for two in sorted(other):
            if reason := contradicts(one, two):
                return f"it would join {one} with {two}: {reason}"
    return ""


def contradiction(first: Subject, second: Subject, identity: Sequence[str]) -> str:
    """Return why two entities can't be the same thing; "" if nothing says so.

    ``identity`` names the metadata in which the same thing can't differ.
    """
    return next((reason for reason in _contradictions(first, second, identity) if reason), "")


def _contradictions(first: Subject, second: Subject, identity: Sequence[str]) -> Iterator[str]:
    name, other = first.name, second.name
    if (first.entity.type, first.entity.scope) != (second.entity.type, second.entity.scope):
        yield "they differ in type or scope"
    yield _identities(first.entity.metadata, second.entity.metadata, identity)
    if name.person and other.person:
        yield difference(name.person, other.person)
        yield _addresses(first, second)
        bare = name.person.bare or other.person.bare
    else:
        bare = False
    if not bare and name.numbers != other.numbers:
        yield f"their numbers differ: {' '.join(name.numbers) or 'none'} and {' '.join(other.numbers) or 'none'}"
    yield _parts(name, other)
    if name.person is None:
        yield _words(name, other)


def _identities(first: Mapping[str, Json], second: Mapping[str, Json], identity: Sequence[str]) -> str:
    for name in identity:
        own, others = _values(first.get(name)), _values(second.get(name))
        if own and others and not own & others:
            return f"their {name} differs: {min(own)} and {min(others)}"
    return ""


def _addresses(first: Subject, second: Subject) -> str:
    """Compare the address in a person's name with those in the other's metadata."""
    for subject, other in ((first, second), (second, first)):
        address = subject.name.person.address if subject.name.person else ""
        others = _values(other.entity.metadata.get("email")) | _values(other.entity.metadata.get("emails"))
        if address and others and address not in others:
            return f"their e-mail addresses differ: {address} and {min(others)}"
    return ""


def _values(value: Json) -> frozenset[str]:
    if value is None or value in ("", [], {}):
        return frozenset()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return frozenset(folded(str(item)) for item in value)
    return frozenset((folded(str(value)),))


def _parts(name: Name, other: Name) -> str:
    named: tuple[tuple[str, object, object], ...] = (
        ("what stands in parentheses", name.qualifier, other.qualifier),
        ("their endings", name.suffix, other.suffix),
        ("their scopes", name.owner, other.owner),
    )
    for label, own, others in named:
        if own and others and own != others:
            return f"{label} differ: {_shown(own)} and {_shown(others)}"
    if name.kinds and other.kinds and name.kinds.isdisjoint(other.kinds):
        return f"one is of {min(name.kinds)}, one of {min(other.kinds)}"
    return ""


def _words(name: Name, other: Name) -> str:
    own, others = set(name.words), set(other.words)
    languages = [{LANGUAGES[word] for word in words if word in LANGUAGES} for words in (own, others)]
    if all(languages) and languages[0].isdisjoint(languages[1]):
        return f"they are of {min(languages[0])} and of {min(languages[1])}"
    if (own & NEGATIVES) != (others & NEGATIVES):
        return "one of them is negated"
    left, right = own - others, others - own
    if len(left) == len(right) == 1 and opposites(*left, *right):
        return f"{min(left)} is not {min(right)}"
    return ""


def _shown(value: object) -> str:
    return " ".join(value) if isinstance(value, tuple) else str(value)
