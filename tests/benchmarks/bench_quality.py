"""The whole against hybrid and vector on querysets: recall@5, recall@10, nDCG@10, and where it falls behind.

    uv run python tests/benchmarks/bench_quality.py DATA_DIR/docs/* DATA_DIR/ir/* DATA_DIR/multihop/* --corpus ev

A figure that is more than half a point below hybrid's or vector's is marked, and makes the exit code 1.
With ``--corpus`` corpora are kept as ``ev/its name`` and used again.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.evaluate.report import LegReport
from pipeline.retrieve.legs import Leg

_MEASURES = ("recall@5", "recall@10", "ndcg@10")
_LEGS = (Leg.VECTOR, Leg.FULLTEXT, Leg.HYBRID, Leg.WHOLE)
_ALLOWED = 0.005


def main() -> int:
    """Measure each folder in turn, print a table, and return 1 if the whole falls behind anywhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    parser.add_argument("--corpus", help="keep the corpora under this name")
    arguments = parser.parse_args()
    table = Table(title="Percent; what is behind hybrid or vector by more than half a point is marked")
    for column in ("set", "leg", *_MEASURES, "p50 ms"):
        table.add_column(column, justify="left" if column in ("set", "leg") else "right")
    behind = 0
    with HopRank.connect() as hoprank:
        for folder in arguments.folders:
            corpus = f"{arguments.corpus}/{folder.resolve().name}" if arguments.corpus else None
            report = hoprank.evaluate(folder, corpus=corpus, legs=_LEGS)
            behind += _add(table, report.queryset, {leg.leg: leg for leg in report.legs})
    Console().print(table)
    return int(behind > 0)


def _add(table: Table, queryset: str, legs: dict[str, LegReport]) -> int:
    """Add the rows of one set, and return how many of its figures are behind."""
    best = {name: max(legs[leg].measures[name] for leg in (Leg.HYBRID, Leg.VECTOR)) for name in _MEASURES}
    behind = [name for name in _MEASURES if legs[Leg.WHOLE].measures[name] < best[name] - _ALLOWED]
    for leg in _LEGS:
        measures = legs[leg].measures
        cells = [
            f"{100 * measures[name]:.1f}{' <' if leg is Leg.WHOLE and name in behind else ''}" for name in _MEASURES
        ]
        table.add_row(queryset, leg.value, *cells, f"{legs[leg].p50_ms:.1f}", end_section=leg is Leg.WHOLE)
    return len(behind)


if __name__ == "__main__":
    sys.exit(main())
