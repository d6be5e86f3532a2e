"""The rules of facts: what a change makes of the versions of a fact. Pure functions over records.

A fact is kept over two times (Snodgrass, Developing Time-Oriented Database Applications in SQL, 1999). What held in the
world is never overwritten: a change expires the versions that it corrects, and adds others. So each past answer can be
given again. No version ends without evidence, and none ends because another fact was added.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.domains.memory.records import ORIGIN, READ, SCANNED, EntityKey, Fact
from pipeline.errors import GraphError
from pipeline.knowledge.records import Json

READ_AGAIN = "read again, with more names known"
"""Why a version was withdrawn that a text was read to state, and isn't any more."""

Triple = tuple[str, str, str]
_Period = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class Revision:
    """Expired versions, with the time of their expiry, and added versions."""

    expired: tuple[Fact, ...] = ()
    added: tuple[Fact, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.expired or self.added)


def _named(versions: Sequence[Fact]) -> str:
    """Return the words that name the fact of some versions at the end of a sentence; "" without versions."""
    triples = [f": {EntityKey.of(one.source).name} {one.type} {EntityKey.of(one.target).name}" for one in versions]
    return "".join(triples[:1])


def believed(versions: Iterable[Fact]) -> list[Fact]:
    """Return the versions that haven't expired."""
    return [version for version in versions if version.expired_at is None]


def add(versions: Sequence[Fact], fact: Fact, time: str) -> Revision:
    """Return the change that adds ``fact`` at ``time``; ``versions`` are those of its triple.

    A believed version over the same period gains its evidence, and the higher weight and confidence. Versions over
    other periods stay, overlapping ones too.
    """
    fact = replace(fact, created_at=time, expired_at=None)
    known = next((known for known in believed(versions) if _period(known) == _period(fact)), None)
    if known is None:
        return Revision(added=(fact,))
    merged = replace(
        known,
        weight=max(known.weight, fact.weight),
        confidence=max(known.confidence, fact.confidence),
        evidence=tuple(sorted({*known.evidence, *fact.evidence})),  # whichever was first
        ended=known.ended or fact.ended,
        metadata=_together(known.metadata, fact.metadata),
    )
    if merged == known:
        return Revision()
    return Revision((replace(known, expired_at=time),), (replace(merged, created_at=time),))


def _together(known: Mapping[str, Json], new: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return the metadata of two statements of a fact; one that was given by hand, too, isn't only read from texts."""
    origins = {known.get(ORIGIN), new.get(ORIGIN)}
    merged = {name: value for name, value in (*known.items(), *new.items()) if name != ORIGIN}
    kept = SCANNED if SCANNED in origins else READ if origins == {READ} else None
    return {**merged, ORIGIN: kept} if kept else merged


def unread(version: Fact, keys: Collection[str], stated: Container[tuple[str, Triple]], time: str) -> Revision:
    """Return the change after texts were read again: evidence from them that they state no more is withdrawn.

    ``keys`` are the keys of these texts, ``stated`` has the evidence and triples that they state now. What didn't come
    from texts alone, or has ended, stays.
    """
    if version.expired_at or version.ended or version.metadata.get(ORIGIN) != READ:
        return Revision()
    kept = tuple(
        one for one in version.evidence if one.partition(": ")[0] not in keys or (one, version.triple) in stated
    )
    if kept == version.evidence:
        return Revision()
    fewer = (replace(version, evidence=kept, created_at=time),) if kept else ()
    return Revision((replace(version, expired_at=time, retracted=READ_AGAIN),), fewer)


def state(versions: Sequence[Fact], fact: Fact, time: str) -> Revision:
    """Return the change that a statement makes: one whose evidence is known already makes none.

    A statement that gives only an end ends the versions that hold then; if none does, it is added as it is, and a
    statement of the beginning takes its place once it comes. So their order doesn't matter.
    """
    heard = (version for version in versions if version.retracted != READ_AGAIN)
    if fact.evidence and any(set(fact.evidence) <= {*version.evidence, version.ended} for version in heard):
        return Revision()
    only_end = fact.valid_at is None and fact.invalid_at is not None
    if only_end and any(holds(version, str(fact.invalid_at)) for version in believed(versions)):
        return invalidate(versions, str(fact.invalid_at), "; ".join(fact.evidence), time)
    if fact.valid_at is not None and fact.invalid_at is None and (end := _end_of(versions, fact.valid_at)):
        begun = replace(fact, invalid_at=end.invalid_at, ended="; ".join(end.evidence))
        return Revision((replace(end, expired_at=time),), add(versions, begun, time).added)
    return add(versions, fact, time)


def _end_of(versions: Sequence[Fact], start: str) -> Fact | None:
    """Return the believed version of which only an end is known, the first after ``start``."""
    ends = [one for one in believed(versions) if one.valid_at is None and one.invalid_at and one.invalid_at > start]
    return min(ends, key=lambda one: str(one.invalid_at), default=None)


def invalidate(versions: Sequence[Fact], at: str, evidence: str, time: str) -> Revision:
    """Return the change that ends a fact in the world ``at`` a time, learned at ``time``.

    It ends each believed version that holds then. Raises GraphError if none does, or without evidence.
    """
    _require(evidence, "A fact isn't ended without evidence.")
    holding = [version for version in believed(versions) if holds(version, at)]
    if not holding:
        raise GraphError(
            f"No version of this fact holds at {at}{_named(versions)}.",
            "hoprank memory history shows when it holds; give such a time.",
        )
    ended = [replace(version, invalid_at=at, ended=evidence, created_at=time) for version in holding]
    periods = {_period(version) for version in ended}
    known = [version for version in believed(versions) if version not in holding and _period(version) in periods]
    added: dict[_Period, Fact] = {}  # of those over the same period one, with the evidence of all
    for version in (*ended, *(replace(version, created_at=time) for version in known)):
        same = added.setdefault(_period(version), version)
        added[_period(version)] = replace(same, evidence=tuple(dict.fromkeys((*same.evidence, *version.evidence))))
    expired = tuple(replace(version, expired_at=time) for version in (*holding, *known))
    return Revision(expired, tuple(added.values()))


def retract(versions: Sequence[Fact], evidence: str, time: str, version_id: str | None = None) -> Revision:
    """Return the change that withdraws a fact that never held: all its believed versions, or one of them.

    Raises GraphError if there is none, or without evidence.
    """
    _require(evidence, "A fact isn't withdrawn without evidence.")
    withdrawn = [version for version in believed(versions) if version_id in (None, version.id)]
    if not withdrawn:
        raise GraphError(
            f"No version of this fact is believed{_named(versions)}.", "hoprank memory history shows its versions."
        )
    return Revision(tuple(replace(version, expired_at=time, retracted=evidence) for version in withdrawn))


def holds(version: Fact, at: str) -> bool:
    """Return whether a version holds in the world at a time."""
    return (version.valid_at is None or version.valid_at <= at) and (
        version.invalid_at is None or at < version.invalid_at
    )


def overlap(one: Fact, other: Fact) -> bool:
    """Return whether there is a time at which both versions hold."""
    starts = [version.valid_at for version in (one, other) if version.valid_at is not None]
    ends = [version.invalid_at for version in (one, other) if version.invalid_at is not None]
    if any(version.valid_at == version.invalid_at is not None for version in (one, other)):
        return False
    return not starts or not ends or max(starts) < min(ends)


def _period(version: Fact) -> _Period:
    return version.valid_at, version.invalid_at


def _require(evidence: str, problem: str) -> None:
    if not evidence.strip():
        raise GraphError(problem, "Say why: a memory's key, a commit, a sentence.")
