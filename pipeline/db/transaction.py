"""Several queries in one transaction, which commits all their writes or none."""

from collections.abc import Mapping
from typing import Any

import neo4j

from pipeline.db.queries import Query


class Transaction:
    """An open transaction, passed to the work of :meth:`pipeline.db.client.Client.write_together` and ended after it.

    The name of each query is appended to ``asked``.
    """

    def __init__(self, transaction: neo4j.ManagedTransaction, queries: Mapping[str, Query], asked: list[str]) -> None:
        self._transaction = transaction
        self._queries = queries
        self._asked = asked
        self.counters: list[neo4j.SummaryCounters] = []

    def run(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[neo4j.Record]:
        """Run the read or write query ``name`` and return its rows."""
        self._asked.append(name)
        result = self._transaction.run(self._queries[name].text_with(names or {}), params)
        rows = list(result)
        self.counters.append(result.consume().counters)
        return rows
