"""The formats that a corpus can be exported to."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path


class Format(StrEnum):
    """What a corpus can be exported to."""

    JSONL = "jsonl"
    """everything, a part a line; what an import reads"""
    GRAPHML = "graphml"
    """nodes and edges, for Gephi, networkx, igraph"""
    PARQUET = "parquet"
    """a folder of tables: documents, chunks, entities, edges"""

    @classmethod
    def of(cls, path: Path) -> Format:
        """Tell the format by a file's suffix; a folder is Parquet."""
        return {".jsonl": cls.JSONL, ".graphml": cls.GRAPHML, "": cls.PARQUET}.get(path.suffix, cls.JSONL)
