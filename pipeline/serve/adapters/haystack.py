"""The retriever for Haystack; needs the extra ``haystack``."""

import asyncio
import threading
from collections.abc import Mapping
from typing import Any, Self

from pipeline.api import HopRank
from pipeline.errors import ExtraMissing, FilterError
from pipeline.retrieve.legs import Leg
from pipeline.serve.adapters.filters import COMPARISONS, Conditions, compare, join
from pipeline.serve.adapters.passages import passages_of

try:
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.utils import Secret, deserialize_secrets_inplace
except ImportError as error:
    raise ExtraMissing.of("haystack", error) from error

_OPERATORS = {**COMPARISONS, "not in": "$nin"}
_META = "meta."
_PASSWORD = Secret.from_env_var("NEO4J_PASSWORD", strict=False)


@component
class HopRankRetriever:
    """Retrieves the ``top_k`` best passages of a corpus, which match ``filters``, as Haystack's documents.

    ``filters`` are Haystack's; those of a run replace those of the component. The component connects when it warms up,
    as :meth:`pipeline.HopRank.connect` does by ``uri``, ``username``, ``password`` and ``database``; or it uses the
    connection ``hoprank``, whose address it is serialised with, and which it doesn't close. Raises the errors of
    :meth:`pipeline.HopRank.search`.

    Example::

        pipeline.add_component("retriever", HopRankRetriever("docs", top_k=5))
        pipeline.run({"retriever": {"query": "Who founded the yard?"}})
    """

    def __init__(
        self,
        corpus: str = "default",
        top_k: int = 10,
        filters: dict[str, Any] | None = None,
        leg: str = Leg.WHOLE,
        uri: str | None = None,
        username: str | None = None,
        password: Secret = _PASSWORD,
        database: str | None = None,
        hoprank: HopRank | None = None,
    ) -> None:
        self.corpus = corpus
        self.top_k = top_k
        self.filters = filters
        self.leg = leg
        self._address = {"uri": uri, "username": username, "database": database}
        if hoprank is not None:
            self._address = hoprank.settings.neo4j.model_dump(include={*self._address})
        self._password = password
        self._hoprank = hoprank
        self._own = hoprank is None
        self._connecting = threading.Lock()

    def warm_up(self) -> None:
        """Connect, unless that is done."""
        self._connected()

    def close(self) -> None:
        """Close the connection that the component made; a later run connects again."""
        with self._connecting:
            if self._own and self._hoprank is not None:
                self._hoprank.close()
                self._hoprank = None

    def to_dict(self) -> dict[str, Any]:
        """Return the component as plain values: of the password, the variable of the environment that holds it."""
        return default_to_dict(
            self,
            corpus=self.corpus,
            top_k=self.top_k,
            filters=self.filters,
            leg=str(self.leg),
            password=self._password.to_dict(),
            **self._address,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the component that :meth:`to_dict` described."""
        deserialize_secrets_inplace(data["init_parameters"], ["password"])
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the best passages for a query as ``documents``; Haystack's filters and ``top_k`` are of this run."""
        filters = self.filters if filters is None else filters
        result = self._connected().search(
            query,
            top_k=self.top_k if top_k is None else top_k,
            filters=translate(filters) if filters else None,
            corpus=self.corpus,
            leg=self.leg,
        )
        return {
            "documents": [
                Document(id=passage.metadata["id"], content=passage.content, meta=passage.metadata, score=passage.score)
                for passage in passages_of(result)
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return what :meth:`run` does, without blocking the event loop."""
        return await asyncio.to_thread(self.run, query, filters, top_k)

    def _connected(self) -> HopRank:
        with self._connecting:
            if self._hoprank is None:
                address = self._address
                self._hoprank = HopRank.connect(
                    address["uri"], address["username"], self._password.resolve_value(), address["database"]
                )
            return self._hoprank


def translate(filters: Mapping[str, Any]) -> Conditions:
    """Return Haystack's filters as HopRank's; raises FilterError if they are malformed, or HopRank lacks an operator.

    ``meta.year`` is the field ``year``.
    """
    match filters:
        case {"operator": str(operator), "conditions": [*parts]}:
            return join(operator, [translate(part) for part in parts])
        case {"operator": str(operator), "field": str(field), "value": value}:
            return compare(field.removeprefix(_META), operator, value, _OPERATORS)
    raise FilterError(
        f"The filter has the part {str(filters)[:60]}.",
        'Write it as {"field": "meta.year", "operator": ">=", "value": 1990}, or join such by AND, OR or NOT.',
    )
