"""The weight of an edge as a pure function of its base weight, the judgements on its answers, and the time.

A judgement is a vote for or against the edge. A vote decays with its age by half each half-life. It counts as the
inverse of the probability that an answer at its rank is looked at: people look at few answers below the first, so one
that was picked at rank 8 says more than one at rank 1. Both kinds of vote are corrected alike, so the share of useful
answers is estimated without the bias of the position.

That share is the posterior mean of a Beta distribution: without votes 0.5, and a single vote moves it little. It gives
the factor on the base weight: 1 at 0.5, and towards ``highest`` and ``lowest`` at the extremes, which it never passes.
An edge depends on its own votes alone: nothing is normalised over edges, so one that rises takes nothing from others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime, timedelta

from pipeline.domains.routing.learn.records import EdgeKey, EdgeUsage, LearnedWeight
from pipeline.domains.routing.settings import RoutingSettings

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Learning:
    """Parameters of learning.

    ``half_life``: days in which a vote loses half of its mass. ``prior``: votes that the base weight counts as.
    ``lowest`` and ``highest``: bounds of the factor on the base weight, at most 1 and at least 1. ``position``:
    exponent of the decline of attention with the rank; 0 corrects nothing. ``correction``: the most that one vote
    counts. ``kept``: the newest judgements that an edge keeps.
    """

    half_life: float
    prior: float
    lowest: float
    highest: float
    position: float
    correction: float
    kept: int

    @classmethod
    def of(cls, settings: RoutingSettings) -> Learning:
        """Return the parameters that the section ``routing`` of the settings holds."""
        return cls(**{field.name: getattr(settings, field.name) for field in fields(cls)})


def learned_weight(
    edge: EdgeKey, base: float, events: Iterable[EdgeUsage], now: datetime, learning: Learning
) -> LearnedWeight:
    """Return the weight of an edge at ``now``, explained; the order of ``events`` doesn't matter.

    A question that was judged repeatedly counts once, by its newest judgement: repeating it strengthens nothing.
    """
    counted = latest(events)
    useful, useless = (
        math.fsum(vote(event, now, learning) for event in counted if event.useful is wanted) for wanted in (True, False)
    )
    share = (learning.prior / 2 + useful) / (learning.prior + useful + useless)
    factor = factor_of(share, learning)
    return LearnedWeight(edge, base, useful, useless, share, factor, base * factor, counted)


def latest(events: Iterable[EdgeUsage]) -> tuple[EdgeUsage, ...]:
    """Return the newest judgement of each question, newest first."""
    newest: dict[str, EdgeUsage] = {}
    for event in events:
        known = newest.get(event.query)
        if known is None or _order(known) < _order(event):
            newest[event.query] = event
    return tuple(sorted(newest.values(), key=_order, reverse=True))


def vote(event: EdgeUsage, now: datetime, learning: Learning) -> float:
    """Return the mass of a judgement at ``now``; one from the future counts as one of now."""
    age = max(0.0, (now - event.time) / _DAY)
    correction = min(event.rank**learning.position, learning.correction)
    return float(correction * 0.5 ** (age / learning.half_life))


def factor_of(share: float, learning: Learning) -> float:
    """Return the factor on the base weight: 1 at a share of 0.5, ``highest`` at 1, ``lowest`` at 0."""
    bound: float = learning.highest if share >= 0.5 else 1 / learning.lowest
    return float(bound ** (2 * share - 1))


def _order(event: EdgeUsage) -> tuple[datetime, bool, int, str]:
    # Two judgements may have the same time: the other fields order them, whatever order they come in.
    return event.time, event.useful, event.rank, event.query
