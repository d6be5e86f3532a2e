"""The extras of the package: packages that serving needs and that a plain install lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.errors import ConfigurationError


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn the absence of a package within the context into a ConfigurationError that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "pipeline":
            raise
        raise ConfigurationError(
            f"The package {error.name} is missing.", f'Install it: pip install "hoprank[{extra}]".'
        ) from error
