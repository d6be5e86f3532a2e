"""The rules by which a scan revises the facts of an earlier one. Pure functions over records.

A scan of one revision says what holds from then on: a known fact that it lacks has ended. A scan of a history says all
periods: a version that it lacks is withdrawn, and replaced by those that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pipeline.domains.memory.code.findings import Scan
from pipeline.domains.memory.facts.versions import Revision, believed
from pipeline.domains.memory.records import Fact

ORIGIN = "scan"
"""The metadata ``origin`` of facts from scans: only these does a scan end."""

_Key = tuple[str, str, str, str | None, str | None, float, float]


def facts_of(scan: Scan, scope: str) -> list[Fact]:
    """Return what a scan found as facts; their evidence is the repository and its commit."""
    source = evidence_of(scan)
    return [
        Fact(
            span.source,
            span.type,
            span.target,
            span.valid_at,
            span.invalid_at,
            span.weight,
            span.confidence,
            scope,
            (source,),
            ended=source if span.invalid_at else "",
            metadata={"origin": ORIGIN},
        )
        for span in scan.spans
    ]


def evidence_of(scan: Scan) -> str:
    """Return the evidence of what a scan found: the commit, or the folder."""
    return f"commit {scan.commit}" if scan.commit else f"folder {scan.repository}"


def revise_by_history(known: Sequence[Fact], found: Iterable[Fact], evidence: str, time: str) -> Revision:
    """Return the change that makes the believed versions exactly those ``found``; ``known`` are all stored ones."""
    stored = {_key(fact): fact for fact in believed(known)}
    wanted = {_key(fact): fact for fact in found}
    gone = [replace(fact, expired_at=time, retracted=evidence) for key, fact in stored.items() if key not in wanted]
    new = [replace(fact, created_at=time) for key, fact in wanted.items() if key not in stored]
    return Revision(tuple(gone), tuple(new))


def revise_by_state(known: Sequence[Fact], found: Iterable[Fact], at: str, evidence: str, time: str) -> Revision:
    """Return the change that a scan of one revision makes: what it found holds ``at`` its time, the rest has ended.

    A fact that holds already stays as it is; one whose weight or confidence changed ends and begins anew.
    """
    open_now = {fact.triple: fact for fact in believed(known) if fact.invalid_at is None}
    wanted = {fact.triple: fact for fact in found}
    expired: list[Fact] = []
    added: list[Fact] = []
    for triple, fact in open_now.items():
        if triple in wanted and _strength(fact) == _strength(wanted[triple]):
            continue
        expired.append(replace(fact, expired_at=time))
        added.append(replace(fact, invalid_at=at, ended=evidence, created_at=time))
    for triple, fact in wanted.items():
        if triple not in open_now or _strength(open_now[triple]) != _strength(fact):
            added.append(replace(fact, valid_at=at, created_at=time))
    return Revision(tuple(expired), tuple(added))


def scanned(facts: Iterable[Fact], scope: str) -> list[Fact]:
    """Return the facts of a scope that scans have found."""
    return [fact for fact in facts if fact.scope == scope and fact.metadata.get("origin") == ORIGIN]


def _key(fact: Fact) -> _Key:
    return (*fact.triple, fact.valid_at, fact.invalid_at, *_strength(fact))


def _strength(fact: Fact) -> tuple[float, float]:
    return fact.weight, fact.confidence
