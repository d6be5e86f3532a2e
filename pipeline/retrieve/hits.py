"""What a result shows of a chunk, read from the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus


def read_hits(client: Client, corpus: Corpus, ids: Sequence[str], generation: int) -> dict[str, Mapping[str, Any]]:
    """Return the text, place and document of chunks of one generation, by id; those that it lacks are left out."""
    rows = client.read("hydrate", ids=list(ids), corpus=corpus.id, generation=generation) if ids else []
    return {hit["id"]: hit for row in rows for hit in row["hits"]}
