"""A source file's content, and the error for a file that can't be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.errors import SourceError
from pipeline.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from pipeline.records import Document


class Unreadable(SourceError):
    """A source can't be read; the message continues a sentence that begins with its name: ``is empty``.

    The reader turns it into a Skipped, or into a SourceError that names the source.
    """


def unopenable(error: OSError) -> Unreadable:
    """Return the Unreadable for an OSError at opening a file or folder."""
    return Unreadable(
        f"can't be read: {(error.strerror or str(error)).lower()}", "Check that it is there and that you may read it."
    )


def content_of(path: Path, limits: Limits) -> bytes:
    """Return the bytes of ``path``. Raises Unreadable if the file is too large, empty, or can't be opened."""
    try:
        with path.open("rb") as file:
            # reading a byte more than allowed tests the size, which may change meanwhile
            data = file.read(limits.bytes_read + 1)
    except OSError as error:
        raise unopenable(error) from None
    if len(data) > limits.bytes_read:
        megabytes = limits.bytes_read / MEGABYTE
        raise Unreadable(f"is larger than {megabytes:,.6g} MB", "Split it, or raise sources.max_megabytes.")
    if not data:
        raise Unreadable("is empty", "Leave it out, or write something into it.")
    return data


@contextmanager
def parser_errors(kind: str) -> Iterator[None]:
    """Turn any exception but MemoryError of a library that parses a file of format ``kind`` into Unreadable."""
    try:
        yield
    except (Unreadable, MemoryError):
        raise
    # broad: on damaged files parsers raise nearly anything, such as KeyError, RecursionError, zlib.error
    except Exception as error:
        problem = str(error).strip().split("\n")[0][:200]
        raise Unreadable(
            f"isn't well-formed {kind} ({type(error).__name__}: {problem})", "Open and save it again, or leave it out."
        ) from error


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes; ``key`` is the document's key in its corpus, ``path`` the file's path."""

    key: str
    path: str
    data: bytes
    limits: Limits = DEFAULT_LIMITS

    @property
    def stem(self) -> str:
        """The file's name without suffix, with spaces for dashes and underscores: the title if there is no other."""
        return PurePosixPath(self.key).stem.replace("-", " ").replace("_", " ").strip() or self.key


Parse = Callable[[Source], Document]
"""Parser of a format; raises Unreadable."""
