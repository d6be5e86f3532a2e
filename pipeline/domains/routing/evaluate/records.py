"""Records of an evaluation of routing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

_CEILING = 0.8
"""Share of the ceiling's measures that routing by the graph is to reach."""

_FEW = 5
"""Projects of which it is to search fewer on average."""


@dataclass(frozen=True, slots=True)
class RoutingQuery:
    """A question of a project, ``source`` (empty if none asks), with the projects and documents that answer it.

    ``documents`` are pairs of a project and the key of a document in its corpus, at least one; a pair without a project
    stands for the document of this key in any of the expected ``projects``. ``derivation`` says where the question is
    from.
    """

    id: str
    text: str
    source: str
    projects: tuple[str, ...]
    documents: frozenset[tuple[str, str]]
    derivation: str = ""

    def judged(self, project: str, key: str) -> tuple[str, str]:
        """Return the expected document that a document of a project is; itself if none is."""
        anywhere = ("", key)
        return anywhere if project in self.projects and anywhere in self.documents else (project, key)


@dataclass(frozen=True, slots=True)
class RoutingQuerySet:
    """The queries of an evaluation, in the order of their file."""

    name: str
    queries: tuple[RoutingQuery, ...]


class Failure(StrEnum):
    """The category of a failure: the first that applies, in this order."""

    MISSING_PROJECT = "missing project"
    WRONG_DOMAIN = "wrong domain"
    NOISE = "noise drowning signal"
    SCATTERED = "relevant but scattered"
    RANKING = "ranking"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a mode to a query: (project, document) pairs, best first, and the projects that were searched."""

    ranking: tuple[tuple[str, str], ...]
    searched: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FailedQuery:
    """A query whose answer of a mode is worse than it could be.

    ``evidence`` says what was seen, ``mend`` the edge that would have mended it, empty if none would.
    """

    query: str
    mode: str
    category: Failure
    evidence: str
    mend: str = ""


@dataclass(frozen=True, slots=True)
class RoutingReport:
    """The measures of each mode as fractions of 1, but for ``searched``, a mean number of projects.

    ``modes`` are ``all`` (every project is searched), ``oracle`` (only the expected ones: the ceiling) and ``graph``.
    ``mrr`` and ``recall@10`` are over documents; ``source_recall`` is the share of the expected projects that were
    searched, ``waste`` the share of the searched ones that weren't expected. ``latency_ms`` has the percentiles 50 and
    95 of each mode. ``shortened`` queries were cut to the longest question that a search takes.
    """

    modes: Mapping[str, Mapping[str, float]]
    latency_ms: Mapping[str, Mapping[str, float]]
    failures: tuple[FailedQuery, ...]
    queries: int
    projects: int
    shortened: tuple[str, ...] = field(default=())

    def targets(self) -> list[tuple[str, bool, str]]:
        """Return each target of routing by the graph, whether it is reached, and what was seen."""
        graph, oracle = self.modes["graph"], self.modes["oracle"]
        found = []
        for name, label in (("mrr", "MRR"), ("recall@10", "R@10")):
            share = graph[name] / oracle[name] if oracle[name] else 1.0
            found.append((f"{_CEILING:.0%} of the ceiling's {label}", share >= _CEILING, f"{share:.1%}"))
        few = graph["searched"] < _FEW
        return [*found, (f"fewer than {_FEW} projects searched", few, f"{graph['searched']:.2f} on average")]

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return asdict(self)
