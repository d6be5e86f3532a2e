"""The retriever for LangChain; needs the extra ``langchain``."""

from typing import Any

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.passages import passages_of

try:
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import run_in_executor
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
