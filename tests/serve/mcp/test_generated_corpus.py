"""250 documents in twenty-five formats, brought in by three ways: none of their sentences is lost on any of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from anyio.from_thread import BlockingPortal
from mcp.client.stdio import StdioServerParameters, stdio_client

from pipeline import HopRank
from pipeline.serve.mcp.uris import parse_document_uri
from pipeline.text.fold import fold
from tests.ingest.sources.generated import EACH, MAKERS, Sentence, generate
from tests.serve.mcp.conftest import HOPRANK, Talk, talking
from tests.serve.service import serving

pytestmark = pytest.mark.slow

LEAST = 0.99
"""The share of the sentences that is found."""
NEAR = 3
"""The first hits, of which one is the passage with the sentence."""

Ask = Callable[[str], list[tuple[str, str]]]
"""Asks a question, and returns the keys of the documents of the hits, and their texts with their titles."""


@dataclass(frozen=True)
class Brought:
    """The corpus, its sentences, and the servers that hold it."""

    corpus: str
    sentences: Sequence[Sentence]
    http: httpx.Client
    mcp: Talk
    unchanged: int


@pytest.fixture(scope="module")
def brought(
    hoprank: HopRank,
    shared_corpus_name: str,
    server_environment: dict[str, str],
    portal: BlockingPortal,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Brought]:
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
        yield Brought(shared_corpus_name, sentences, http, mcp, done.unchanged)


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
    def ask(question: str) -> list[tuple[str, str]]:
        items = hoprank.search(question, top_k=NEAR, corpus=brought.corpus, leg="fulltext").items
        return [(item.metadata["document"], f"{item.metadata['title']} {item.content}") for item in items]

    check(brought.sentences, ask)


def test_sentences_are_found_over_http(brought: Brought) -> None:
    def ask(question: str) -> list[tuple[str, str]]:
        body = {"query": question, "corpus": brought.corpus, "top_k": NEAR, "leg": "fulltext"}
        items = brought.http.post("/v1/search", json=body).raise_for_status().json()["items"]
        return [(item["metadata"]["document"], f"{item['metadata']['title']} {item['content']}") for item in items]

    check(brought.sentences[1::8], ask)


def test_sentences_are_found_over_mcp(brought: Brought) -> None:
    def ask(question: str) -> list[tuple[str, str]]:
        found = brought.mcp.call("search", query=question, corpus=brought.corpus, top_k=NEAR, leg="fulltext")
        return [(parse_document_uri(item["id"])[1], f"{item['title']} {item['text']}") for item in found["results"]]

    check(brought.sentences[::8], ask)


def check(sentences: Sequence[Sentence], ask: Ask) -> None:
    """Ask for each sentence; at least 99 of 100 must be among the first hits, whole and in the right document."""
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda sentence: ask(sentence.question), sentences))
    lost = [sentence for sentence, hits in zip(sentences, answers, strict=True) if not is_found(sentence, hits)]
    print(f"{len(sentences) - len(lost):,} of {len(sentences):,} sentences found")
    named = Counter((sentence.key, sentence.place) for sentence in lost)
    assert len(sentences) - len(lost) >= LEAST * len(sentences), named


def is_found(sentence: Sentence, hits: Sequence[tuple[str, str]]) -> bool:
    texts = (fold(text).lower() for key, text in hits if key == sentence.key)
    return any(all(word in text for word in sentence.words) for text in texts)
