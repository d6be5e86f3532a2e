"""The type system: the known types, their parents, and which type can be passed where another is expected."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pipeline.domains.tools.settings import Conversion
from pipeline.domains.tools.types.datatypes import ANY, INTEGER, NUMBER, OBJECT, DataType, Kind, list_name, list_of

INHERITANCE = 0.8
"""Confidence that a type fits where its parent is expected, multiplied for each step. The value of the design that tool
graphs follow; not measured."""

UNKNOWN = 0.3
"""Confidence that ``any`` fits: no evidence for or against it. The least confidence of a flow; chosen by hand."""

MAX_STEPS = 6
"""Longest chain of inheritance that is followed: 0.8 to the 6th is 0.26, below the least confidence of a flow."""

How = Literal["direct", "inheritance", "rule", "any"]


@dataclass(frozen=True, slots=True)
class Compatibility:
    """The fit of a type where another is expected; ``chain`` names the types from the one to the other.

    The chain of a union is that of its worst member.
    """

    confidence: float
    how: How
    chain: tuple[str, ...]
    converter: str = ""


class TypeSystem:
    """The known types by name, their parents, and the rules between them."""

    def __init__(self, rules: Iterable[Conversion] = (), types: Iterable[DataType] = ()) -> None:
        self._rules = {(rule.source, rule.target): rule for rule in rules}
        self.types: dict[str, DataType] = {}
        self._unions: dict[str, set[str]] = defaultdict(set)
        self._shapes: dict[str, set[str]] = defaultdict(set)
        self._parents: dict[str, tuple[DataType, ...]] = {}
        self._chains: dict[str, dict[str, tuple[str, ...]]] = {}
        self._answers: dict[tuple[str, str], Compatibility | None] = {}
        for data_type in types:
            self.add(data_type)

    def add(self, data_type: DataType) -> None:
        """Add a type and its parts. Of two objects with the same name, the first with fields is kept."""
        known = self.types.get(data_type.name)
        if known is not None and (known.fields or not data_type.fields):
            return
        self.types[data_type.name] = data_type
        if data_type.kind is Kind.UNION:
            for member in data_type.parts:
                self._unions[member.name].add(data_type.name)
        if data_type.required:
            self._shapes[min(data_type.required)].add(data_type.name)
        for cache in (self._parents, self._chains, self._answers):
            cache.clear()
        for part in (*data_type.parts, *data_type.fields.values()):
            self.add(part)

    def parents(self, data_type: DataType) -> tuple[DataType, ...]:
        """Return the direct parents of a type, by name."""
        if data_type.name not in self._parents:
            data_type = self.types.get(data_type.name, data_type)
            lists = map(list_of, self.parents(data_type.parts[0]) if data_type.kind is Kind.LIST else ())
            found = {each.name: each for each in (*_stated(data_type), *self._known_parents(data_type), *lists)}
            names = sorted(found.keys() - {data_type.name, ANY.name})
            self._parents[data_type.name] = tuple(found[name] for name in names)
        return self._parents[data_type.name]

    def compatibility(self, source: DataType, target: DataType) -> Compatibility | None:
        """Return how a value of one type fits where another is expected; None if it doesn't.

        A rule for exactly these types wins over inheritance. The confidence of a rule for their ancestors is multiplied
        by that of the steps.
        """
        self.add(source)
        self.add(target)
        key = source.name, target.name
        if key not in self._answers:
            self._answers[key] = self._decide(source, target)
        return self._answers[key]

    def _decide(self, source: DataType, target: DataType) -> Compatibility | None:
        pair = source.name, target.name
        if pair in self._rules:
            rule = self._rules[pair]
            return Compatibility(rule.confidence, "rule", pair, rule.converter) if rule.confidence else None
        if ANY in (source, target):
            return Compatibility(UNKNOWN, "any", pair)
        if source == target:
            return Compatibility(1.0, "direct", (source.name,))
        return self._along_chains(source, target) or self._by_parts(source, target)

    def _along_chains(self, source: DataType, target: DataType) -> Compatibility | None:
        chains = self._ancestors(source)
        found = []
        if chain := chains.get(target.name):
            found.append(Compatibility(_along(chain), "inheritance", chain))
        for rule in self._rules.values():
            up = chains.get(rule.source)
            on = self._ancestors(self.types.get(rule.target, DataType(rule.target))).get(target.name)
            if rule.confidence and up and on:
                confidence = _along(up) * rule.confidence * _along(on)
                found.append(Compatibility(confidence, "rule", (*up, *on), rule.converter))
        return max(found, key=lambda each: each.confidence, default=None)

    def _by_parts(self, source: DataType, target: DataType) -> Compatibility | None:
        """Compare lists by their items; a union fits if each member does."""
        if source.kind is Kind.LIST and target.kind is Kind.LIST:
            item = self.compatibility(source.parts[0], target.parts[0])
            return replace(item, chain=tuple(map(list_name, item.chain))) if item else None
        fits = [self.compatibility(each, target) for each in source.parts] if source.kind is Kind.UNION else []
        if not all(fits):
            return None
        worst = min(filter(None, fits), key=lambda each: each.confidence, default=None)
        return replace(worst, chain=(source.name, *worst.chain[1:])) if worst else None

    def _ancestors(self, source: DataType) -> dict[str, tuple[str, ...]]:
        """Return the shortest chain from a type to itself and each of its ancestors."""
        if source.name not in self._chains:
            chains: dict[str, tuple[str, ...]] = {source.name: (source.name,)}
            waiting = [source]
            for data_type in waiting:  # breadth first: it grows meanwhile
                chain = chains[data_type.name]
                for parent in self.parents(data_type) if len(chain) <= MAX_STEPS else ():
                    if parent.name not in chains:
                        chains[parent.name] = (*chain, parent.name)
                        waiting.append(parent)
            self._chains[source.name] = chains
        return self._chains[source.name]

    def _known_parents(self, data_type: DataType) -> Iterator[DataType]:
        """Yield the parents among the known types: unions with the type, and objects whose required fields it has."""
        if data_type.kind is Kind.UNION:
            names = {name for member in data_type.parts for name in self._unions[member.name]}
            yield from (self.types[name] for name in names if set(data_type.parts) < set(self.types[name].parts))
        yield from (self.types[name] for name in self._unions.get(data_type.name, ()))
        for shape in (self.types[name] for key in data_type.required for name in self._shapes.get(key, ())):
            if shape.required <= data_type.required and all(
                _fits(data_type.fields[key], shape.fields[key]) for key in shape.required
            ):
                yield shape


def _stated(data_type: DataType) -> Iterator[DataType]:
    """Yield the parents that follow from the type alone."""
    if data_type.kind in (Kind.OBJECT, Kind.MAP):
        yield OBJECT
    if data_type.kind in (Kind.FORMAT, Kind.ENUM, Kind.OBJECT):
        yield from data_type.parts
    if data_type == INTEGER:
        yield NUMBER


def _fits(inner: DataType, asked: DataType) -> bool:
    """Return whether the type of a field fits an expected one, by :func:`_stated` parents alone."""
    if ANY in (inner, asked) or inner == asked:
        return True
    if inner.kind is Kind.LIST and asked.kind is Kind.LIST:
        return _fits(inner.parts[0], asked.parts[0])
    if asked.kind is Kind.UNION:
        return any(_fits(inner, member) for member in asked.parts)
    return any(_fits(parent, asked) for parent in _stated(inner) if parent not in (ANY, inner))


def _along(chain: tuple[str, ...]) -> float:
    return float(INHERITANCE ** (len(chain) - 1))
