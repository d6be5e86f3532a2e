"""Ingestion on a real Ray with two workers: the graph is that of one process, whatever is killed or raises."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.embedding.backends import make_embedder
from pipeline.errors import SourceError, WorkerFailed
from pipeline.ids import digest
from pipeline.ingest.distributed.cluster import cluster, import_ray
from pipeline.ingest.distributed.engine import RayEngine
from pipeline.ingest.sources import read, rows
from pipeline.ingest.update.changes import IngestSummary, Plan
from pipeline.records import Document, Skipped, Vector
from pipeline.settings import Settings, load_settings
from tests.graph_dump import Dump
from tests.ingest.web import SECRET, Web, url_of

pytestmark = pytest.mark.slow

NAMES = "Ada Lovelace|Charles Babbage|Mary Somerville|Joseph Jacquard|Analytical Engine|Tide Gauge".split("|")
DOCUMENTS = 24
SHARD = 4
RETRIES = 1


class Endpoint(ThreadingHTTPServer):
    """A server of embeddings that are hashes; it counts texts, and can hold or spoil its answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.reset()

    def reset(self, *, held_after: int | None = None, poison: str = "", deadly: str = "") -> None:
        self.texts: Counter[str] = Counter()
        self.held_after, self.poison, self.deadly = held_after, poison, deadly
        self.holds, self.free = threading.Event(), threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing of a client that was killed."""


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        server = self.server
        if texts == ["dimension"]:
            self.send({"data": [{"index": 0, "embedding": hashed("")}]})
            return
        if server.held_after is not None and sum(server.texts.values()) >= server.held_after:
            server.holds.set()
            server.free.wait(60)
        if server.deadly and any(server.deadly in text for text in texts):
            kill_the_worker_at(self.client_address[1])
            return
        if server.poison and any(server.poison in text for text in texts):
            self.send({})
            return
        server.texts.update(texts)
        self.send({"data": [{"index": at, "embedding": hashed(text)} for at, text in enumerate(texts)]})

    def send(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


def hashed(text: str) -> list[float]:
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return [float(value) for value in np.random.default_rng(seed).normal(size=16)]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with Endpoint() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def ray_here() -> Iterator[Any]:
    """Ray on this machine, two workers, for all tests of this file."""
    with cluster(load_settings({"ray": {"workers": 2, "start_timeout": 300}}).ray):
        yield import_ray()


@pytest.fixture
def settings(hoprank: HopRank, tmp_path: Path) -> Callable[..., Settings]:
    """Settings of Ray, with a model by name."""

    def made(**embed: Any) -> Settings:
        server = hoprank.settings.neo4j.model_dump(exclude_none=True)
        ray = {"shards": str(tmp_path / "shards"), "shard_documents": SHARD, "retries": RETRIES, "start_timeout": 300}
        return load_settings({"neo4j": server, "embed": embed, "ingest": {"engine": "ray"}, "ray": ray})

    return made


@pytest.fixture
def by_endpoint(client: Client, settings: Callable[..., Settings], endpoint: Endpoint) -> Callable[[str], HopRank]:
    """HopRank by an engine, with the embeddings of the endpoint."""

    def made(engine: str) -> HopRank:
        chosen = settings(endpoint=f"http://127.0.0.1:{endpoint.server_port}/v1", model="hashes")
        ingest = chosen.ingest.model_copy(update={"engine": engine})
        return HopRank(client, make_embedder(chosen), chosen.model_copy(update={"ingest": ingest}))

    return made


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of files of several sorts, some of which can't be read; no graph has the vectors of their texts."""
    folder, unique = tmp_path / "docs", uuid.uuid4().hex
    (folder / "sub").mkdir(parents=True)
    for number in range(DOCUMENTS):
        one, other = NAMES[number % len(NAMES)], NAMES[(number * 5 + 1) % len(NAMES)]
        text = f"# {one} {number}\n\n{one} met {other} in {1800 + number}, {unique}. See [next](n{number + 1}.md).\n\n"
        (folder / ("sub" if number % 3 else "") / f"n{number}.md").write_text(
            text + f"## Part\n\n{other} left {unique}.\n" * (3 if number % 8 else 60)
        )
    (folder / "page.html").write_text("<h1>Mary Somerville</h1><p>Mary Somerville taught Ada Lovelace.</p>")
    (folder / "latin.txt").write_bytes("Die Gezeiten stören die Küste, sagt Mary Somerville.".encode("latin-1"))
    (folder / "binary.md").write_bytes(b"\x00\x01")
    (folder / "empty.md").write_text("")
    rows = [
        {"id": f"row{number}", "text": f"{NAMES[number % 6]} rows {number} {unique}.", "year": number}
        for number in range(9)
    ]
    (folder / "lines.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows) + "no json\n")
    (folder / "settings.jsonl").write_text('{"a": 1}\n' * 3)
    for part in range(3):
        table = [
            {"id": f"part{part}.md" if at else f"row{part}", "text": f"# T\n\n{NAMES[at]} {unique}"} for at in (0, 1)
        ]
        (folder / f"year=190{part}").mkdir()
        pq.write_table(pa.Table.from_pylist(table), folder / f"year=190{part}" / "part.parquet")
    (folder / "year=1902" / "broken.parquet").write_bytes(b"PAR1")
    return folder


@pytest.fixture
def vectors(cypher: Callable[..., list[neo4j.Record]], client: Client) -> Callable[[str], dict[Any, Vector]]:
    """The vectors of a corpus's chunks, by place."""

    def found(name: str) -> dict[Any, Vector]:
        corpus = find_corpus(client, name)
        assert corpus
        text = "MATCH (c:HopRankChunk) WHERE c.corpus = $id RETURN c.document AS d, c.ordinal AS o, c.embedding AS v"
        rows = cypher(text, id=corpus.id)
        return {(row["d"], row["o"]): np.asarray(row["v"], dtype=np.float32) for row in rows}

    return found


def told(summary: IngestSummary | Plan) -> Any:
    """What a summary or plan says, but for the corpus's name and the seconds."""
    return {key: value for key, value in summary.to_json().items() if key not in ("corpus", "seconds")}


def test_ray_makes_the_graph_the_plan_and_the_summary_of_one_process(
    ray_here: Any,
    hoprank: HopRank,
    client: Client,
    settings: Callable[..., Settings],
    docs: Path,
    tmp_path: Path,
    new_corpus: Callable[[], Any],
    graph_of: Callable[[str], Dump],
    vectors: Callable[[str], dict[Any, Vector]],
) -> None:
    by_ray = HopRank(client, hoprank.embedder, settings())
    with new_corpus() as local, new_corpus() as other:
        # By itself first: the graph lends the vectors of equal texts, which would then be those of one process.
        summaries = [by_ray.ingest(docs, corpus=other), hoprank.ingest(docs, corpus=local)]
        found = vectors(other)
        assert told(summaries[0]) == told(summaries[1])
        assert {one.source.rsplit("/", 1)[1] for one in summaries[0].skipped} >= {"binary.md", "empty.md"}
        assert summaries[0].warnings
        assert graph_of(other) == graph_of(local)
        encoded = bare(hoprank, client, other)
        # An encoder's sums in float32 depend in their last bits on how many texts it takes at once.
        assert found.keys() == encoded.keys()
        assert max(float(np.abs(found[place] - encoded[place]).max()) for place in found) < 1e-6
        assert not list((tmp_path / "shards").rglob("*.parquet"))

        (docs / "n0.md").unlink()
        (docs / "n3.md").rename(docs / "renamed.md")
        (docs / "sub" / "n1.md").write_text("# Ada Lovelace\n\nAda Lovelace left Charles Babbage.\n")
        (docs / "new.md").write_text("# Tides\n\nThe Tide Gauge of Mary Somerville.\n")
        plans = [one.sync(docs, corpus=name, dry_run=True).plan for one, name in ((by_ray, other), (hoprank, local))]
        assert told(plans[0]) == told(plans[1])
        assert plans[0].renamed == (("n3.md", "renamed.md"),)
        done = [one.sync(docs, corpus=name).done for one, name in ((by_ray, other), (hoprank, local))]
        assert done[0]
        assert done[1]
        assert told(done[0]) == told(done[1])
        assert graph_of(other) == graph_of(local)
        for file in (*docs.glob("*.jsonl"), *docs.glob("**/*.parquet")):
            file.unlink()
        messages = []
        for one, name in ((by_ray, other), (hoprank, local)):
            with pytest.raises(SourceError, match=r"binary\.md") as raised:
                one.sync(docs, corpus=name, strict=True)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]
        assert graph_of(other) == graph_of(local)


def test_workers_fetch_what_urls_name_and_a_failure_is_that_of_one_process(
    ray_here: Any, client: Client, hoprank: HopRank, settings: Callable[..., Settings], docs: Path
) -> None:
    with Web(docs) as web, RayEngine(client, hoprank.embedder, settings(), "urls") as engine:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        (docs / "rows.jsonl").write_text('{"id": "one", "text": "A line."}\n')
        urls = [url_of(web, name) for name in ("n0.md", "page.html", "latin.txt", "rows.jsonl", "sub/n1.md")]

        found = list(engine.read(urls, strict=False))

        assert found == list(read(urls))
        assert len(found) == 5
        assert SECRET not in repr(found)
        for url in (url_of(web, "n0.md", "wrong"), url_of(web, "gone.md"), url_of(web, "binary.md")):
            with pytest.raises(SourceError) as here:
                list(read([url]))
            with pytest.raises(SourceError) as there:
                list(engine.read([url], strict=False))
            assert str(there.value) == str(here.value)
            assert SECRET not in str(there.value)
        web.shutdown()
        with pytest.raises(SourceError, match="memory of this process"):
            engine.read(["memory://docs"], strict=False)


@pytest.mark.parametrize("largest", [16_000_000, 0])
def test_rows_are_read_by_workers_unless_their_file_is_large(
    ray_here: Any,
    client: Client,
    hoprank: HopRank,
    settings: Callable[..., Settings],
    docs: Path,
    monkeypatch: pytest.MonkeyPatch,
    largest: int,
) -> None:
    expected = list(read([str(docs)]))
    (docs / "again.jsonl").write_text('{"id": "a", "text": "A."}\n{"id": "a", "text": "B."}\n')
    here: set[str] = set()
    plain = rows.documents

    def documents(path: Any, *others: Any) -> Any:
        here.add(path.name)
        return plain(path, *others)

    monkeypatch.setattr("pipeline.ingest.distributed.engine._LARGEST_FILE", largest)
    monkeypatch.setattr(rows, "documents", documents)
    with RayEngine(client, hoprank.embedder, settings(), "rows") as engine:
        with pytest.raises(SourceError, match=r"gives the id 'a' on line 1 and again on line 2"):
            engine.read([str(docs / "again.jsonl")], strict=False)
        (docs / "again.jsonl").unlink()
        here.clear()

        found = list(engine.read([str(docs)], strict=False))

    assert found == expected
    assert any(isinstance(one, Skipped) and "settings.jsonl" in one.source for one in found)
    assert here == (set() if largest else {"lines.jsonl", "settings.jsonl", "part.parquet", "broken.parquet"})


def bare(hoprank: HopRank, client: Client, name: str) -> dict[Any, Vector]:
    """The vectors that this process's encoder makes of a corpus's texts, all in one call."""
    from pipeline.db.corpus import open_corpus
    from pipeline.ingest.embed import embedded_text
    from pipeline.ingest.update.stored import visible_chunks

    chunks = [stored.chunk for stored in visible_chunks(open_corpus(client, name))]
    made = hoprank.embedder.encode([embedded_text(chunk) for chunk in chunks])
    return {(chunk.document_key, chunk.ordinal): row for chunk, row in zip(chunks, made, strict=True)}


def embedding_workers() -> list[psutil.Process]:
    """The processes of Ray's actors that embed."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "EmbedShards" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_the_worker_at(port: int) -> None:
    """Kill the actor that has a port open, as memory that runs out does."""
    for process in embedding_workers():
        if any(one.laddr.port == port for one in process.net_connections()):
            process.kill()


def wait_until(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.05)


def test_what_raises_or_kills_its_worker_each_time_is_named_and_a_killed_worker_is_replaced(
    ray_here: Any,
    by_endpoint: Callable[[str], HopRank],
    endpoint: Endpoint,
    docs: Path,
    tmp_path: Path,
    client: Client,
    new_corpus: Callable[[], Any],
    graph_of: Callable[[str], Dump],
    capsys: pytest.CaptureFixture[str],
) -> None:
    (docs / "sub" / "n7.md").write_text("# Poison\n\nThis can't be embedded: POISON.\n")
    endpoint.reset(poison="POISON")
    with new_corpus() as name, new_corpus() as local, ThreadPoolExecutor(1) as aside:
        with pytest.raises(WorkerFailed, match=rf"'sub/n7\.md' can't be embedded.*\(attempts: {RETRIES + 1}\)"):
            by_endpoint("ray").ingest(docs, corpus=name)
        corpus = find_corpus(client, name)
        assert corpus is None or corpus.generation == 0
        finished = set(endpoint.texts)
        assert finished

        endpoint.reset(deadly="POISON")
        with pytest.raises(WorkerFailed, match=r"died 2 times .* the documents '\S+' to '\S+'\. ") as died:
            by_endpoint("ray").ingest(docs, corpus=name)
        keys = [one.key for one in read([str(docs)]) if isinstance(one, Document)]
        first, last = (keys.index(key) for key in re.findall(r"'(\S+)'", died.value.message)[:2])
        assert first <= keys.index("sub/n7.md") <= last < first + SHARD, "not the shard of the other actor"

        endpoint.reset(held_after=0)
        kill = aside.submit(kill_a_worker, endpoint)
        by_endpoint("ray").ingest(docs, corpus=name)
        kill.result()
        again = finished & set(endpoint.texts)
        assert len(again) < SHARD, "what finished shards hold isn't embedded again: only what is beside the document"
        by_endpoint("local").ingest(docs, corpus=local)
        assert graph_of(name) == graph_of(local)
        assert not list((tmp_path / "shards").rglob("*.parquet"))
        assert capsys.readouterr().out == "", "stdout is for results: Ray tells of the dead worker there"


def kill_a_worker(endpoint: Endpoint) -> None:
    """Kill an actor that waits for the endpoint."""
    assert endpoint.holds.wait(60)
    os.kill(embedding_workers()[0].pid, signal.SIGKILL)
    endpoint.free.set()


DRIVER = "import sys; from hoprank import main; sys.exit(main())"


def test_a_driver_that_is_killed_goes_on_from_its_shards(
    ray_here: Any,
    by_endpoint: Callable[[str], HopRank],
    endpoint: Endpoint,
    docs: Path,
    tmp_path: Path,
    server_environment: dict[str, str],
    new_corpus: Callable[[], Any],
    graph_of: Callable[[str], Dump],
) -> None:
    endpoint.reset(held_after=40)
    chosen = by_endpoint("ray").settings
    with new_corpus() as name, new_corpus() as local:
        options = {
            "embed.endpoint": chosen.embed.endpoint,
            "embed.model": "hashes",
            "ray.shards": chosen.ray.shards,
            "ray.shard_documents": SHARD,
            "ray.start_timeout": 300,
        }
        sets = [part for key, value in options.items() for part in ("--set", f"{key}={value}")]
        address = ray_here.get_runtime_context().gcs_address
        command = [sys.executable, "-c", DRIVER, "ingest", str(docs), "--corpus", name, "--address", address, *sets]
        before_it = {one.pid for one in embedding_workers()}
        with (tmp_path / "log").open("wb") as log:
            environment = {**os.environ, **server_environment}
            driver = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        shards = tmp_path / "shards"
        try:
            wait_until(lambda: driver.poll() is not None or len(list(shards.rglob("*.vectors.parquet"))) >= 2)
            assert driver.poll() is None, (tmp_path / "log").read_text()
        finally:
            driver.kill()
            driver.wait()
        endpoint.free.set()
        wait_until(lambda: not {one.pid for one in embedding_workers()} - before_it)
        whole = [pq.read_table(file, columns=["hash"]) for file in shards.rglob("*.vectors.parquet")]
        done = {hash_ for table in whole for hash_ in table["hash"].to_pylist()}
        assert done & {digest(text) for text in endpoint.texts}

        endpoint.reset()
        by_endpoint("ray").ingest(docs, corpus=name)
        assert endpoint.texts
        assert not done & {digest(text) for text in endpoint.texts}, "what finished shards hold isn't embedded again"
        by_endpoint("local").ingest(docs, corpus=local)
        assert graph_of(name) == graph_of(local)
        assert not list(shards.rglob("*.parquet"))
