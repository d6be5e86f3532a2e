"""``hoprank compare``: two evaluations of one queryset, query by query."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deferred import compare as evaluations
from pipeline.cli.deferred import measures
from pipeline.cli.deliver import deliver
from pipeline.cli.options import Json
from pipeline.cli.views.evaluation import comparison_views
from pipeline.errors import ConfigurationError
from pipeline.retrieve.legs import Leg

_FILE = "A report that `hoprank evaluate --json` wrote"


def compare(
    before: Annotated[Path, Argument(metavar="A.json", help=f"{_FILE}: the one to compare with.")],
    after: Annotated[Path, Argument(metavar="B.json", help=f"{_FILE}, of the same queryset.")],
    leg: Annotated[Leg, Option("--leg", help="The leg of B, and of A if no other is given.")] = Leg.WHOLE,
    before_leg: Annotated[Leg | None, Option("--before-leg", help="Another leg of A.")] = None,
    measure: Annotated[
        str, Option("--measure", metavar="NAME", help="The measure whose wins and losses are listed.")
    ] = "recall@5",
    most: Annotated[int, Option("--show", min=0, help="How many wins and losses to list.")] = 10,
    as_json: Json = False,
) -> None:
    """Compare two evaluations: B less A with 95% confidence intervals, and the queries that gained and lost.

    The intervals are those of a paired bootstrap over queries; one that holds 0 may be chance.
    """
    if measure not in measures.MEASURES:
        raise ConfigurationError(f"There is no measure {measure!r}.", f"Use one of {', '.join(measures.MEASURES)}.")
    comparison = evaluations.compare(
        evaluations.read_evaluated(before), evaluations.read_evaluated(after), leg, before_leg
    )
    deliver(comparison, as_json, lambda it: comparison_views(it, measure, most))
