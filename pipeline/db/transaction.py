"""Several queries in one transaction: all that they write is kept, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import neo4j

from pipeline.db.queries import Query


class Transaction:
    """What :meth:`pipeline.db.client.Client.write_together` hands to its work; it ends with it.

    ``asked`` gets the name of each query that it runs.
    """

    def __init__(self, open_one: neo4j.ManagedTransaction, queries: Mapping[str, Query], asked: list[str]) -> None:
        self._open = open_one
        self._queries = queries
        self._asked = asked
        self.counters: list[neo4j.SummaryCounters] = []

    def run(self, name: str, names: Mapping[str, str] | None = None, /, **params: Any) -> list[neo4j.Record]:
        """Run the query ``name``, of either mode, and return its rows."""
        self._asked.append(name)
        result = self._open.run(self._queries[name].text_with(names or {}), params)
        rows = list(result)
        self.counters.append(result.consume().counters)
        return rows
