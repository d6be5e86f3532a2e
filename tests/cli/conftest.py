"""Commands, run in this process as their users run them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline.cli.app import app


class Hoprank:
    """Runs commands in an environment, and tells apart what they should end with."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def __call__(self, *arguments: str, code: int = 0) -> Any:
        result = CliRunner().invoke(app, list(arguments), env=self._environment)
        assert result.exit_code == code, result.output
        return result

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)


@pytest.fixture(scope="session")
def hoprank_in() -> type[Hoprank]:
    """Make a runner of commands in an environment."""
    return Hoprank
