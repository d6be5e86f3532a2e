"""The retriever for LlamaIndex; needs the extra ``llamaindex``."""

import asyncio
from collections.abc import Mapping
from typing import Any

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.filters import COMPARISONS, Conditions, compare, join
from pipeline.serve.adapters.passages import Passage, passages_of

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
    from llama_index.core.vector_stores.types import FilterOperator, MetadataFilter, MetadataFilters
except ImportError as error:
    raise ExtraMissing.of("llamaindex", error) from error

_OPERATORS = {**COMPARISONS, "nin": "$nin", "any": "$in", "contains": "$eq"}
_TEXT_OPERATORS = {"text_match": "$like", "text_match_insensitive": "$ilike"}
_NOT_FOR_MODELS = (
    *("id", "path", "ordinal", "start", "end", "line_start", "line_end"),
    *("rank", "score", "relevance", "legs"),
)
"""Metadata that prompts and embeddings leave out."""


class HopRankRetriever(BaseRetriever):
    """Retrieves the ``similarity_top_k`` best passages of a corpus as LlamaIndex's nodes.

    ``filters`` are LlamaIndex's or HopRank's. A node's source is its document's key. A query's embedding, if it has
    one, is searched by in place of that of its text. Raises the errors of :meth:`pipeline.HopRank.search`.

    Example::

        retriever = HopRankRetriever(hoprank, corpus="docs", similarity_top_k=5)
        engine = RetrieverQueryEngine.from_args(retriever, llm=llm)
    """

    def __init__(
        self,
        hoprank: HopRank,
        corpus: str = "default",
        *,
        similarity_top_k: int = 10,
        filters: MetadataFilters | Mapping[str, Any] | None = None,
        leg: str = Leg.WHOLE,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        super().__init__(callback_manager=callback_manager)
        self._hoprank = hoprank
        self._corpus = corpus
        self._similarity_top_k = similarity_top_k
        self._filters = translate(filters) if isinstance(filters, MetadataFilters) else filters
        self._leg = leg

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._hoprank.search(
            query_bundle.query_str,
            query_bundle.embedding,
            self._similarity_top_k,
            self._filters,
            corpus=self._corpus,
            leg=self._leg,
        )
        return [_node(passage) for passage in passages_of(result)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def translate(filters: MetadataFilters) -> Conditions:
    """Return LlamaIndex's filters as HopRank's; raises FilterError for an operator that HopRank lacks."""
    parts = [translate(part) if isinstance(part, MetadataFilters) else _condition(part) for part in filters.filters]
    return join(filters.condition.value if filters.condition else "and", parts)


def _condition(part: MetadataFilter) -> Conditions:
    if part.operator is FilterOperator.ALL and isinstance(part.value, list):
        return join("and", [compare(part.key, "==", value) for value in part.value])
    if part.operator in _TEXT_OPERATORS and isinstance(part.value, str):
        # In LlamaIndex a percent sign stands for itself.
        return compare(part.key, part.operator, part.value.replace("%", "\\%"), _TEXT_OPERATORS)
    return compare(part.key, part.operator.value, part.value, _OPERATORS)


def _node(passage: Passage) -> NodeWithScore:
    metadata = passage.metadata
    node = TextNode(
        id_=metadata["id"],
        text=passage.content,
        metadata=metadata,
        start_char_idx=metadata["start"],
        end_char_idx=metadata["end"],
        excluded_llm_metadata_keys=list(_NOT_FOR_MODELS),
        excluded_embed_metadata_keys=list(_NOT_FOR_MODELS),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=metadata["document"])},
    )
    return NodeWithScore(node=node, score=passage.score)
