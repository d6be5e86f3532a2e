"""Notes in a folder, a server to lose, and the names in the chunks of a corpus that is new."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import platformdirs
import pytest

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.db.embedded import Address, ServerOptions, stop
from pipeline.ingest.entities.counts import Tallies
from pipeline.ingest.entities.extract import ChunkNames, Spelled, usual
from pipeline.ingest.entities.extractors import BUILTIN, Extractor
from pipeline.ingest.entities.lexicon import Decisions
from pipeline.records import Chunk

Write = Callable[[Path, Mapping[str, str]], Path]
Extract = Callable[..., tuple[list[ChunkNames], dict[str, str]]]


@pytest.fixture(scope="session")
def write() -> Write:
    """Write texts below a folder, given by their paths, and return it."""

    def files(folder: Path, texts: Mapping[str, str]) -> Path:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder

    return files


@pytest.fixture(scope="session")
def options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOptions]:
    """A server that tests may kill. It may not be running, and holds what other tests have left on it."""
    jars = platformdirs.user_data_path("hoprank", appauthor=False) / "jars"
    options = ServerOptions(tmp_path_factory.mktemp("own"), idle_minutes=15, heap_mb=512, page_cache_mb=64, jars=jars)
    yield options
    stop(options)


@pytest.fixture(scope="session")
def extract() -> Iterator[Extract]:
    """Return what each chunk of a new corpus names, in their order, and each entity's usual spelling by its key."""
    corpus = Corpus.of({"id": "new", "name": "new", "generation": 0})
    # There are no counts of a new corpus to read, so that no server is asked.
    with Client(Address("bolt://localhost:1", "", "", "")) as client:

        def names(
            chunks: Sequence[Chunk], shared_by: int = 8, extractor: Extractor = BUILTIN
        ) -> tuple[list[ChunkNames], dict[str, str]]:
            casing, aliases = (Tallies(client, corpus, kind) for kind in ("casing", "aliases"))
            decisions = Decisions(casing, aliases, shared_by, extractor)
            decisions.count((chunk.text for chunk in chunks), 1)
            decisions.settle([], ((chunk.document_key, chunk.title, chunk.heading) for chunk in chunks), whole=True)
            spelled: Spelled = defaultdict(Counter)
            named = decisions.names(chunks, spelled, after=True)
            return named, {key: usual(counts) for key, counts in spelled.items()}

        yield names
