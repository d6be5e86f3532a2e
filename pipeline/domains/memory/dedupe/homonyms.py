"""Homonyms: entities with similar names that are different things, distinguished by what contradicts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domains.memory.dedupe.variants import (
    LANGUAGES,
    NEGATIVES,
    Name,
    difference,
    folded,
    opposites,
    read_name,
)
from pipeline.domains.memory.records import Entity
from pipeline.knowledge.records import Json


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


def contradiction(first: Subject, second: Subject, identity: Sequence[str]) -> str:
    """Return why two entities can't be the same thing; "" if nothing says so.

    ``identity`` names the metadata in which the same thing can't differ.
    """
    return next((reason for reason in _contradictions(first, second, identity) if reason), "")


def _contradictions(first: Subject, second: Subject, identity: Sequence[str]) -> Iterator[str]:
    one, other = first.name, second.name
    if (first.entity.type, first.entity.scope) != (second.entity.type, second.entity.scope):
        yield "they differ in type or scope"
    yield _identities(first.entity.metadata, second.entity.metadata, identity)
    if one.person and other.person:
        yield difference(one.person, other.person)
        yield _addresses(first, second)
        bare = one.person.bare or other.person.bare
    else:
        bare = False
    if not bare and one.numbers != other.numbers:
        yield f"their numbers differ: {' '.join(one.numbers) or 'none'} and {' '.join(other.numbers) or 'none'}"
    yield _parts(one, other)
    if one.person is None:
        yield _words(one, other)


def _identities(first: Mapping[str, Json], second: Mapping[str, Json], identity: Sequence[str]) -> str:
    for name in identity:
        own, others = _values(first.get(name)), _values(second.get(name))
        if own and others and not own & others:
            return f"their {name} differs: {min(own)} and {min(others)}"
    return ""


def _addresses(first: Subject, second: Subject) -> str:
    """Compare the address in a person's name with those in the other's metadata."""
    for one, other in ((first, second), (second, first)):
        address = one.name.person.address if one.name.person else ""
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


def _parts(one: Name, other: Name) -> str:
    named: tuple[tuple[str, object, object], ...] = (
        ("what stands in parentheses", one.qualifier, other.qualifier),
        ("their endings", one.suffix, other.suffix),
        ("their scopes", one.owner, other.owner),
    )
    for label, own, others in named:
        if own and others and own != others:
            return f"{label} differ: {_shown(own)} and {_shown(others)}"
    if one.kinds and other.kinds and one.kinds.isdisjoint(other.kinds):
        return f"one is of {min(one.kinds)}, one of {min(other.kinds)}"
    return ""


def _words(one: Name, other: Name) -> str:
    own, others = set(one.words), set(other.words)
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
