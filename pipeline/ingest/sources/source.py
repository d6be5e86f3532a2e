"""One file as it was found, and the error that says why it can't be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

from pipeline.errors import SourceError
from pipeline.records import Document


class Unreadable(SourceError):
    """Why a source can't be read, as the rest of a sentence that begins with its name: ``is empty``.

    The reader turns it into a Skipped, or into a SourceError that names the source.
    """


def unopenable(error: OSError) -> Unreadable:
    """Return why the system won't let a file or folder be read."""
    return Unreadable(
        f"can't be read: {(error.strerror or str(error)).lower()}", "Check that it is there and that you may read it."
    )


@contextmanager
def foreign(kind: str) -> Iterator[None]:
    """Turn whatever a library raises over a file that isn't well-formed ``kind`` into Unreadable."""
    try:
        yield
    except Unreadable:
        raise
    # broad, for parsers of damaged bytes raise nearly anything: KeyError, RecursionError, zlib.error
    except Exception as error:
        problem = str(error).strip().split("\n")[0][:200]
        raise Unreadable(
            f"isn't well-formed {kind} ({type(error).__name__}: {problem})", "Open and save it again, or leave it out."
        ) from error


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes; ``key`` names the document within its corpus, ``path`` is where the file is."""

    key: str
    path: str
    data: bytes

    @property
    def stem(self) -> str:
        """The file's name without its suffix, with spaces for dashes and underscores: a title of last resort."""
        return PurePosixPath(self.key).stem.replace("-", " ").replace("_", " ").strip() or self.key


Parse = Callable[[Source], Document]
"""Reads one format; raises Unreadable."""
