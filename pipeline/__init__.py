"""HopRank: graph RAG on Neo4j without an LLM."""

from pipeline.api import HopRank
from pipeline.errors import HopRankError
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem

__all__ = ["HopRank", "HopRankError", "RetrieverResult", "RetrieverResultItem"]
