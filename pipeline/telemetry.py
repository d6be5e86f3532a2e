"""Traces for OpenTelemetry, and the seconds of stages for those who count them.

Spans are recorded where the application has set up OpenTelemetry's SDK, or :func:`start` has; else they cost a
microsecond, and OpenTelemetry isn't imported. They hold names, numbers and errors' types: no question, no text of a
document and no token. Names are those of the conventions for generative AI, databases and HTTP where these have one:
https://github.com/open-telemetry/semantic-conventions-genai
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from pipeline.errors import ExtraMissing

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer, TracerProvider

Attributes: TypeAlias = Mapping[str, str | int | float | bool]
Observer: TypeAlias = Callable[[str, float], None]
"""A function that is called with the name and the seconds of each stage of a search that ends, in its thread."""

_observers: tuple[Observer, ...] = ()
_starting = threading.Lock()


@contextmanager
def span(name: str, attributes: Attributes | None = None) -> Iterator[None]:
    """Record a span; what is recorded in the context is within it."""
    tracer = _tracer()
    if tracer is None:
        yield
        return
    from opentelemetry import trace

    begun = tracer.start_span(name, attributes=attributes)
    with (
        trace.use_span(begun, record_exception=False, set_status_on_exception=False),
        _ending(begun),
    ):
        yield


@contextmanager
def leaf(name: str, attributes: Attributes, *, alone: bool = False) -> Iterator[Span | None]:
    """Record a span for a call of another process, which has none within it; yield it, None if it isn't recorded.

    ``alone``: also outside another span; a query alone is no trace. Unlike a :func:`span`, it may be open while a
    generator is suspended.
    """
    tracer = _tracer()
    if tracer is None:
        yield None
        return
    from opentelemetry import trace

    if not alone and not trace.get_current_span().is_recording():
        yield None
        return
    begun = tracer.start_span(name, None, trace.SpanKind.CLIENT, attributes)
    with _ending(begun):
        yield begun


def note(attributes: Attributes) -> None:
    """Set attributes of the span of the context, if one is recorded; they replace those of the same names."""
    if _tracer() is not None:
        from opentelemetry import trace

        trace.get_current_span().set_attributes(attributes)


@contextmanager
def _ending(begun: Span) -> Iterator[None]:
    """End a span with the context. Of an error it keeps the type alone: the message names what was given."""
    from opentelemetry import trace

    try:
        yield
    except GeneratorExit:  # nobody wants more of it
        raise
    except BaseException as error:
        begun.set_attribute("error.type", type(error).__qualname__)
        begun.set_status(trace.StatusCode.ERROR)
        raise
    finally:
        begun.end()


@contextmanager
def stage(name: str, span_name: str = "", attributes: Attributes | None = None) -> Iterator[None]:
    """Record a span for a stage of a search, and tell the observers its seconds.

    ``span_name`` is the name by a convention, if there is one.
    """
    begun = time.perf_counter()
    try:
        with span(span_name or name, attributes):
            yield
    finally:
        if _observers:
            seconds = time.perf_counter() - begun
            for observer in _observers:
                observer(name, seconds)


def observe(observer: Observer) -> None:
    """Call ``observer`` at the end of each stage, until :func:`forget`."""
    global _observers
    with _starting:  # a new tuple each time: it is read without the lock
        _observers = (*_observers, observer)


def forget(observer: Observer) -> None:
    """Call ``observer`` no more."""
    global _observers
    with _starting:
        _observers = tuple(one for one in _observers if one != observer)


def start(endpoint: str) -> None:
    """Send the spans of this process to a collector, by OTLP over HTTP; nothing if ``endpoint`` is empty.

    Where an SDK is set up already its spans stay where they go. OpenTelemetry's own variables count, too:
    ``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER``, ``OTEL_EXPORTER_OTLP_HEADERS``. What is left is sent when the
    process ends.

    Raises ExtraMissing without the package.
    """
    if not endpoint:
        return
    with _starting:
        try:
            from opentelemetry import trace
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ModuleNotFoundError as error:
            raise ExtraMissing.of("otel", error) from error

        if not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            return
        own = Resource.create({"service.name": "hoprank", "service.version": version("hoprank")})
        provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        trace.set_tracer_provider(provider)


def flush(seconds: float) -> None:
    """Send what is left, for at most ``seconds``: a process that ends by ``os._exit`` has no other end."""
    if _tracer() is not None:
        from opentelemetry import trace

        send = getattr(trace.get_tracer_provider(), "force_flush", None)
        if send:
            send(round(1000 * seconds))


def place_of(url: str) -> dict[str, str | int]:
    """Return the attributes of a call of a server: the host of its URL, and the port if that has one."""
    try:
        parts = urlsplit(url)
        return {"server.address": parts.hostname or ""} | ({"server.port": parts.port} if parts.port else {})
    except ValueError:  # of a port that is no number
        return {}


def of_model(operation: str, model: str, provider: str = "hoprank") -> dict[str, str]:
    """Return the attributes of a model's work, by the conventions for generative AI; a span is named for the two."""
    return {"gen_ai.operation.name": operation, "gen_ai.provider.name": provider, "gen_ai.request.model": model}


def ids_of_span() -> dict[str, str]:
    """Return the ids of the span that is recorded now, in hexadecimal: ``trace_id`` and ``span_id``; else nothing."""
    if _tracer() is None:
        return {}
    from opentelemetry import trace

    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": trace.format_trace_id(context.trace_id), "span_id": trace.format_span_id(context.span_id)}


def _tracer() -> Tracer | None:
    """Return the tracer if somebody has set up where spans go, which takes an import of OpenTelemetry."""
    api: Any = sys.modules.get("opentelemetry.trace")
    if not hasattr(api, "get_tracer_provider"):  # also while another thread imports it
        return None
    provider = api.get_tracer_provider()
    return None if isinstance(provider, api.ProxyTracerProvider) else _tracer_of(provider)


@lru_cache(maxsize=1)
def _tracer_of(provider: TracerProvider) -> Tracer:
    return provider.get_tracer("hoprank", version("hoprank"))
