"""The commands of domains run on the server of the tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Point the commands at the server, before any other fixture, in the tests of domains that need one."""
    for item in items:
        if isinstance(item, pytest.Function) and HERE in item.path.parents and "address" in item.fixturenames:
            item.fixturenames.insert(0, "commands_use_the_server")


@pytest.fixture(scope="package")
def commands_use_the_server(server_environment: dict[str, str]) -> Iterator[None]:
    """Without it a command starts a server of its own, on which nothing is of what the test made."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in server_environment.items():
            environment.setenv(name, value)
        yield
