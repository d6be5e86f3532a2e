"""Suggestions of questions worth judging: those whose rankings disagree most, as one of them has to be wrong.

Agreement is the average overlap of two rankings: Fagin, Kumar and Sivakumar, Comparing top k lists (2003); Webber,
Moffat and Zobel, A similarity measure for indefinite rankings (2010).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from statistics import fmean

from pipeline.json_values import JsonRecord

DEPTH = 10
"""Documents of a ranking that are compared: as many as a search shows."""


@dataclass(frozen=True, slots=True)
class Suggestion(JsonRecord):
    """A question without judgements; ``disagreement`` is from 0, equal rankings, to 1, no document in common.

    ``documents`` are those to judge, by key: the first of each ranking, then the second of each, and so on.
    """

    id: str
    query: str
    disagreement: float
    documents: tuple[str, ...]


def average_overlap(one: Sequence[str], other: Sequence[str]) -> float:
    """Return the mean, over each depth up to ten, of the share of documents that both rankings have down to there.

    Of rankings that are shorter the depth ends with the longer one; two empty ones agree.
    """
    depths = range(1, min(DEPTH, max(len(one), len(other))) + 1)
    return fmean(len({*one[:depth]} & {*other[:depth]}) / depth for depth in depths) if depths else 1.0


def suggest(
    questions: Mapping[str, str], rankings: Mapping[str, Iterable[Sequence[str]]], most: int
) -> list[Suggestion]:
    """Return the ``most`` questions whose rankings disagree most, those first; ties keep the order of the questions.

    ``rankings`` are the documents that each leg found, best first, for each question in order.
    """
    found = []
    for (id_, text), lists in zip(questions.items(), zip(*rankings.values(), strict=True), strict=True):
        disagreement = 1 - fmean(average_overlap(*pair) for pair in combinations(lists, 2))
        side_by_side = (key for row in zip_longest(*(each[:DEPTH] for each in lists)) for key in row if key is not None)
        found.append(Suggestion(id_, text, round(disagreement, 4), tuple(dict.fromkeys(side_by_side))))
    return sorted(found, key=lambda one: -one.disagreement)[:most]
