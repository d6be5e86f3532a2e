"""The export formats of a corpus, and the parts that they hold."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.errors import SourceError

TABLES = {
    "corpus": "corpus",
    "document": "documents",
    "chunk": "chunks",
    "entity": "entities",
    "counts": "counts",
    "edge": "edges",
}
"""The names of tables in a folder, by the kind of their parts."""


class Format(StrEnum):
    """An export format of a corpus; ``jsonl`` and ``parquet`` can be imported."""

    JSONL = "jsonl"  # the whole corpus, one part a line
    GRAPHML = "graphml"  # nodes and edges, for Gephi, networkx and igraph
    PARQUET = "parquet"  # the whole corpus, a folder with a table for each kind of part

    @classmethod
    def of(cls, path: Path) -> Format:
        """Return the format of a path by its suffix; none, or a folder that there is, is Parquet.

        Raises SourceError for another suffix.
        """
        known = {".jsonl": cls.JSONL, ".graphml": cls.GRAPHML, "": cls.PARQUET}
        if form := cls.PARQUET if path.is_dir() else known.get(path.suffix.lower()):
            return form
        raise SourceError(
            f"A corpus can't be exported as {path.suffix}: {path}.",
            "Name a file .jsonl or .graphml, or a folder for tables of Parquet; or give --format.",
        )


class Part(NamedTuple):
    """One part of a corpus; ``kind`` is ``corpus``, ``document``, ``chunk``, ``entity``, ``counts`` or ``edge``."""

    kind: str
    value: dict[str, Any]
