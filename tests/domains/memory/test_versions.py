"""The rules of facts: evidence, statements and conflicts; which periods hold is compared in test_time_model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.patterns import find_conflicts
from pipeline.domains.memory.records import Fact
from pipeline.domains.memory.revise import after
from pipeline.domains.memory.versions import add, believed, invalidate, overlap, retract, state
from pipeline.errors import GraphError

JAN, FEB, MAR, APR = (f"2026-0{month}-01T00:00:00+00:00" for month in range(1, 5))
EXPRESS = Fact("d|library|api", "depends_on", "d|library|express", valid_at=JAN, evidence=("package.json",))
HONO = replace(EXPRESS, target="d|library|hono")


def known(*facts: Fact) -> list[Fact]:
    return [replace(fact, created_at=fact.created_at or JAN) for fact in facts]


def test_further_evidence_makes_a_new_version_and_the_old_one_expires() -> None:
    revision = add(known(EXPRESS), replace(EXPRESS, evidence=("src/app.ts",), confidence=0.9), FEB)

    (expired,), (added,) = revision.expired, revision.added
    assert (expired.expired_at, expired.evidence) == (FEB, ("package.json",))
    assert (added.created_at, added.evidence, added.confidence) == (FEB, ("package.json", "src/app.ts"), 0.9)


def test_an_end_keeps_what_was_believed_and_says_why() -> None:
    revision = invalidate(known(EXPRESS), FEB, "moved to Hono", MAR)

    (expired,), (added,) = revision.expired, revision.added
    assert (expired.valid_at, expired.invalid_at, expired.expired_at) == (JAN, None, MAR)
    assert (added.valid_at, added.invalid_at, added.created_at, added.ended) == (JAN, FEB, MAR, "moved to Hono")


def test_an_end_that_is_heard_before_the_beginning_ends_it_too() -> None:
    start = replace(EXPRESS, evidence=("m1: we use Express",))
    end = replace(EXPRESS, valid_at=None, invalid_at=MAR, evidence=("m2: we left Express",))

    def told(*facts: Fact) -> list[tuple[object, ...]]:
        versions: list[Fact] = []
        for fact in facts:
            versions = after(versions, state(versions, fact, APR))
        return [(one.valid_at, one.invalid_at, one.evidence, one.ended) for one in believed(versions)]

    assert told(start, end) == [(JAN, MAR, start.evidence, *end.evidence)]
    assert told(end, start) == told(end, start, start, end) == told(start, end)


def test_an_end_at_the_instant_of_the_beginning_leaves_a_version_that_never_holds() -> None:
    (added,) = invalidate(known(EXPRESS), JAN, "a mistake", FEB).added

    assert (added.valid_at, added.invalid_at) == (JAN, JAN)
    assert not overlap(added, EXPRESS)


def test_an_end_over_a_period_that_is_known_joins_the_two() -> None:
    revision = invalidate(known(EXPRESS, replace(EXPRESS, invalid_at=FEB, evidence=("lock",))), FEB, "gone", MAR)

    (added,) = [fact for fact in revision.added if fact.invalid_at == FEB]
    assert set(added.evidence) == {"package.json", "lock"}


@pytest.mark.parametrize("evidence", ["", "  "])
def test_nothing_ends_or_is_withdrawn_without_evidence(evidence: str) -> None:
    with pytest.raises(GraphError, match="without evidence"):
        invalidate(known(EXPRESS), FEB, evidence, MAR)
    with pytest.raises(GraphError, match="without evidence"):
        retract(known(EXPRESS), evidence, MAR)


def test_what_does_not_hold_can_not_end() -> None:
    with pytest.raises(GraphError, match=r"No version of this fact holds at .*: api depends_on express\."):
        invalidate(known(replace(EXPRESS, valid_at=MAR)), FEB, "gone", MAR)
    with pytest.raises(GraphError, match=r"No version of this fact is believed: api depends_on express\."):
        retract(known(replace(EXPRESS, expired_at=FEB)), "gone", MAR)


def test_one_version_or_all_are_withdrawn() -> None:
    versions = known(EXPRESS, replace(EXPRESS, valid_at=MAR))

    assert len(retract(versions, "wrong", APR).expired) == 2
    (expired,) = retract(versions, "wrong", APR, versions[1].id).expired
    assert (expired.valid_at, expired.retracted, expired.expired_at) == (MAR, "wrong", APR)


def test_a_statement_that_was_heard_already_changes_nothing_whatever_came_after() -> None:
    ended = after(known(EXPRESS), invalidate(known(EXPRESS), FEB, "m1: we left it", MAR))
    withdrawn = after(known(EXPRESS), retract(known(EXPRESS), "wrong", MAR))

    assert not state(ended, EXPRESS, APR)
    assert not state(withdrawn, EXPRESS, APR)
    assert not state(ended, replace(EXPRESS, valid_at=None, invalid_at=FEB, evidence=("m1: we left it",)), APR)


def test_a_statement_of_an_end_ends_what_holds_then() -> None:
    end = replace(EXPRESS, valid_at=None, invalid_at=FEB, evidence=("m1: we left it",))

    (added,) = state(known(EXPRESS), end, MAR).added
    assert (added.valid_at, added.invalid_at, added.ended) == (JAN, FEB, "m1: we left it")

    (alone,) = state([], end, MAR).added
    assert (alone.valid_at, alone.invalid_at) == (None, FEB)


def test_conflicts_are_told_and_nothing_is_decided() -> None:
    ended = replace(EXPRESS, invalid_at=FEB)

    (same,) = find_conflicts(known(EXPRESS, ended), ())
    (single,) = find_conflicts(known(EXPRESS, HONO), ["depends_on"])

    assert "different times" in same.reason
    assert "one target at a time" in single.reason
    assert not find_conflicts(known(EXPRESS, HONO), ())
    assert not find_conflicts(known(ended, replace(HONO, valid_at=FEB)), ["depends_on"])


instants = st.sampled_from([None, JAN, FEB, MAR, APR, "1965-05-05T00:00:00+00:00"])
Period = tuple[str | None, str | None]
periods: st.SearchStrategy[Period] = st.tuples(instants, instants).map(
    lambda ends: ends if None in ends else (min(map(str, ends)), max(map(str, ends)))
)


@given(periods, periods)
def test_two_versions_overlap_if_one_instant_has_both(
    one: tuple[str | None, str | None], other: tuple[str | None, str | None]
) -> None:
    ticks = range(13)
    order = {None: None, "1965-05-05T00:00:00+00:00": 1, JAN: 3, FEB: 5, MAR: 7, APR: 9}

    def inside(tick: int, period: tuple[str | None, str | None]) -> bool:
        start, end = order[period[0]], order[period[1]]
        return (start is None or start <= tick) and (end is None or tick < end)

    both = any(inside(tick, one) and inside(tick, other) for tick in ticks)

    facts = [replace(EXPRESS, valid_at=valid, invalid_at=invalid) for valid, invalid in (one, other)]
    assert overlap(*facts) == both


@given(st.lists(periods, max_size=6), st.sampled_from([JAN, FEB, MAR]))
def test_a_change_never_touches_what_has_expired(drawn: list[tuple[str | None, str | None]], at: str) -> None:
    versions: list[Fact] = []
    for place, (valid, invalid) in enumerate(drawn):
        time = f"2027-01-0{place + 1}T00:00:00+00:00"
        versions = after(versions, add(versions, replace(EXPRESS, valid_at=valid, invalid_at=invalid), time))
    before = [fact for fact in versions if fact.expired_at]

    try:
        changed = after(versions, invalidate(versions, at, "why", "2027-02-01T00:00:00+00:00"))
    except GraphError:
        return

    assert all(fact in changed for fact in before)
    periods_left = [(fact.valid_at, fact.invalid_at) for fact in believed(changed)]
    assert len(periods_left) == len(set(periods_left))
