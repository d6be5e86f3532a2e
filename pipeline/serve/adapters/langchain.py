"""The retriever, the vector store and the embeddings for LangChain; needs the extra ``langchain``."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing, InputError, UnknownCorpus, UnknownDocument
from pipeline.ids import digest
from pipeline.records import Hit
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.passages import passages_of

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
    from langchain_core.vectorstores import VectorStore
    from langchain_core.vectorstores.utils import maximal_marginal_relevance
except ImportError as error:
    raise ExtraMissing.of("langchain", error) from error


class HopRankRetriever(BaseRetriever):
    """Retrieves the ``k`` best passages of a corpus, which match ``filter``, as LangChain's documents.

    ``filter`` is one of HopRank's. ``invoke``, ``ainvoke`` and ``batch`` take ``k`` and ``filter`` too, for one call.
    Raises the errors of :meth:`pipeline.HopRank.search`.

    Example::

        retriever = HopRankRetriever(hoprank=hoprank, corpus="docs", k=5)
        documents = retriever.invoke("Who founded the yard?", filter={"year": {"$gte": 1990}})
    """

    hoprank: HopRank
    corpus: str = "default"
    k: int = 10
    filter: dict[str, Any] | None = None
    leg: str = Leg.WHOLE

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - LangChain passes it by name
        k: int | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangChain's name
    ) -> list[Document]:
        return self._search(query, k, filter)

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002
        k: int | None = None,
        filter: dict[str, Any] | None = None,  # noqa: A002
    ) -> list[Document]:
        return await run_in_executor(None, self._search, query, k, filter)

    def _search(self, query: str, k: int | None, conditions: dict[str, Any] | None) -> list[Document]:
        result = self.hoprank.search(
            query,
            top_k=self.k if k is None else k,
            filters=self.filter if conditions is None else conditions,
            corpus=self.corpus,
            leg=self.leg,
        )
        return [
            Document(id=passage.metadata["id"], page_content=passage.content, metadata=passage.metadata)
            for passage in passages_of(result)
        ]


class HopRankEmbeddings(Embeddings):
    """The embedding model of a connection, as LangChain's embeddings: unit vectors."""

    def __init__(self, hoprank: HopRank) -> None:
        self._embedder = hoprank.embedder

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector for each text."""
        vectors: list[list[float]] = self._embedder.encode(texts).tolist() if texts else []
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""
        return self._embedder.embed_query(text)


class HopRankVectorStore(VectorStore):
    """A corpus as LangChain's vector store: each document is one of the corpus, and its id the key.

    The first documents make the corpus. Long texts are cut into passages; a search ranks these as ``leg`` does, by
    default by all that HopRank knows, and returns them with the id and the metadata of their document. Mappings in the
    metadata become flat: ``loc.lines.from``. A corpus that isn't there is an empty store. Raises the errors of
    :class:`pipeline.HopRank`. Thread-safe.

    Example::

        store = HopRankVectorStore(hoprank, "docs")
        store.add_documents(documents)
        found = store.similarity_search("Who founded the yard?", k=5, filter={"year": {"$gte": 1990}})
    """

    def __init__(self, hoprank: HopRank, corpus: str = "default", leg: str = Leg.WHOLE) -> None:
        self.hoprank = hoprank
        self.corpus = corpus
        self.leg = leg

    @property
    def embeddings(self) -> HopRankEmbeddings:
        """The model that embeds what is added."""
        return HopRankEmbeddings(self.hoprank)

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        hoprank: HopRank | None = None,
        corpus: str = "default",
        **options: Any,
    ) -> Self:
        """Add texts to a corpus of a connection, ``hoprank``, which embeds them; return its store."""
        if hoprank is None:
            raise InputError("The store has no connection.", "Give hoprank=HopRank.connect().")
        if embedding is not None and not isinstance(embedding, HopRankEmbeddings):
            raise InputError(
                f"HopRank doesn't embed by {type(embedding).__name__}.",
                "Leave embedding out, and choose the model by the setting embed.model or embed.url.",
            )
        store = cls(hoprank, corpus, **options)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **options: Any,  # noqa: ARG002 - of other stores
    ) -> list[str]:
        """Add and update documents in one generation, and return their ids.

        By default an id is made from the text and the metadata, so that the same document again changes nothing. Of
        several with one id the last counts. The ``title`` in the metadata, if it is a text, is the document's.
        """
        given = list(texts)
        named = zip(ids or [None] * len(given), given, metadatas or [{}] * len(given), strict=True)
        rows = [_row(id_, text, metadata) for id_, text, metadata in named]
        if rows:
            self.hoprank.add({row["id"]: row for row in rows}.values(), self.corpus)
        return [row["id"] for row in rows]

    def delete(self, ids: list[str] | None = None, **_: Any) -> bool:
        """Delete documents by id; those that aren't there are passed over."""
        if ids is None:
            raise InputError("No ids are given.", f"Give some, or drop the whole corpus: hoprank drop {self.corpus}.")
        with suppress(UnknownCorpus):
            if known := [id_ for id_ in ids if self._has(id_)]:
                self.hoprank.delete(known, self.corpus)
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return whole documents by id, in the order of the ids; those that aren't there are left out."""
        return [document for id_ in ids if (document := self._stored(id_))]

    def _has(self, id_: str) -> bool:
        # Without its text. Of the keys that begin with it the key itself comes first.
        return any(entry.key == id_ for entry in self.hoprank.documents(self.corpus, prefix=id_, limit=1))

    def _stored(self, id_: str) -> Document | None:
        with suppress(UnknownCorpus, UnknownDocument):
            stored = self.hoprank.document(id_, self.corpus)
            return Document(id=id_, page_content=stored.text, metadata=dict(stored.entry.metadata))
        return None

    def similarity_search(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - LangChain's name
        **_: Any,
    ) -> list[Document]:
        """Return the ``k`` best passages for a question, which match a filter of HopRank's."""
        return [document for document, _ in self.similarity_search_with_score(query, k, filter=filter)]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002
        **_: Any,
    ) -> list[tuple[Document, float]]:
        """Return the best passages with the scores of their leg: higher is better."""
        return [(_document(hit), hit.score) for hit in self._hits(query, None, k, filter, self.leg)]

    def similarity_search_by_vector(
        self,
        embedding: list[float],
        k: int = 4,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002
        **_: Any,
    ) -> list[Document]:
        """Return the passages nearest to a vector."""
        return [_document(hit) for hit in self._hits(None, embedding, k, filter, Leg.VECTOR)]

    def max_marginal_relevance_search(
        self,
        query: str,
        k: int = 4,
        fetch_k: int = 20,
        lambda_mult: float = 0.5,
        *,
        filter: Mapping[str, Any] | None = None,  # noqa: A002
        **_: Any,
    ) -> list[Document]:
        """Return ``k`` of the ``fetch_k`` best passages that are near to the question and not to each other."""
        hits = self._hits(query, None, fetch_k, filter, self.leg)
        if not hits:
            return []
        # Once more: a search embeds no question in a language that its model doesn't read.
        question = np.array(self.embeddings.embed_query(query))
        vectors = self.hoprank.embedder.embed_passages([hit.text for hit in hits]).tolist()
        chosen = maximal_marginal_relevance(question, vectors, lambda_mult, k)
        return [_document(hits[place]) for place in chosen]

    def _similarity_search_with_relevance_scores(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Document, float]]:
        hits = self._hits(query, None, k, options.get("filter"), self.leg)
        return [(_document(hit), hit.relevance or 0.0) for hit in hits]

    def _hits(
        self,
        question: str | None,
        vector: Sequence[float] | None,
        k: int,
        conditions: Mapping[str, Any] | None,
        leg: str,
    ) -> Sequence[Hit]:
        try:
            return self.hoprank.search(question, vector, k, conditions, corpus=self.corpus, leg=leg).hits
        except UnknownCorpus:
            return ()


def _row(id_: str | None, text: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    key = id_ or digest("langchain", text, json.dumps(metadata, sort_keys=True, default=str))
    title = metadata.get("title")
    named = {"title": title} if isinstance(title, str) else {}
    return {"id": key, "text": text, "metadata": metadata, **named}


def _document(hit: Hit) -> Document:
    return Document(id=hit.document, page_content=hit.text, metadata=dict(hit.document_metadata))
