"""HopRank: graph RAG on Neo4j without an LLM."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.api import HopRank
    from pipeline.async_api import AsyncHopRank
    from pipeline.domains.memory.api import Memory
    from pipeline.domains.routing.api import Projects
    from pipeline.domains.skills.api import Skills
    from pipeline.domains.tools.api import Tools
    from pipeline.domains.vault.api import Vault
    from pipeline.embedding.embedder import Embedder
    from pipeline.errors import HopRankError
    from pipeline.knowledge import GraphChunk, Knowledge, KnowledgeEdge, KnowledgeGraph, KnowledgeNode
    from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

__all__ = [
    "AsyncHopRank",
    "Embedder",
    "GraphChunk",
    "HopRank",
    "HopRankError",
    "Knowledge",
    "KnowledgeEdge",
    "KnowledgeGraph",
    "KnowledgeNode",
    "Memory",
    "Projects",
    "RetrieverResult",
    "RetrieverResultItem",
    "Skills",
    "Tools",
    "Vault",
]

if not TYPE_CHECKING:
    # Each name is imported when it is first read (PEP 562). The driver and numpy take a second to import, and neither
    # the embedded server nor `hoprank --help` needs them.
    _MODULES = {
        "AsyncHopRank": "pipeline.async_api",
        "Embedder": "pipeline.embedding.embedder",
        "GraphChunk": "pipeline.knowledge",
        "HopRank": "pipeline.api",
        "HopRankError": "pipeline.errors",
        "Knowledge": "pipeline.knowledge",
        "KnowledgeEdge": "pipeline.knowledge",
        "KnowledgeGraph": "pipeline.knowledge",
        "KnowledgeNode": "pipeline.knowledge",
        "Memory": "pipeline.domains.memory.api",
        "Projects": "pipeline.domains.routing.api",
        "RetrieverResult": "pipeline.retrieve.results",
        "RetrieverResultItem": "pipeline.retrieve.results",
        "Skills": "pipeline.domains.skills.api",
        "Tools": "pipeline.domains.tools.api",
        "Vault": "pipeline.domains.vault.api",
    }

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
