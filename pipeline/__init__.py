"""HopRank: graph RAG on Neo4j without an LLM."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from pipeline.errors import HopRankError
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode

__all__ = [
    "HopRank",
    "HopRankError",
    "KnowledgeEdge",
    "KnowledgeGraph",
    "KnowledgeNode",
    "RetrieverResult",
    "RetrieverResultItem",
]

if not TYPE_CHECKING:
    # Importing the driver and numpy takes a second; `hoprank --help` and the embedded server need neither.
    _LATE = {"HopRank": "pipeline.api"} | dict.fromkeys(
        ("KnowledgeEdge", "KnowledgeGraph", "KnowledgeNode"), "pipeline.knowledge"
    )

    def __getattr__(name: str) -> object:
        if name in _LATE:
            return getattr(import_module(_LATE[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
