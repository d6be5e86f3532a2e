"""250 documents in twenty-five formats, brought in by three ways: none of their sentences is lost on any of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.stdio import StdioServerParameters, stdio_client

from pipeline import HopRank
from pipeline.text.fold import fold
from tests.ingest.sources.generated import EACH, MAKERS, Sentence, generate
from tests.serve.mcp.conftest import HOPRANK, talking
from tests.serve.service import serving

pytestmark = pytest.mark.slow

LEAST = 0.99
"""The share of the sentences that is found."""
NEAR = 3
"""The first hits, of which one is the passage with the sentence."""


@dataclass(frozen=True)
class Brought:
    """The corpus, its sentences, and how many documents the last ingest left as they were."""

    corpus: str
    sentences: Sequence[Sentence]
    unchanged: int


@pytest.fixture(scope="module")
def brought(
    hoprank: HopRank,
    shared_corpus_name: str,
    server_environment: dict[str, str],
    portal: BlockingPortal,
    tmp_path_factory: pytest.TempPathFactory,
) -> Brought:
    """A document of each format is put over HTTP, another is ingested over MCP, and then the folder as a whole."""
    folder = tmp_path_factory.mktemp("generated")
    sentences = generate(folder)
    environment = server_environment | {"HOPRANK_SOURCES__CODE": "true", "HOPRANK_SERVE__RATE": "0"}
    command = StdioServerParameters(
        command=HOPRANK[0], args=[*HOPRANK[1:], "mcp", "--folder", str(folder)], env=os.environ | environment
    )
    sources = hoprank.settings.sources.model_copy(update={"code": True})
    reading = HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"sources": sources}))
    with (
        serving(environment) as service,
        httpx.Client(base_url=service.url, timeout=60, trust_env=False) as http,
        talking(portal, stdio_client(command)) as mcp,
    ):
        for path in sorted(folder.glob("*/a+b*")):
            put(http, shared_corpus_name, folder, path)
        given = mcp.call("ingest", paths=[f"{folder}/*/*/**/*"], corpus=shared_corpus_name)
        assert given["changed"] == len(MAKERS)
        done = reading.ingest(folder, corpus=shared_corpus_name)
    return Brought(shared_corpus_name, sentences, done.unchanged)


def put(http: httpx.Client, corpus: str, folder: Path, path: Path) -> None:
    key = quote(path.relative_to(folder).as_posix())
    http.put(f"/v1/corpora/{corpus}/files/{key}", content=path.read_bytes()).raise_for_status()


def test_all_ways_read_the_same(hoprank: HopRank, brought: Brought) -> None:
    """What was brought over HTTP and MCP is unchanged when the folder is ingested."""
    found = hoprank.documents(brought.corpus, limit=1_000)

    assert {entry.key for entry in found} == {sentence.key for sentence in brought.sentences}
    assert len(found) == (len(MAKERS) + 1) * EACH
    assert brought.unchanged == 2 * len(MAKERS)


def test_sentences_are_found_by_full_text(hoprank: HopRank, brought: Brought) -> None:
    """At least 99 of 100 must be among the first hits, whole and in the right document."""

    def is_found(sentence: Sentence) -> bool:
        items = hoprank.search(sentence.question, top_k=NEAR, corpus=brought.corpus, leg="fulltext").items
        found = [item for item in items if item.metadata["document"] == sentence.key]
        texts = [fold(f"{item.metadata['title']} {item.content}").lower() for item in found]
        return any(all(word in text for word in sentence.words) for text in texts)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(is_found, brought.sentences))
    lost = [sentence for sentence, was in zip(brought.sentences, found, strict=True) if not was]
    named = Counter((sentence.key, sentence.place) for sentence in lost)
    assert len(lost) <= (1 - LEAST) * len(brought.sentences), named
