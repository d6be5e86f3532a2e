"""Notes in a folder, a server to lose, and the names in the chunks of a corpus that is new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from pipeline.db.embedded import ServerOptions, stop
from pipeline.ingest.entities.extract import ChunkNames, Extractor, builtin
from pipeline.ingest.entities.lexicon import CountChanges, LexiconUpdate
from pipeline.records import Chunk
from pipeline.text.names import most_frequent

Write = Callable[[Path, Mapping[str, str]], Path]
Extract = Callable[..., tuple[list[ChunkNames], dict[str, str]]]
Names = Callable[..., dict[str, ChunkNames]]
Linked = Callable[..., dict[str, list[str]]]

EVERYDAY = "the he it what was in by we met and is a of how to planet song here"


def chunk(key: str, text: str, title: str = "", heading: str = "", ordinal: int = 0) -> Chunk:
    return Chunk(f"{key}/{ordinal}", key, ordinal, text, title, heading, 0, len(text), 1, 1, 5)


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
def options(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerOptions]:
    """A server that tests may kill. It may not be running, and holds what other tests have left on it."""
    options = ServerOptions(tmp_path_factory.mktemp("own"), idle_minutes=15, heap_mb=512, page_cache_mb=64, jars=jars)
    yield options
    stop(options)


@pytest.fixture(scope="session")
def extract() -> Extract:
    """Return what each chunk of a new corpus names, in their order, and each entity's commonest spelling by its key."""

    def names(
        chunks: Sequence[Chunk], shared_by: int = 8, extractor: Extractor = builtin
    ) -> tuple[list[ChunkNames], dict[str, str]]:
        lexicon = LexiconUpdate(CountChanges(lambda _: ()), CountChanges(lambda _: ()), shared_by, extractor)
        lexicon.count((chunk.text for chunk in chunks), 1)
        lexicon.decide([], ((chunk.document_key, chunk.title, chunk.heading) for chunk in chunks), new=True)
        named, spelled = lexicon.names(chunks, after=True)
        return named, {key: most_frequent(counts) for key, counts in spelled.items()}

    return names


@pytest.fixture(scope="session")
def names(extract: Extract) -> Names:
    """What each chunk names, by its document; a chunk of everyday words makes sentence starts tell nothing."""

    def find(*chunks: Chunk, shared_by: int = 8) -> dict[str, ChunkNames]:
        found, _ = extract([*chunks, chunk("everyday", EVERYDAY)], shared_by)
        return {named.chunk_id.split("/", 1)[0]: named for named in found}

    return find


@pytest.fixture(scope="session")
def linked(names: Names) -> Linked:
    """The documents that each chunk refers to, of those that do."""

    def find(*chunks: Chunk, shared_by: int = 8) -> dict[str, list[str]]:
        found = names(*chunks, shared_by=shared_by).items()
        return {key: [link.document_key for link in named.titles] for key, named in found if named.titles}

    return find
