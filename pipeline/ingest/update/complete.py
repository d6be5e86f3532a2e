"""Complete a corpus with its indexes: a new one, or one that ``neo4j-admin`` has made a database of."""

import json
from typing import Any

from neo4j import Record

from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import ensure_schema
from pipeline.db.lease import LeasedWrites

AS_JSON = "as_json"
"""The property of a node or an edge that holds others as JSON, which the import can't; see transfer/neo4j_admin.py."""

_BATCH = 1000  # rows of a query; as in an ingest, chosen by hand, not measured


def complete(corpus: CorpusHandle, writer: str) -> None:
    """Create the missing constraints and indexes of a corpus, which the caller has leased as ``writer``.

    What an import kept as JSON becomes properties before; the full-text index, which is made last, tells that it has.
    Raises ConfigurationError if the server lacks the corpus's analyser.
    """
    record = corpus.record
    ensure_schema(
        corpus.client,
        corpus.id,
        record.fingerprint,
        record.dimension,
        record.analyzer,
        filterable=bool(record.filterable),
        before_last=lambda: _restore(corpus, writer),
    )


def _restore(corpus: CorpusHandle, writer: str) -> None:
    writes = LeasedWrites(corpus, writer)
    writes.write_rows("restore_nodes", map(_restored, corpus.stream("nodes_kept_as_json")), batch=_BATCH)
    writes.write_rows("restore_edges", map(_restored, corpus.stream("edges_kept_as_json")), batch=_BATCH)


def _restored(row: Record) -> dict[str, Any]:
    return {"id": row["id"], "properties": {**json.loads(row["as_json"]), AS_JSON: None}}
