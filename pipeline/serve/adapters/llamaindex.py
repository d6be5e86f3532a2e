"""The retriever, the vector store and the embedding model for LlamaIndex; needs the extra ``llamaindex``."""

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing, InputError
from pipeline.records import METADATA, as_properties
from pipeline.retrieve.filters.conditions import as_row_test
from pipeline.retrieve.filters.parse import parse_filter
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.awaited import awaited
from pipeline.serve.adapters.filters import COMPARISONS, Conditions, compare, join
from pipeline.serve.adapters.originals import Found, Originals, Stored, Written
from pipeline.serve.adapters.passages import Passage, passages_of

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr
    from llama_index.core.callbacks.base import CallbackManager
    from llama_index.core.schema import (
        BaseNode,
        MetadataMode,
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        FilterOperator,
        MetadataFilter,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node
except ImportError as error:
    raise ExtraMissing.of("llamaindex", error) from error

_OPERATORS = {**COMPARISONS, "nin": "$nin", "any": "$in", "contains": "$eq"}
_TEXT_OPERATORS = {"text_match": "$like", "text_match_insensitive": "$ilike"}
_NOT_FOR_MODELS = (
    *("id", "path", "ordinal", "start", "end", "line_start", "line_end"),
    *("rank", "score", "relevance", "legs"),
)
"""Metadata that prompts and embeddings leave out."""

_REF_DOC_ID = "ref_doc_id"
"""Field of the metadata, in the graph, with the id of the document that a node is from; other stores have it, too."""

_LEGS: Mapping[VectorStoreQueryMode, str | None] = {
    VectorStoreQueryMode.DEFAULT: None,
    VectorStoreQueryMode.HYBRID: Leg.HYBRID,
    VectorStoreQueryMode.SPARSE: Leg.FULLTEXT,
    VectorStoreQueryMode.TEXT_SEARCH: Leg.FULLTEXT,
}
"""The leg of each mode of a query; None is the store's."""


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

    _aretrieve = awaited(_retrieve)


class HopRankEmbedding(BaseEmbedding):
    """The embedding model of a connection, as LlamaIndex's: unit vectors."""

    _hoprank: HopRank = PrivateAttr()

    def __init__(self, hoprank: HopRank, **options: Any) -> None:
        super().__init__(model_name=hoprank.settings.embed.model, **options)
        self._hoprank = hoprank

    @classmethod
    def class_name(cls) -> str:
        """The name in serialised forms."""
        return cls.__name__

    def _get_query_embedding(self, query: str) -> list[float]:
        return list(self._hoprank.embedder.embed_query(query))

    _aget_query_embedding = awaited(_get_query_embedding)

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors: list[list[float]] = self._hoprank.embedder.encode(texts).tolist()
        return vectors


class HopRankVectorStore(BasePydanticVectorStore):
    """A corpus as LlamaIndex's vector store: each node is a document of the corpus, and its id the key.

    The first nodes make the corpus. HopRank embeds their texts itself, and keeps no embedding that a node brings. A
    query ranks by ``leg``, by default by all that HopRank knows, and returns whole nodes, as they went in. Documents
    that came otherwise are nodes too, and a query returns their passages. A corpus that isn't there is an empty store.
    Raises the errors of :class:`pipeline.HopRank`. Thread-safe.

    Example::

        store = HopRankVectorStore(hoprank, "docs")
        store.add(nodes)
        index = VectorStoreIndex.from_vector_store(store, embed_model=HopRankEmbedding(hoprank))
    """

    stores_text: bool = True
    is_embedding_query: bool = False
    corpus: str = "default"
    leg: str = Leg.WHOLE
    _originals: Originals = PrivateAttr()

    def __init__(self, hoprank: HopRank, corpus: str = "default", leg: str = Leg.WHOLE) -> None:
        super().__init__(stores_text=True, is_embedding_query=False)
        self.corpus = corpus
        self.leg = leg
        self._originals = Originals(hoprank, corpus, "llamaindex")

    @classmethod
    def class_name(cls) -> str:
        """The name in serialised forms."""
        return cls.__name__

    @property
    def client(self) -> HopRank:
        """The connection."""
        return self._originals.hoprank

    def add(self, nodes: Sequence[BaseNode], **_: Any) -> list[str]:
        """Add and update nodes in one generation, and return their ids; of several with one id the last counts.

        Nodes without a text, such as images, are stored and never found. The ``title`` in the metadata, if it is a
        text, is the document's.
        """
        self._originals.write({node.node_id: _written(node) for node in nodes})
        return [node.node_id for node in nodes]

    async_add = awaited(add)

    def delete(self, ref_doc_id: str, **_: Any) -> None:
        """Delete the nodes of a document; one that isn't there is passed over."""
        self._originals.remove(self._originals.with_value(_REF_DOC_ID, ref_doc_id))

    adelete = awaited(delete)

    def delete_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None, **_: Any) -> None:
        """Delete the nodes that have one of the ids and match the filters, as far as these are given."""
        if node_ids is None and filters is None:
            raise InputError("Neither ids nor filters are given.", "Give some, or delete all nodes by clear().")
        keys = node_ids if filters is None else self._matching(node_ids, filters)
        self._originals.remove(keys)

    adelete_nodes = awaited(delete_nodes)

    def clear(self) -> None:
        """Delete all documents of the corpus."""
        self._originals.remove(None)

    aclear = awaited(clear)

    def get_nodes(self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None) -> list[BaseNode]:
        """Return the nodes that match the filters, in the order of the ids, or of all if None are given.

        Those that aren't there are left out.
        """
        found = self._matching(node_ids, filters)
        return [self._node(found[id_]) for id_ in (found if node_ids is None else node_ids) if id_ in found]

    aget_nodes = awaited(get_nodes)

    def query(self, query: VectorStoreQuery, **_: Any) -> VectorStoreQueryResult:
        """Return the best nodes for the text of a query, with their scores: higher is better.

        An embedding replaces that of the text. The mode ``hybrid`` ranks by vector and words, ``text_search`` and
        ``sparse`` by words alone; others raise InputError. A filter is on metadata: a node without a field meets no
        condition on it.
        """
        if query.mode not in _LEGS:
            raise InputError(
                f"HopRank has no mode {query.mode.value!r}.", f"Use {', '.join(mode.value for mode in _LEGS)}."
            )
        found = self._originals.search(
            query.similarity_top_k,
            query.query_str,
            query.query_embedding,
            _conditions(query),
            leg=_LEGS[query.mode] or self.leg,
        )
        nodes = [_found_node(one) for one in found]
        scores = [one.passage.score for one in found]
        return VectorStoreQueryResult(nodes, scores, [node.node_id for node in nodes])

    aquery = awaited(query)

    def _matching(self, node_ids: Collection[str] | None, filters: MetadataFilters | None) -> dict[str, Stored]:
        test = as_row_test(parse_filter(translate(filters, METADATA))) if filters else lambda _: True
        stored = self._originals.read(node_ids)
        return {key: one for key, one in stored.items() if test(as_properties(one.entry.metadata))}

    def _node(self, stored: Stored) -> BaseNode:
        if stored.original is not None:
            return _restored(stored.original)
        text = self.client.document(stored.entry.key, self.corpus).text
        return TextNode(id_=stored.entry.key, text=text, metadata=dict(stored.entry.metadata))


def _written(node: BaseNode) -> Written:
    # The metadata apart: in JSON mode dates would become texts.
    content = node.model_dump(mode="json", exclude={"embedding", "metadata"})
    original = {"type": node.class_name(), "node": content, "metadata": node.metadata}
    source = {_REF_DOC_ID: node.ref_doc_id} if node.ref_doc_id else {}
    return Written(node.get_content(MetadataMode.NONE), {**node.metadata, **source}, original)


def _restored(original: Mapping[str, Any]) -> BaseNode:
    node = metadata_dict_to_node({"_node_content": json.dumps(original["node"]), "_node_type": original["type"]})
    node.metadata = original["metadata"]
    return node


def _found_node(found: Found) -> BaseNode:
    return _node(found.passage).node if found.original is None else _restored(found.original)


def _conditions(query: VectorStoreQuery) -> Conditions | None:
    parts = [
        *([translate(query.filters, METADATA)] if query.filters else []),
        *([{f"{METADATA}{_REF_DOC_ID}": {"$in": query.doc_ids}}] if query.doc_ids else []),
        *([{"document": {"$in": query.node_ids}}] if query.node_ids else []),
    ]
    return join("and", parts) or None


def translate(filters: MetadataFilters, prefix: str = "") -> Conditions:
    """Return LlamaIndex's filters as HopRank's, ``prefix`` before the name of each field.

    Raises FilterError for an operator that HopRank lacks.
    """
    parts = [
        translate(part, prefix) if isinstance(part, MetadataFilters) else _condition(part, f"{prefix}{part.key}")
        for part in filters.filters
    ]
    if not parts:
        return {}
    condition = filters.condition.value if filters.condition else "and"
    # In LlamaIndex "not" means that none of them holds.
    return join("not", [join("or", parts)]) if condition == "not" else join(condition, parts)


def _condition(part: MetadataFilter, field: str) -> Conditions:
    if part.operator is FilterOperator.ALL and isinstance(part.value, list):
        return join("and", [compare(field, "==", value) for value in part.value])
    if part.operator in _TEXT_OPERATORS and isinstance(part.value, str):
        # In LlamaIndex a percent sign stands for itself.
        return compare(field, part.operator, part.value.replace("%", "\\%"), _TEXT_OPERATORS)
    return compare(field, part.operator.value, part.value, _OPERATORS)


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
