"""HopRank: graph RAG on Neo4j without an LLM."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipeline.errors import HopRankError
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

if TYPE_CHECKING:
    from pipeline.api import HopRank

__all__ = ["HopRank", "HopRankError", "RetrieverResult", "RetrieverResultItem"]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        # The driver and numpy take a second to import, which `hoprank --help` and the embedded server have no use for.
        if name == "HopRank":
            from pipeline.api import HopRank

            return HopRank
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
