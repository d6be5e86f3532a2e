"""Metrics of the service for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from pipeline.db.catalogue import Corpus
from pipeline.serve.jobs.store import JobCount

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"))
"""Methods that are counted by name: those of the routes, and of web pages that ask first."""

# Bounds of the buckets: a warm search takes tens of milliseconds; queue_timeout and request_timeout are the highest.
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
_STAGE_SECONDS = (0.0005, 0.001, 0.002, *_SECONDS)  # a stage of a search may take less than a millisecond

_OF_CORPUS = ("documents", "chunks", "entities")


def method_of(method: str) -> str:
    """Return a request's method as it is counted and logged: no word of a client's own."""
    return method if method in _METHODS else "OTHER"


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of the server: its corpora, and how many jobs are in each state."""

    corpora: tuple[Corpus, ...] = ()
    jobs: tuple[JobCount, ...] = ()

    def opened(self, opens: Callable[[str], bool]) -> Contents:
        """Return those that a token opens, by the names of corpora."""
        corpora = tuple(one for one in self.corpora if opens(one.name))
        return Contents(corpora, tuple(one for one in self.jobs if opens(one.corpus)))


class Metrics:
    """Counters of one service, in a registry of its own, so that a process may have several."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        labels = ("method", "route", "status")
        self._requests = Counter("hoprank_requests", "Requests answered.", labels, registry=self._registry)
        self._seconds = Histogram(
            "hoprank_request_seconds",
            "Time until the response began.",
            ("method", "route"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "hoprank_search_stage_seconds",
            "Time of each stage of the searches in this process.",
            ("stage",),
            buckets=_STAGE_SECONDS,
            registry=self._registry,
        )
        self._job_stages = Counter(
            "hoprank_job_stage_seconds",
            "Time of each stage of the jobs that this service ran to their end.",
            ("kind", "stage"),
            registry=self._registry,
        )
        self._running = Gauge("hoprank_calls_running", "Calls that run now.", registry=self._registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is its pattern. No label is a client's word, so the series are bounded."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def count_stage(self, stage: str, seconds: float) -> None:
        """Count a stage of a search; an observer of :mod:`pipeline.telemetry`."""
        self._stages.labels(stage).observe(seconds)

    def count_job(self, kind: str, seconds: Mapping[str, float]) -> None:
        """Count the stages of a job that succeeded."""
        for stage, taken in seconds.items():
            self._job_stages.labels(kind, stage).inc(taken)

    def text(self, running: int, contents: Contents) -> bytes:
        """Return all metrics in Prometheus's text format."""
        self._running.set(running)
        return generate_latest(self._registry) + generate_latest(_Collector(contents))


class _Collector(Collector):
    """Makes the metrics of contents, so that a corpus that was dropped has none."""

    def __init__(self, contents: Contents) -> None:
        self._contents = contents

    def collect(self) -> Iterable[Metric]:
        for name in _OF_CORPUS:
            sizes = (([one.name], getattr(one, name)) for one in self._contents.corpora)
            yield _gauge(f"hoprank_corpus_{name}", f"The {name} of each corpus.", ("corpus",), sizes)
        jobs = (([one.corpus, one.state], one.jobs) for one in self._contents.jobs)
        yield _gauge("hoprank_jobs", "The jobs of all services, by state.", ("corpus", "state"), jobs)


def _gauge(name: str, help_: str, labels: tuple[str, ...], values: Iterator[tuple[list[str], int]]) -> Metric:
    family = GaugeMetricFamily(name, help_, labels=labels)
    for of, value in values:
        family.add_metric(of, value)
    return family
