"""Limits of the files that are read."""

from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a source file: one that exceeds any is left out, or refused if the caller named it.

    ``bytes_read`` are those of a file, or of a line of a file that is read by lines; ``bytes_unpacked`` those of the
    parts of an office file. ``pages`` are a PDF's. ``seconds`` and ``bytes_of_memory`` limit the parsing of a PDF, an
    office or HTML file, and of source code. ``characters_of_yaml`` are those of a YAML text: PyYAML reads a megabyte in
    ten seconds.
    ``depth`` is how deep the values of JSON and YAML may be nested: far below Python's limit of 1,000 calls, so that
    whoever walks through a value may recurse (chosen by hand; real files have fewer than 20 levels). ``within`` are the
    real folders below which a file must be when it is opened, wherever its name leads; None: anywhere.
    """

    bytes_read: int = 50 * MEGABYTE
    bytes_unpacked: int = 500 * MEGABYTE
    pages: int = 5_000
    seconds: float = 120.0
    bytes_of_memory: int = 2_000 * MEGABYTE
    characters_of_yaml: int = 100_000
    depth: int = 100
    within: tuple[Path, ...] | None = None


DEFAULT_LIMITS = Limits()
LARGE_LIMITS = Limits(bytes_read=2_000 * MEGABYTE)
"""Limits of what HopRank or the publisher of a dataset wrote: graphs and corpora that are read whole."""
