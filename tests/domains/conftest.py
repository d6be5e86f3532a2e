"""The commands of domains run on the server of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="package", autouse=True)
def commands_use_the_server(server_environment: dict[str, str]) -> Iterator[None]:
    """Without it a command starts a server of its own, on which nothing is of what the test made."""
    with pytest.MonkeyPatch.context() as environment:
        for name, value in server_environment.items():
            environment.setenv(name, value)
        yield
