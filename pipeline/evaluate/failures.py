"""Failures: the questions that lost a relevant document, its rank in each leg, and the stage where it fell out.

vector + full text, graph -> candidates -> score -> the first ten
"""

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import ConfigurationError
from pipeline.evaluate.measures import distinct
from pipeline.evaluate.report import WHOLE, Report, write_text
from pipeline.resources import filled
from pipeline.retrieve.legs import Leg

TOP = 10
"""Documents among which a relevant one is looked for, as many as a search shows."""

_SOURCES = (Leg.VECTOR.value, Leg.FULLTEXT.value, Leg.HOPS.value, Leg.GRAPH.value)
_PAGE = Path(__file__).with_name("failures.html")


@dataclass(frozen=True, slots=True)
class Lost:
    """A relevant document that isn't among the first ten: its rank in each leg that was measured, None without one.

    ``stage`` is the one that lost it: "corpus" (it isn't there), "candidates" (neither vector, full text nor graph met
    it), "selection" (one of them did, and the whole doesn't rank it), "scoring" (one of them has it among its first
    ten, the whole below), or "legs" (all of them have it below).
    """

    document: str
    ranks: Mapping[str, int | None]
    stage: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A question with lost documents, and the first documents of the whole, each with whether it is relevant."""

    id: str
    query: str
    type: str
    relevant: int
    lost: tuple[Lost, ...]
    first: tuple[tuple[str, bool], ...]


def find_failures(report: Report) -> list[Failure]:
    """Return the questions whose first ten documents by the whole lack a relevant one, in the order of the dataset.

    Raises ConfigurationError if the whole wasn't measured.
    """
    rankings = {leg.leg: [distinct(row.result.ranking) for row in leg.detail] for leg in report.legs}
    if WHOLE not in rankings:
        raise ConfigurationError("Failures are those of the whole, which wasn't measured.", f"Add --leg {WHOLE}.")
    failures = []
    for place, query in enumerate(report.dataset.queries):
        ranks = {leg: {key: rank for rank, key in enumerate(of[place], start=1)} for leg, of in rankings.items()}
        first = rankings[WHOLE][place][:TOP]
        lost = []
        for key in (key for key in query.relevant if key not in first):
            of_key = {leg: found.get(key) for leg, found in ranks.items()}
            lost.append(Lost(key, of_key, _stage(of_key, known=key not in report.dataset.missing)))
        if lost:
            shown = tuple((key, key in query.relevant) for key in first)
            failures.append(Failure(query.id, query.text, query.type, len(query.relevant), tuple(lost), shown))
    return failures


def _stage(ranks: Mapping[str, int | None], *, known: bool) -> str:
    if not known:
        return "corpus"
    met = [rank for leg in _SOURCES if (rank := ranks.get(leg))]
    if ranks[WHOLE] is None:
        return "selection" if met else "candidates"
    return "scoring" if min(met, default=TOP + 1) <= TOP else "legs"


_STAGES = {
    "corpus": "isn't in the corpus",
    "candidates": "neither vector, full text nor graph met it",
    "selection": "one of them met it, and it was no candidate",
    "scoring": "one of them has it among its first ten, the whole lower",
    "legs": "all of them have it below their first ten",
}


def write_failures(report: Report, path: Path) -> None:
    """Write the failures of a report as a page of HTML; raises ConfigurationError if it can't be written."""
    write_text(failures_page(report), path)


def failures_page(report: Report) -> str:
    """Return the failures of a report as a page of HTML, which loads nothing; texts of the corpus are escaped."""
    failures = find_failures(report)
    legs = [leg.leg for leg in report.legs]
    stages = Counter(lost.stage for failure in failures for lost in failure.lost)
    total = sum(stages.values())
    counts = "".join(
        f"<tr><td>{_STAGES[stage]}</td><td>{stages[stage]:,}</td>"
        f'<td><span class="bar" style="width:{100 * stages[stage] / total:.1f}%"></span></td></tr>'
        for stage in _STAGES
        if stages[stage]
    )
    parts = {
        "title": html.escape(f"Failures: {report.queryset}"),
        "queryset": html.escape(report.queryset),
        "summary": f"{len(failures):,} of {report.queries:,} questions lack a relevant document among the first {TOP}.",
        "stages": f'<table class="stages">{counts}</table>' if counts else "",
        "failures": "\n".join(_section(failure, legs) for failure in failures),
    }
    return filled(_PAGE.read_text(encoding="utf-8"), parts)


def _section(failure: Failure, legs: Sequence[str]) -> str:
    heads = "".join(f"<th class=rank>{html.escape(leg)}</th>" for leg in legs)
    rows = "".join(
        f"<tr><td>{html.escape(lost.document)}</td>"
        + "".join(_rank(lost.ranks[leg]) for leg in legs)
        + f"<td>{_STAGES[lost.stage]}</td></tr>"
        for lost in failure.lost
    )
    first = "".join(
        f"<li{' class=relevant' if relevant else ''}>{html.escape(key)}</li>" for key, relevant in failure.first
    )
    kind = f" · {html.escape(failure.type)}" if failure.type else ""
    return (
        f"<section><h2>{html.escape(failure.query)}</h2>"
        f"<p>{html.escape(failure.id)}{kind} · lost {len(failure.lost)} of {failure.relevant}</p>"
        f'<div class="wide"><table><tr><th>lost document</th>{heads}<th>stage</th></tr>{rows}</table></div>'
        f"<details><summary>The first {TOP} by the whole</summary><ol>{first}</ol></details></section>"
    )


def _rank(rank: int | None) -> str:
    if rank is None:
        return '<td class="none">–</td>'
    return f'<td class="{"high" if rank <= TOP else "low"}">{rank}</td>'
