"""``hoprank config``: the settings as they stand."""

from __future__ import annotations

import typer

from pipeline.cli.options import Json, Set, flags
from pipeline.cli.views.output import print_json
from pipeline.settings import Provenance, provenance

app = typer.Typer(help="Settings: see what each is, and what set it.", no_args_is_help=True)


@app.command()
def show(as_json: Json = False, settings: Set = None) -> None:
    """Print each setting, its value, and where it came from; secrets are masked.

    Stronger sources last: built in, configs/default.toml, the file that HOPRANK_CONFIG names, the environment
    (HOPRANK_EMBED__MODEL, NEO4J_URI, ...), flags.
    """
    rows = provenance(flags(assignments=settings))
    if as_json:
        print_json({row.name: {"value": row.value, "origin": row.origin} for row in rows})
        return
    # A line a setting, however long, so that grep finds it whole.
    name_width, value_width = (max(len(text) for text in column) for column in zip(*_columns(rows), strict=True))
    for row in rows:
        print(f"{row.name:<{name_width}}  {row.value or '-':<{value_width}}  {row.origin}")


def _columns(rows: list[Provenance]) -> list[tuple[str, str]]:
    return [(row.name, row.value or "-") for row in rows]
