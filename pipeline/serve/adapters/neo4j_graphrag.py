"""The retriever for neo4j-graphrag; needs the extra ``neo4j-graphrag``."""

from collections.abc import Callable
from typing import Any

from neo4j import Record

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.passages import Passage, passages_of

try:
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as error:
    raise ExtraMissing.of("neo4j-graphrag", error) from error


class HopRankRetriever(Retriever):
    """Retrieves the best passages of a corpus as the items of neo4j-graphrag, for its ``GraphRAG`` too.

    ``result_formatter`` makes an item of a record, which holds ``content``, ``metadata`` and ``score``. Raises the
    errors of :meth:`pipeline.HopRank.search`.

    Example::

        rag = GraphRAG(HopRankRetriever(hoprank, corpus="docs"), llm)
        rag.search("Who founded the yard?", retriever_config={"top_k": 5, "filters": {"year": {"$gte": 1990}}})
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(
        self,
        hoprank: HopRank,
        corpus: str = "default",
        *,
        leg: str = Leg.WHOLE,
        result_formatter: Callable[[Record], RetrieverResultItem] | None = None,
    ) -> None:
        # The base class would take a driver, to check the version of its server and to rename it there; HopRank has its
        # own, and has checked.
        self.hoprank = hoprank
        self.corpus = corpus
        self.leg = leg
        self.result_formatter = result_formatter

    def get_search_results(
        self,
        query_text: str | None = None,
        query_vector: list[float] | None = None,
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
    ) -> RawSearchResult:
        """Return a record for each of the ``top_k`` best passages; see :meth:`pipeline.HopRank.search`."""
        result = self.hoprank.search(query_text, query_vector, top_k, filters, corpus=self.corpus, leg=self.leg)
        return RawSearchResult(
            records=[_record(passage) for passage in passages_of(result)], metadata=dict(result.metadata)
        )

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """Return the item of a record: its passage and its metadata."""
        return RetrieverResultItem(content=record["content"], metadata=record["metadata"])


def _record(passage: Passage) -> Record:
    values = {"content": passage.content, "metadata": passage.metadata, "score": passage.score}
    return Record(values)  # type: ignore[no-untyped-call]  # the driver leaves it untyped
