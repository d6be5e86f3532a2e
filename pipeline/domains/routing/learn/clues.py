"""Clues: places in files that indicate a relation, and proposals whose confidence follows from their clues."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pipeline.domains.routing.schema import EdgeKey, Relation, RelationType
from pipeline.grouping import grouped
from pipeline.text.prose import listed, one_line

# All strengths of clues, here and in the detectors, were chosen by hand; not measured: no set of projects with judged
# relations is at hand. Tests hold their order.
MOST_CERTAIN = 0.99
"""No number of clues makes a proposal certain: those of one project may share a mistake."""

_WEAK, _WEAK_MOST = 0.2, 0.5
"""Clues below the first, which are bare mentions, reach the second at most: a common name is mentioned everywhere."""

LOG = "log"
"""The group of what the log says, and the detector of proposals that nothing else speaks for."""

_MOST_LISTED = 10  # pieces of evidence that a proposal shows; chosen by hand

_LONGEST = 160  # characters of a piece of evidence; chosen by hand
_SUMMED_UP = 3  # pieces of evidence that an edge keeps; chosen by hand


class Clue(NamedTuple):
    """A place that indicates a relation: the probability by it alone, and ``file:line: text``.

    Clues of the same ``group``, such as the imports of one file, aren't independent: only the strongest counts.
    """

    target: str
    strength: float
    text: str
    group: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A relation that files give evidence of, and the estimated probability that it is right.

    ``evidence`` is ``file:line: text`` each, the strongest first. ``detector`` is the kind of evidence: ``imports``,
    ``mentions``, ``commands`` or ``domains``; ``log`` if nothing else speaks for it.
    """

    relation: Relation
    confidence: float
    evidence: tuple[str, ...]
    detector: str

    @property
    def edge(self) -> EdgeKey:
        """The key of the relation."""
        return EdgeKey.of(self.relation)

    @property
    def id(self) -> str:
        """Short digest of the relation's projects and type, by which it is accepted or rejected."""
        return self.edge.id


def clue(target: str, strength: float, file: str, line: int, text: str, group: str = "") -> Clue:
    """Return a clue at a line of a file, its text cut and on one line; ``group`` is the file by default."""
    return Clue(target, strength, f"{file}:{line}: {one_line(text, _LONGEST)}", group or file)


def proposals_of(source: str, kind: RelationType, clues: Iterable[Clue], detector: str) -> list[Proposal]:
    """Return a proposal for each target; its confidence is the noisy or of the independent clues."""
    proposals = []
    for target, of_target in sorted(grouped((one.target, one) for one in clues).items()):
        strongest: dict[str, Clue] = {}
        for one in sorted(of_target, key=lambda one: (-one.strength, one.text)):
            strongest.setdefault(one.group, one)
        confidence = round(together(one.strength for one in strongest.values()), 3)
        evidence = tuple(one.text for one in strongest.values())
        summary = "; ".join(listed(evidence, _SUMMED_UP))
        relation = Relation(source, target, kind, weight=confidence, evidence=summary)
        by = LOG if strongest.keys() == {LOG} else detector
        proposals.append(Proposal(relation, confidence, evidence[:_MOST_LISTED], by))
    return proposals


def together(strengths: Iterable[float]) -> float:
    """Return the noisy or of independent clues: 1 - the product of (1 - strength), within the bounds above."""
    ordered = sorted(strengths)
    weak, strong = (
        1 - math.prod(1 - strength for strength in ordered if (strength < _WEAK) is wanted) for wanted in (True, False)
    )
    return min(MOST_CERTAIN, 1 - (1 - min(weak, _WEAK_MOST)) * (1 - strong))
