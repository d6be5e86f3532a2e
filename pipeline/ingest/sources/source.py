"""A source file's content, and the error for a file that can't be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.errors import SourceError
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


@contextmanager
def parser_errors(kind: str) -> Iterator[None]:
    """Turn any exception of a library that parses a file of format ``kind`` into Unreadable."""
    try:
        yield
    except Unreadable:
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

    @property
    def stem(self) -> str:
        """The file's name without suffix, with spaces for dashes and underscores: the title if there is no other."""
        return PurePosixPath(self.key).stem.replace("-", " ").replace("_", " ").strip() or self.key


Parse = Callable[[Source], Document]
"""Parser of a format; raises Unreadable."""
