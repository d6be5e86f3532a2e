"""Breakdown of an evaluation by kind of question: by the confidence in its names, and by the dataset's own types.

It shows the whole beside hybrid: where the graph helps, and that it costs nothing elsewhere.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.evaluate.datasets import Query
from pipeline.evaluate.measures import Measures, QueryMeasures, mean_measures
from pipeline.retrieve.legs import Leg

BANDS = (("weak", 0.25), ("some", 0.75), ("strong", 1.0))
"""Bands of the highest confidence in a name of a question, each with its upper end; 0 without names."""

COMPARED = (Leg.HYBRID.value, Leg.WHOLE.value)


@dataclass(frozen=True, slots=True)
class Group:
    """Questions of one kind: ``by`` is "confidence" or "type"; the mean measures of hybrid and the whole, by leg."""

    by: str
    label: str
    queries: int
    metrics: Mapping[str, Measures]


def band(confidence: float) -> str:
    """Return the name of a confidence's band."""
    return next(name for name, high in BANDS if confidence <= high)


def break_down(queries: Sequence[Query], detail: Mapping[str, Sequence[QueryMeasures]]) -> tuple[Group, ...]:
    """Return the groups of ``queries``, none without both legs; ``detail`` holds each leg's rows in their order."""
    if not all(leg in detail for leg in COMPARED):
        return ()
    by_band: dict[str, list[int]] = defaultdict(list)
    by_type: dict[str, list[int]] = defaultdict(list)
    for place, (query, row) in enumerate(zip(queries, detail[Leg.WHOLE], strict=True)):
        if row.result.confidence is not None:
            by_band[band(row.result.confidence)].append(place)
        if query.type:
            by_type[query.type].append(place)
    groups = [_group("confidence", name, by_band[name], detail) for name, _ in BANDS if name in by_band]
    groups += [_group("type", name, by_type[name], detail) for name in sorted(by_type)]
    return tuple(groups)


def _group(by: str, label: str, places: Sequence[int], detail: Mapping[str, Sequence[QueryMeasures]]) -> Group:
    metrics = {leg: mean_measures(detail[leg][place].measures for place in places) for leg in COMPARED}
    return Group(by, label, len(places), metrics)
