"""The embedder behind an address, on an HTTP server of the test's own: requests, answers, and hostile answers."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.embedding import endpoint
from pipeline.embedding.backends import make_embedder
from pipeline.embedding.endpoint import EndpointEmbedder
from pipeline.embedding.model_files import BUNDLED_MODEL, ModelFiles
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import ConfigurationError, EmbeddingFailed, FingerprintError, HopRankError
from pipeline.records import Precision
from pipeline.settings import load_settings

TEXTS = [f"Tide gauge {number} writes the height of the sea." for number in range(70)]

Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each request by the next of the server's replies."""

    server: Endpoint

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, self.headers.get("Authorization"), json.loads(content)))
        next(self.server.replies)(self)

    @property
    def texts(self) -> list[str]:
        texts: list[str] = self.server.requests[-1][2]["input"]
        return texts

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing."""


class Endpoint(ThreadingHTTPServer):
    """A server of embeddings that the bundled model makes, longer than 1."""

    requests: list[tuple[str, str | None, dict[str, Any]]]
    replies: Iterator[Reply]
    model: SentenceTransformerEmbedder

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def will(self, *replies: Reply) -> None:
        """Reply by these, and then as it should."""
        self.requests, self.replies = [], chain(replies, repeat(embeddings))

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing of a client that has left."""

    def embedder(self, **options: Any) -> EndpointEmbedder:
        return EndpointEmbedder("some/model", self.url, **options)


def embeddings(handler: Handler) -> None:
    vectors = handler.server.model.encode(handler.texts) * 3
    items = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
    handler.send(json.dumps({"object": "list", "data": items[::-1], "model": "any"}).encode())


def in_base64(handler: Handler) -> None:
    vectors = handler.server.model.encode(handler.texts).astype("<f4")
    items = [{"index": place, "embedding": base64.b64encode(row).decode()} for place, row in enumerate(vectors)]
    handler.send(json.dumps({"data": items}).encode())


def status(code: int, **headers: str) -> Reply:
    return lambda handler: handler.send(b'{"error": "the reason"}', code, **headers)


def data(*rows: object) -> Reply:
    """Answer with these embeddings, whatever was asked."""
    items = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
    return lambda handler: handler.send(json.dumps({"data": items}).encode())


def cut(handler: Handler) -> None:
    handler.send(b'{"data": [', Content_Length="5000")


def late(handler: Handler) -> None:
    time.sleep(1)
    embeddings(handler)


def trickling(handler: Handler) -> None:
    """Send a byte at a time, each within the time-out of the socket."""
    handler.send(b"", Content_Length="5000")
    for _ in range(20):
        time.sleep(0.1)
        handler.wfile.write(b" ")


@pytest.fixture(scope="module")
def running(embedder: SentenceTransformerEmbedder) -> Iterator[Endpoint]:
    server = Endpoint(("127.0.0.1", 0), Handler)
    server.model = embedder
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def server(running: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    monkeypatch.setattr(endpoint, "_FIRST_PAUSE", 0.01)
    running.will()
    return running


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    server: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")

    assert len(server.embedder().encode(TEXTS[:1])) == 1


def test_vectors_are_those_of_the_endpoint_in_order_and_of_unit_length(server: Endpoint) -> None:
    done: list[int] = []

    vectors = server.embedder().encode(TEXTS, done.append)

    assert np.allclose(vectors, server.model.encode(TEXTS), atol=1e-6)
    assert vectors.dtype == np.float32
    assert [len(body["input"]) for _, _, body in server.requests] == done == [32, 32, 6]
    assert {(path, key, body["model"]) for path, key, body in server.requests} == {
        ("/v1/embeddings", None, "some/model")
    }


def test_the_dimension_is_learned_from_an_answer(server: Endpoint) -> None:
    asked = server.embedder()

    assert asked.encode([]).shape == (0, 384)
    asked.embed_query("tide")
    assert asked.dimension == 384
    assert len(server.requests) == 2


def test_a_batch_holds_about_as_many_tokens_as_the_settings_say(server: Endpoint) -> None:
    server.embedder(batch_tokens=30).encode([TEXTS[0], "", *TEXTS[1:6]])

    assert [len(body["input"]) for _, _, body in server.requests] == [4, 3]
    assert "" not in chain.from_iterable(body["input"] for _, _, body in server.requests), "OpenAI refuses it"


def test_base64_is_read_too(server: Endpoint) -> None:
    server.will(in_base64)

    assert np.allclose(server.embedder().embed_query("tide"), server.model.embed_query("tide"), atol=1e-6)


def test_the_key_is_sent_and_never_shown(server: Endpoint) -> None:
    server.will(status(401))
    address = f"http://someone:password@127.0.0.1:{server.server_port}/v1/embeddings"

    with pytest.raises(ConfigurationError) as refused:
        EndpointEmbedder("some/model", address, api_key="secret").embed_query("tide")
    with pytest.raises(ConfigurationError) as unsent:
        server.embedder(api_key="secret\n").embed_query("tide")

    assert server.requests[0][1] == "Bearer secret"
    assert f"The embedding endpoint http://127.0.0.1:{server.server_port}/v1/embeddings answered" in str(refused.value)
    assert "HOPRANK_EMBED__API_KEY" in refused.value.fix
    for error in (refused.value, unsent.value):
        assert "secret" not in str(error)
        assert "password" not in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("failure", [status(429, Retry_After="0"), status(503), cut, late, trickling])
def test_a_failure_that_passes_costs_only_time(server: Endpoint, failure: Reply) -> None:
    server.will(failure, failure)

    assert np.allclose(server.embedder(timeout=0.5).encode(TEXTS[:2]), server.model.encode(TEXTS[:2]), atol=1e-6)
    assert len(server.requests) == 3


def test_the_pause_that_a_server_asks_for_is_kept(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("pipeline.embedding.endpoint.time.sleep", pauses.append)
    server.will(status(429, Retry_After="7"), status(429, Retry_After="3600"), status(500, Retry_After="soon"))

    server.embedder().embed_query("tide")

    assert pauses == [7, 60, 0.04]


HOSTILE: dict[str, tuple[Sequence[Reply], type[HopRankError], str]] = {
    "always 500": ([status(500)] * 5, EmbeddingFailed, "answered with status 500: .*the reason.*5 attempts"),
    "wrong model": (
        [status(404)],
        ConfigurationError,
        "answered with status 404: .*\n.*embed.endpoint.*embed.model",
    ),
    "too long": ([status(400)], ConfigurationError, "embed.max_tokens"),
    "moved": ([status(302, Location="http://127.0.0.1:9/")], ConfigurationError, "answered with status 302"),
    "always cut": ([cut] * 5, EmbeddingFailed, "broke off"),
    "no JSON": ([lambda handler: handler.send(b"<html>")], EmbeddingFailed, "the whole: Invalid JSON"),
    "a list": ([lambda handler: handler.send(b"[]")], EmbeddingFailed, "returned no list of embeddings"),
    "too few": ([data([1.0])], EmbeddingFailed, "returned 1 embeddings for 2 texts"),
    "too many": ([data([1.0], [1.0], [1.0])], EmbeddingFailed, "returned 3 embeddings for 2 texts"),
    "not finite": ([data([1.0, float("nan")], [1.0, 2.0])], EmbeddingFailed, "no direction"),
    "too large": ([data([1e300, 1e300], [1.0, 2.0])], EmbeddingFailed, "no direction"),
    "no direction": ([data([0.0, 0.0], [1.0, 2.0])], EmbeddingFailed, "no direction"),
    "empty": ([data([], [])], EmbeddingFailed, "no direction"),
    "words": ([data(["one"], ["two"])], EmbeddingFailed, r"data\.0\.embedding\.list.*: Input should be a valid number"),
    "no base64": ([data("~", "~")], EmbeddingFailed, "neither numbers nor base64"),
    "odd base64": ([data("QUI=", "QUI=")], EmbeddingFailed, "neither numbers nor base64"),
    "two lengths": ([data([1.0], [1.0, 2.0])], EmbeddingFailed, "several lengths"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_answer_ends_in_one_clear_error(server: Endpoint, kind: str) -> None:
    replies, error, said = HOSTILE[kind]
    server.will(*replies)

    with pytest.raises(error, match=f"(?s)^The embedding endpoint {server.url}/embeddings .*{said}") as caught:
        server.embedder().encode(TEXTS[:2])

    assert caught.value.fix
    assert len(server.requests) == len(replies)


def test_an_answer_without_end_is_given_up(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "_LARGEST_ANSWER", 100_000)
    server.will(lambda handler: handler.send(b" " * 1_000_000))

    with pytest.raises(EmbeddingFailed, match="returned more than"):
        server.embedder().embed_query("tide")


def test_a_model_that_changes_its_dimension_is_refused(server: Endpoint) -> None:
    asked = server.embedder()
    asked.embed_query("tide")
    server.will(data([1.0, 2.0]))

    with pytest.raises(EmbeddingFailed, match="returned a vector of 2 numbers after one of 384"):
        asked.embed_query("tide")


@pytest.mark.usefixtures("server")
def test_nothing_that_listens_is_named() -> None:
    with pytest.raises(
        EmbeddingFailed, match=r"127\.0\.0\.1:9/v1/embeddings can't be reached, or broke off: .*refused"
    ):
        EndpointEmbedder("any", "http://127.0.0.1:9/v1", timeout=1).embed_query("tide")


def test_tokens_are_those_of_the_tokenizer(server: Endpoint, tmp_path: Path) -> None:
    file = Path(ModelFiles(BUNDLED_MODEL).location) / "tokenizer.json"

    for tokenizer in ("", str(file), str(file.parent)):
        asked = server.embedder(tokenizer=tokenizer)
        assert asked.token_offsets(TEXTS[:3]) == server.model.token_offsets(TEXTS[:3])
        assert asked.count_tokens(TEXTS[0]) == len(asked.token_offsets(TEXTS)[0])
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"can't be loaded.*\n.*embed\.tokenizer"):
        server.embedder(tokenizer=str(tmp_path)).count_tokens("tide")
    assert server.requests == []


def test_the_settings_name_the_backend(server: Endpoint) -> None:
    local = make_embedder(load_settings())
    named = {"model": "some/model", "endpoint": f"{server.url}/", "api_key": "secret", "max_tokens": 100}
    asked = make_embedder(load_settings({"embed": named}))

    assert isinstance(local, SentenceTransformerEmbedder)
    assert isinstance(asked, EndpointEmbedder)
    assert (asked.name, asked.max_tokens, asked.precision_beside("")) == ("some/model", 100, Precision.FLOAT32)
    assert asked.fingerprint == "some--model@openai/384/endpoint/float32"
    assert server.requests[0][:2] == ("/v1/embeddings", "Bearer secret")


def test_prefixes_are_put_before_questions_and_passages(server: Endpoint) -> None:
    named = {"model": "some/model", "endpoint": server.url, "query_prefix": "query: ", "passage_prefix": "passage: "}
    asked, plain = make_embedder(load_settings({"embed": named})), server.embedder()

    asked.embed_query("owls?")
    asked.embed_queries(["gulls?", "terns?"])
    asked.encode(["Owls hunt."])

    sent = [request[2]["input"] for request in server.requests]
    assert sent == [["query: owls?"], ["query: gulls?", "query: terns?"], ["passage: Owls hunt."]]
    assert asked.max_tokens == plain.max_tokens - 2, "passage, and a colon"
    assert not asked.identity.is_comparable(plain.identity)
    assert server.embedder(query_prefix="query: ").identity == plain.identity


def test_a_corpus_is_ingested_and_searched_through_an_endpoint(
    server: Endpoint, hoprank: HopRank, corpus_name: str, tmp_path: Path
) -> None:
    asked = HopRank(hoprank.client, server.embedder(), hoprank.settings)
    for name, text in (
        ("owl", "The owl hunts mice at night."),
        ("tide", "The drum of the gauge is changed on Monday."),
    ):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")

    asked.ingest(str(tmp_path), corpus=corpus_name)
    (first, *_) = asked.search("Which bird eats at night?", corpus=corpus_name, leg="vector").items

    assert first.metadata["document"] == "owl.txt"
    assert asked.ingest(str(tmp_path), corpus=corpus_name).corpus == corpus_name
    with pytest.raises(FingerprintError, match="some--model@openai/384/endpoint"):
        hoprank.search("Which bird eats at night?", corpus=corpus_name)
    with pytest.raises(FingerprintError):
        hoprank.ingest(str(tmp_path), corpus=corpus_name)
