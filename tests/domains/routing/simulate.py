"""A simulation of routing that learns, to show that it improves with use and stays stable.

A question has one project that answers it, which routing doesn't know: it knows the weights of the edges and a noisy
match of the question with each project. It searches the projects with the highest products of the two. The user looks
at their answers with a probability that falls with the rank, uses the right one, and rejects some of the others. Edges
learn from these judgements by :func:`learned_weight`, as those of a graph do.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pipeline.domains.routing.learn.usage import KEPT, Judgement, learned_weight
from pipeline.domains.routing.schema import EdgeKey, RelationType

START = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class World:
    """Projects, the questions about them, and the user.

    ``popularity``: share of the questions that each project answers; 0 is an edge that leads nowhere. ``base``: weights
    at the start, 1 for those left out. ``signal``: how much better the right project matches a question, in standard
    deviations of the match. ``searched``: projects that routing chooses. ``attention``: exponent of the decline of
    attention with the rank. ``rejects``: how often a useless answer that is looked at is called so.
    """

    popularity: Mapping[str, float]
    base: Mapping[str, float] = field(default_factory=dict)
    signal: float = 1.0
    searched: int = 3
    attention: float = 0.5
    rejects: float = 0.3


@dataclass(frozen=True, slots=True)
class Round:
    """A round: its questions and those routed right, by project; the weights that routed them."""

    asked: Mapping[str, int]
    right: Mapping[str, int]
    weights: Mapping[str, float]

    @property
    def share(self) -> float:
        """Share of the questions whose routes hold the right project."""
        return sum(self.right.values()) / sum(self.asked.values())


class Simulation:
    """A run of a world; the same seed gives the same run. ``days`` lie between two rounds of ``questions`` each.

    Unless it ``learns``, the base weights stay as they are.
    """

    def __init__(
        self, world: World, seed: int = 0, *, questions: int = 50, days: float = 1.0, learns: bool = True
    ) -> None:
        self._world, self._learns = world, learns
        self._random = random.Random(seed)  # noqa: S311 - a simulation needs no secret
        self._questions, self._days = questions, timedelta(days=days)
        self._edges = {name: EdgeKey("asker", name, RelationType.USES) for name in world.popularity}
        self._now = START
        self.events: dict[str, list[Judgement]] = {name: [] for name in world.popularity}
        """Judgements by project, which a test may add to."""

    def run(self, rounds: int, *, asking: bool = True) -> list[Round]:
        """Return the next rounds; without ``asking`` nothing but time passes."""
        return [self._round(self._questions if asking else 0) for _ in range(rounds)]

    def weights(self) -> dict[str, float]:
        """Return the weights as they are now."""
        bases = {name: (edge, self._world.base.get(name, 1.0)) for name, edge in self._edges.items()}
        if not self._learns:
            return {name: base for name, (_, base) in bases.items()}
        return {name: learned_weight(*of, self.events[name], self._now).weight for name, of in bases.items()}

    def _round(self, questions: int) -> Round:
        weights = self.weights()
        asked: Counter[str] = Counter()
        right: Counter[str] = Counter()
        names, shares = list(self._world.popularity), list(self._world.popularity.values())
        for number in range(questions):
            answer = self._random.choices(names, shares)[0]
            routes = self._routes(weights, answer)
            asked[answer] += 1
            right[answer] += answer in routes
            for name, event in self._judged(f"{self._now:%F} {number}", routes, answer):
                self.events[name].append(event)
        self._now += self._days
        self.events = {name: events[-KEPT:] for name, events in self.events.items()}
        return Round(asked, right, weights)

    def _routes(self, weights: Mapping[str, float], answer: str) -> Sequence[str]:
        """Return the projects to search, best first."""
        scores = {
            name: weight * math.exp(self._random.gauss(self._world.signal if name == answer else 0.0))
            for name, weight in weights.items()
        }
        return sorted(scores, key=lambda name: (-scores[name], name))[: self._world.searched]

    def _judged(self, query: str, routes: Sequence[str], answer: str) -> Iterator[tuple[str, Judgement]]:
        for rank, name in enumerate(routes, 1):
            looked = self._random.random() < rank**-self._world.attention
            if looked and (name == answer or self._random.random() < self._world.rejects):
                yield name, Judgement(self._now, name == answer, rank, query)
