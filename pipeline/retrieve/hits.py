"""What a result shows of a chunk, read from the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus

_FIELDS = (
    "id",
    "text",
    "document",
    "title",
    "heading",
    "path",
    "ordinal",
    "start",
    "end",
    "line_start",
    "line_end",
    "properties",
)
"""The values of a hit, in the order in which ``hydrate`` returns them."""


def read_hits(client: Client, corpus: Corpus, ids: Sequence[str], generation: int) -> dict[str, Mapping[str, Any]]:
    """Return the text, place and document of chunks of one generation, by id; those that it lacks are left out."""
    rows = client.read("hydrate", ids=list(ids), corpus=corpus.id, generation=generation) if ids else []
    hits = (dict(zip(_FIELDS, values, strict=True)) for row in rows for values in row["hits"])
    return {hit["id"]: hit for hit in hits}
