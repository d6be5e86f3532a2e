"""Traces: the spans of searches and ingests, sent to a collector, and the seconds of stages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import requests

from pipeline import telemetry
from tests.otel_collector import Collector, attributes, collecting
from tests.serve.service import Service, serving

QUESTION = "Who founded the yard with the crimson cranes?"
STAGES = ["embeddings all-MiniLM-L6-v2", "find candidates", "choose seeds", "walk", "score", "rank", "hydrate"]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as made:
        yield made


def asked(service: Service, path: str, body: Mapping[str, Any], **headers: str) -> Any:
    answer = requests.post(f"{service.url}{path}", json=body, headers=headers, timeout=60)
    assert answer.ok, answer.text
    return answer.json()


def printed(code: str, environment: Mapping[str, str]) -> str:
    """What a program prints that ends well."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_search_shows_its_stages_in_a_collector(
    server_environment: dict[str, str], library: str, collector: Collector
) -> None:
    client_trace, client_span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with serving({**server_environment, "HOPRANK_OBSERVE__TRACES": collector.url}) as service:
        body = {"query": QUESTION, "corpus": library, "top_k": 3}
        asked(service, "/v1/search", {**body, "query": "A first one, to load the model"})
        asked(service, "/v1/search", body, traceparent=f"00-{client_trace}-{client_span}-01")
        requests.get(f"{service.url}/v1/graphs/none/search", params={"text": "crimson"}, timeout=60)
        requests.get(f"{service.url}/health", timeout=60)
        service.stop()

    request = collector.wait_for(lambda span: span.trace_id.hex() == client_trace and span.kind == 2)
    assert (request.name, request.parent_span_id.hex()) == ("POST /v1/search", client_span)
    assert attributes(request)["http.response.status_code"] == 200
    (search,) = collector.within(request)
    assert search.name == f"retrieval {library}"
    told = attributes(search)
    assert told["gen_ai.operation.name"] == "retrieval"
    assert (told["gen_ai.data_source.id"], told["gen_ai.retrieval.top_k"]) == (library, 3)
    stages = collector.within(search)
    assert [span.name for span in stages] == STAGES
    assert attributes(stages[0])["gen_ai.request.model"] == "all-MiniLM-L6-v2"
    queries = [span for span in collector.below(search) if attributes(span).get("db.system.name") == "neo4j"]
    assert [span.name for span in queries] == ["explore"]  # the hits were kept of the question before
    for span in (*stages, *queries):
        assert search.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= search.end_time_unix_nano
    assert collector.resource["service.name"] == "hoprank"
    assert b"crimson" not in collector.raw
    assert not [span for span in collector.spans if "/health" in span.name]


@pytest.mark.slow
def test_an_ingest_shows_its_stages_and_a_failure_its_type(
    server_environment: dict[str, str], corpus_name: str, collector: Collector, tmp_path: Path
) -> None:
    (tmp_path / "moon.md").write_text("# Moon\n\nThe moon raises the tides.", encoding="utf-8")
    environment = {**os.environ, **server_environment, "HOPRANK_OBSERVE__TRACES": collector.url}

    def hoprank(*arguments: str) -> int:
        command = [sys.executable, "-c", "from pipeline.cli import main; main()", *arguments]
        return subprocess.run(command, env=environment, capture_output=True, timeout=120).returncode

    assert hoprank("ingest", str(tmp_path), "--corpus", corpus_name) == 0
    ingest = collector.wait_for(lambda span: span.name == f"ingest {corpus_name}")
    stages = [span.name for span in collector.within(ingest)]
    assert [name for name in stages if name in ("load model", "read", "chunk", "embed", "link", "publish")] == [
        "load model",
        "read",
        "chunk",
        "embed",
        "link",
        "publish",
    ]
    queries = [attributes(span).get("db.query.summary", "") for span in collector.below(ingest)]
    assert {"stage_documents", "stage_chunks"} <= set(" ".join(queries).split())

    assert hoprank("ingest", str(tmp_path), "--corpus", corpus_name, "--filterable", "crimson") == 2
    failed = collector.wait_for(lambda span: "error.type" in attributes(span))
    assert (attributes(failed)["error.type"], failed.status.code) == ("FingerprintError", 2)
    assert b"crimson" not in collector.raw
    assert b"raises the tides" not in collector.raw


def test_without_a_collector_opentelemetry_is_not_imported() -> None:
    code = (
        "import sys; from pipeline import telemetry\n"
        "with telemetry.span('a'), telemetry.leaf('b', {}, alone=True), telemetry.stage('c'): pass\n"
        "telemetry.note({'a': 1}); telemetry.start(''); assert telemetry.ids_of_span() == {}\n"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_stages_are_told_to_observers_until_they_are_forgotten() -> None:
    seen: list[tuple[str, float]] = []

    def observer(stage: str, seconds: float) -> None:
        seen.append((stage, seconds))

    telemetry.observe(observer)
    try:
        with pytest.raises(ZeroDivisionError), telemetry.stage("divide"):
            _ = 1 / 0
    finally:
        telemetry.forget(observer)
    with telemetry.stage("unseen"):
        pass

    assert [stage for stage, _ in seen] == ["divide"]
    assert 0 <= seen[0][1] < 60


def test_spans_go_where_the_application_has_set_up_its_own(server_environment: dict[str, str], library: str) -> None:
    code = f"""
import json
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pipeline import HopRank
kept = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(provider)
with HopRank.connect() as hoprank:
    hoprank.search({QUESTION!r}, corpus={library!r})
    list(hoprank.client.stream("chunk_texts", label="none", generation=1))
    with trace.get_tracer("app").start_as_current_span("app"):
        hoprank.search({QUESTION!r}, corpus={library!r}, leg="vector")
print(json.dumps([(span.name, span.parent is None, span.context.trace_id) for span in kept.get_finished_spans()]))
"""
    spans = json.loads(printed(code, server_environment))

    roots = [name for name, is_root, _ in spans if is_root]
    assert roots == [f"retrieval {library}", "app"]
    (app,) = (trace for name, _, trace in spans if name == "app")
    assert f"retrieval {library}" in [name for name, _, trace in spans if trace == app]


def test_a_collector_that_is_not_there_costs_no_search(server_environment: dict[str, str], library: str) -> None:
    code = f"""
from pipeline import HopRank
with HopRank.connect() as hoprank:
    print(len(hoprank.search({QUESTION!r}, corpus={library!r}).items))
"""
    away = {"HOPRANK_OBSERVE__TRACES": "http://127.0.0.1:9", "OTEL_EXPORTER_OTLP_TIMEOUT": "1"}

    assert printed(code, {**server_environment, **away}) == "10\n"
