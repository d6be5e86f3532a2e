"""Metrics of the service for Prometheus."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.process_collector import ProcessCollector

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "POST", "PUT"))
"""Methods that are counted by name: those of the routes, and of web pages that ask first."""

# Bounds of the buckets: a warm search takes tens of milliseconds; queue_timeout and request_timeout are the highest.
_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


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
        self._running = Gauge("hoprank_calls_running", "Calls that run now.", registry=self._registry)

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; ``route`` is its pattern. No label is a client's word, so the series are bounded."""
        method = method if method in METHODS else "OTHER"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, running: int) -> bytes:
        """Return all metrics in Prometheus's text format."""
        self._running.set(running)
        return generate_latest(self._registry)
