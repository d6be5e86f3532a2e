"""Candidates: pairs of entities that may be the same thing, with what speaks for and against, and groups of them.

Both are of one type and scope. Homonyms, entities with similar names that something tells apart, are none. Vectors are
compared in blocks of matrix products, names by the keys of their forms: no step looks at all pairs in Python.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Self

import numpy as np

from pipeline.domains.memory.dedupe import variants
from pipeline.domains.memory.dedupe.variants import Name, Variant
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.settings import MemorySettings
from pipeline.embedding.everyday import BUNDLED, Scale
from pipeline.embedding.nearest import nearest, unit_vectors
from pipeline.grouping import grouped
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

_PRODUCT = 16_000_000  # the most cosines of a block of products: 64 MB

_SUPPORTED = 0.7
"""The least strength of a variant that counts: together with the cosine for a merge, alone for a review.

Below it are names of which half is left out, as @grafana/e2e and e2e: they filled the review with what isn't the same.
"""

_UNLIKE = 0.3  # descriptions with a lower cosine are about different things

_SHARED, _OVERLAP = 2, 0.5
"""Entities have the same place in the graph from that many shared neighbours, and that share of the fewer ones."""

_NAMED_TYPES = frozenset(("library", "person", "config"))
"""Types of which two with different names are two, whatever their meaning and neighbours."""


Place = tuple[str, bool, str]
"""A place in the graph: a relation, whether the entity is its source, and the entity at its other end."""


@dataclass(frozen=True, slots=True)
class Subject:
    """An entity with its name as it was read."""

    entity: Entity
    name: Name

    @classmethod
    def read(cls, entity: Entity) -> Self:
        """Read the name and the aliases of an entity; a person's e-mail addresses lead to it, too."""
        addresses = sorted(_values(entity.metadata, "email", "emails")) if entity.type == "person" else ()
        return cls(entity, variants.read_name(entity.name, entity.type, [*entity.aliases, *addresses]))

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
    scale: Scale = BUNDLED,
) -> list[Candidate]:
    """Return the candidates among entities, ordered by their ids; homonyms are none.

    ``vectors`` are the embeddings of those that have one, and ``places`` their places in the graph, by id. Cosines are
    told as the bundled model's; ``scale`` is that of the vectors.
    """
    by_id = {subject.id: subject for subject in subjects}
    in_order = sorted(subjects, key=lambda subject: subject.id)
    groups = grouped(((subject.entity.scope, subject.entity.type), subject) for subject in in_order)
    cosines: dict[Pair, float] = {}
    named: set[Pair] = set()
    for group in groups.values():
        cosines |= _near(group, vectors, scale.cosine(settings.dedupe_cosine))
        if group[0].entity.type not in settings.dedupe_whole_names:
            named |= _pairs_by_name(group)
    for pair in named - cosines.keys():
        if all(id_ in vectors for id_ in pair):
            first, second = unit_vectors([vectors[id_] for id_ in pair])
            cosines[pair] = round(float(first @ second), 4)
    cosines = {pair: round(scale.bundled(cosine), 4) for pair, cosine in cosines.items()}
    pairs = sorted(cosines.keys() | named)
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
    for candidate in sorted(candidates, key=lambda one: (-one.strength, -(one.cosine or 0.0), one.pair)):
        if not candidate.automatic:
            review.append(candidate)
        elif against := next(_objections(candidate.pair, near, group_of, contradicts), ""):
            review.append(replace(candidate, against=(*candidate.against, against), automatic=False))
        else:
            joined = group_of[candidate.first] | group_of[candidate.second]
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


def _pairs_by_name(group: Iterable[Subject]) -> set[Pair]:
    blocks = grouped((key, subject) for subject in group for key in subject.name.keys)
    return {
        (first.id, second.id)
        for block in blocks.values()
        for first, second in (combinations(block, 2) if len(block) <= _LARGEST_BLOCK else product(block[:1], block[1:]))
        if variants.variant(first.name, second.name) is not None
    }


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
    named = variants.variant(first.name, second.name)
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
    neighbours = tuple(sorted({neighbour for *_, neighbour in shared}))
    return Candidate(first.id, second.id, cosine, *named, neighbours, against, agrees and not against and not whole)


def _against(first: Subject, second: Subject, cosine: float | None, named: Variant) -> Iterator[str]:
    if cosine is not None and cosine < _UNLIKE and first.entity.description and second.entity.description:
        yield f"their descriptions differ: cosine {cosine:.2f}"
    if first.entity.type in _NAMED_TYPES and not named.strength:
        yield "their names differ"
    if first.name.qualifier != second.name.qualifier and "abbreviation" not in named.reason:
        yield f"only one of them is the {' '.join(first.name.qualifier or second.name.qualifier)}"


def _objections(
    pair: Pair, near: Mapping[str, set[str]], group_of: Mapping[str, frozenset[str]], contradicts: Contradicts
) -> Iterator[str]:
    """Yield why an automatic candidate is left for review: ambiguities, then conflicts of the groups that it joins."""
    first, second = pair
    for one, other in (pair, (second, first)):
        for third in sorted(near[one] - {other}):
            if contradicts(other, third):
                yield f"{one} may be {third} instead"
    if group_of[first] != group_of[second]:
        for one, other in product(sorted(group_of[first]), sorted(group_of[second])):
            if reason := contradicts(one, other):
                yield f"it would join {one} with {other}: {reason}"


def contradiction(first: Subject, second: Subject, identity: Sequence[str]) -> str:
    """Return why two entities can't be the same thing; "" if nothing says so.

    ``identity`` names the metadata in which the same thing can't differ.
    """
    return next(filter(None, _contradictions(first, second, identity)), "")


def _contradictions(first: Subject, second: Subject, identity: Sequence[str]) -> Iterator[str]:
    name, other = first.name, second.name
    if (first.entity.type, first.entity.scope) != (second.entity.type, second.entity.scope):
        yield "they differ in type or scope"
    for key in identity:
        own, others = _values(first.entity.metadata, key), _values(second.entity.metadata, key)
        if own and others and not own & others:
            yield f"their {key} differs: {min(own)} and {min(others)}"
    bare = False
    if name.person and other.person:
        yield variants.difference(name.person, other.person)
        for person, entity in ((name.person, second.entity), (other.person, first.entity)):
            addresses = _values(entity.metadata, "email", "emails")
            if person.address and addresses and person.address not in addresses:
                yield f"their e-mail addresses differ: {person.address} and {min(addresses)}"
        bare = name.person.bare or other.person.bare
    if not bare and name.numbers != other.numbers:
        yield f"their numbers differ: {' '.join(name.numbers) or 'none'} and {' '.join(other.numbers) or 'none'}"
    yield from _parts(name, other)
    if name.person is None:
        yield from _words(name, other)


def _values(metadata: Mapping[str, Json], *names: str) -> frozenset[str]:
    values = [value for name in names if (value := metadata.get(name)) not in (None, "", [], {})]
    lists = (value if isinstance(value, Sequence) and not isinstance(value, str) else [value] for value in values)
    return frozenset(folded(str(item)) for items in lists for item in items)


def _parts(name: Name, other: Name) -> Iterator[str]:
    for label, own, others in (
        ("what stands in parentheses", " ".join(name.qualifier), " ".join(other.qualifier)),
        ("their endings", name.suffix, other.suffix),
        ("their scopes", name.owner, other.owner),
    ):
        if own and others and own != others:
            yield f"{label} differ: {own} and {others}"
    if name.kinds and other.kinds and name.kinds.isdisjoint(other.kinds):
        yield f"one is of {min(name.kinds)}, one of {min(other.kinds)}"


def _words(name: Name, other: Name) -> Iterator[str]:
    own, others = set(name.words), set(other.words)
    languages = [{variants.LANGUAGES[word] for word in words if word in variants.LANGUAGES} for words in (own, others)]
    if all(languages) and languages[0].isdisjoint(languages[1]):
        yield f"they are of {min(languages[0])} and of {min(languages[1])}"
    if (own & variants.NEGATIVES) != (others & variants.NEGATIVES):
        yield "one of them is negated"
    left, right = own - others, others - own
    if len(left) == len(right) == 1 and variants.opposites(*left, *right):
        yield f"{min(left)} is not {min(right)}"
