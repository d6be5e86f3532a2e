"""``kill -9`` of the server during an ingest, on a server of the test's own: the next run completes the corpus."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import neo4j
import psutil
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.embedded import ServerOptions, ensure_running, status
from pipeline.embedding.embedder import Embedder
from pipeline.errors import ServerLost
from pipeline.progress import Progress
from pipeline.settings import load_settings

NAMES = "Ada Lovelace|Charles Babbage|Mary Somerville|Luigi Menabrea|Joseph Jacquard|Augustus De Morgan".split("|")


class Killing:
    """Kills a process when a stage has gone a step."""

    def __init__(self, pid: int, stage: str) -> None:
        self._process: psutil.Process | None = psutil.Process(pid)
        self._stage = stage

    def begin(self, stage: str, total: int | None) -> None:
        pass

    def advance(self, stage: str, steps: int) -> None:
        if stage == self._stage and steps and self._process:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def end(self, stage: str) -> None:
        pass


@contextmanager
def connected(options: ServerOptions, embedder: Embedder) -> Iterator[HopRank]:
    with Client(ensure_running(options), retry_time=0.5) as client:
        yield HopRank(client, embedder, load_settings())


def graph(hoprank: HopRank, name: str) -> list[object]:
    """All that the graph has of a corpus, staged or not, without its ids and times."""
    corpus = get_corpus(hoprank.client, name)
    address = hoprank.client.address
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        rows = driver.execute_query(
            "MATCH (n) WHERE $label IN labels(n) OR n.corpus = $id AND (n:Document OR n:Entity)"
            " OPTIONAL MATCH (n)-[r]->(m)"
            " RETURN coalesce(n.text, n.hash, n.name) AS n, n.until - n.since > 1 AS lives, type(r) AS kind,"
            " r.count AS count, r.position AS position, coalesce(m.text, m.hash, m.name) AS m",
            label=corpus.label,
            id=corpus.id,
        ).records
    # SIMILAR leaves the lesser id, which differs from corpus to corpus.
    tuples = [(*sorted(map(str, (row["n"], row["m"]))), *row.values()[1:5]) for row in rows if row["kind"]]
    return [
        corpus.documents,
        corpus.chunks,
        corpus.entities,
        corpus.staging,
        len({row["n"] for row in rows}),
        sorted(map(str, tuples)),
    ]


def test_a_server_that_is_killed_gives_a_clear_error_and_the_next_run_completes_the_corpus(
    options: ServerOptions, embedder: Embedder, tmp_path: Path
) -> None:
    path = tmp_path / "many.jsonl"
    rows = [
        {
            "id": str(number),
            "title": f"{NAMES[number % 6]} {number}",
            "text": f"{NAMES[number % 5]} met {NAMES[number % 4]}.",
        }
        for number in range(40)
    ]
    first, later = rows[:10], rows[5:]

    def write(documents: list[dict[str, str]]) -> Path:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in documents))
        return path

    with connected(options, embedder) as hoprank:
        for documents in (first, later):
            hoprank.ingest(write(documents), corpus="undisturbed")
        expected = graph(hoprank, "undisturbed")
        hoprank.ingest(write(first), corpus="lost")
        before = graph(hoprank, "lost")
    write(later)

    for stage in ("link", "embed"):
        lose(options, embedder, path, stage)
        with connected(options, embedder) as hoprank:
            assert graph(hoprank, "lost")[:3] == before[:3]
            found = hoprank.search("Who met Ada?", corpus="lost", top_k=50, leg="fulltext")
            assert {item.metadata["document"] for item in found.items} <= {row["id"] for row in first}

    with connected(options, embedder) as hoprank:
        summary = hoprank.ingest(path, corpus="lost")
        assert (summary.changed, summary.unchanged, summary.documents) == (30, 5, 40)
        written = hoprank.client.written
        hoprank.ingest(path, corpus="lost")
        assert hoprank.client.written == written
        assert graph(hoprank, "lost") == expected


def lose(options: ServerOptions, embedder: Embedder, path: Path, stage: str) -> None:
    """Ingest, and lose the server on the way."""
    with connected(options, embedder) as hoprank:
        pid = status(options).pid
        assert pid is not None
        with pytest.raises(ServerLost, match="went away") as caught:
            hoprank.ingest(path, corpus="lost", progress=Progress(Killing(pid, stage)))
        assert hoprank.client.address.uri in caught.value.message
        assert "again" in caught.value.fix
