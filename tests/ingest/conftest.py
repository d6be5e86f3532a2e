"""The names in the chunks of a corpus that is new."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import pytest

from pipeline.graph.client import Client
from pipeline.graph.corpora import Corpus
from pipeline.graph.embedded import Address
from pipeline.ingest.decisions import Decisions
from pipeline.ingest.extract import ChunkNames, Spelled, usual
from pipeline.ingest.tallies import Tallies
from pipeline.records import Chunk

Extract = Callable[..., tuple[list[ChunkNames], dict[str, str]]]


@pytest.fixture(scope="session")
def extract() -> Iterator[Extract]:
    """Return what each chunk of a new corpus names, in their order, and each entity's usual spelling by its key."""
    corpus = Corpus.of({"id": "new", "name": "new", "generation": 0})
    # There are no counts of a new corpus to read, so that no server is asked.
    with Client(Address("bolt://localhost:1", "", "", "")) as client:

        def names(chunks: Sequence[Chunk], shared_by: int = 8) -> tuple[list[ChunkNames], dict[str, str]]:
            decisions = Decisions(Tallies(client, corpus, "casing"), shared_by)
            decisions.count((chunk.text for chunk in chunks), 1)
            decisions.settle([], ((chunk.document_key, chunk.title, chunk.heading) for chunk in chunks), whole=True)
            spelled: Spelled = defaultdict(Counter)
            named = decisions.names(chunks, spelled, after=True)
            return named, {key: usual(counts) for key, counts in spelled.items()}

        yield names
