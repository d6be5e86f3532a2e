"""Commands whose options come in groups: dataclasses that stand for a parameter a field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from pipeline.cli.groups import Commands


@dataclass(frozen=True)
class Size:
    width: Annotated[int, typer.Option("--width")] = 1
    height: Annotated[int, typer.Option("--height")] = 1
    depth: Annotated[int, typer.Option("--depth")] = 1


Flat = Annotated[Size, "height", "width"]

app = Commands()


@app.command()
def draw(name: str, size: Flat = Size(width=2, depth=3), bold: Annotated[bool, typer.Option("--bold")] = False) -> None:
    print(name, size, bold)


@app.command()
def plan(size: Size) -> None:
    print(size)


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (["draw", "it"], "it Size(width=2, height=1, depth=3) False"),
        (["draw", "it", "--height", "4", "--bold"], "it Size(width=2, height=4, depth=3) True"),
        (["plan", "--depth", "5"], "Size(width=1, height=1, depth=5)"),
    ],
)
def test_a_group_is_filled_from_its_options_and_defaults(arguments: list[str], printed: str) -> None:
    result = CliRunner().invoke(app, arguments)

    assert result.output.strip() == printed


def test_a_command_has_the_options_that_it_names_in_their_order() -> None:
    result = CliRunner().invoke(app, ["draw", "--help"])

    assert result.output.index("--height") < result.output.index("--width") < result.output.index("--bold")
    assert "--depth" not in result.output
