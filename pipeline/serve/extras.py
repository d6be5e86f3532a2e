"""The extras of the package: packages that serving needs and that a plain install lacks."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.errors import ExtraMissing


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Turn the absence of a package within the context into ExtraMissing, which names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "pipeline":
            raise
        raise ExtraMissing.of(extra, error) from error
