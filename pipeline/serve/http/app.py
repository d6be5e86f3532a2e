"""The application: routes, limits, its description, and the life of a service until a signal stops it."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from operator import attrgetter
from typing import Any

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware

from pipeline import telemetry
from pipeline.api import HopRank
from pipeline.async_api import AsyncHopRank
from pipeline.serve.access import Access
from pipeline.serve.folders import allowed_path
from pipeline.serve.gate import Gate, Places, Shared
from pipeline.serve.http import problems
from pipeline.serve.http.metrics import Metrics
from pipeline.serve.http.middleware import MONITORING, LimitBody, Observe, RefuseOtherPages
from pipeline.serve.http.problems import Problem
from pipeline.serve.http.routes import ask, corpora, domains, graphs, health, jobs, search
from pipeline.serve.http.state import State
from pipeline.serve.jobs.records import Request
from pipeline.serve.jobs.runner import JobRunner
from pipeline.serve.jobs.store import JobStore
from pipeline.serve.listening import own_path, serve_app
from pipeline.serve.page.router import make_router
from pipeline.serve.rate import LimitRate
from pipeline.settings import ServeSettings

_READY_SECONDS = 2.0  # for which readiness counts, and what the server holds; chosen by hand


def make_app(hoprank: HopRank, access: Access) -> FastAPI:
    """Return the application of a service on an open connection, which stays open when the service ends.

    Without a token it answers only requests to this machine by name: a web page elsewhere whose name leads here gets
    nothing.
    """
    settings = hoprank.settings.serve
    metrics = Metrics()
    app = DescribedApp(
        settings=settings,
        is_open=access.is_open,
        title="HopRank",
        version=version("hoprank"),
        summary="Graph RAG on Neo4j without an LLM: search, context, corpora, ingest and sync.",
        # Their pages load scripts from elsewhere; /openapi.json is what tools read.
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=attrgetter("name"),
        # Spans of requests are FastAPI's, with the client's as their parent. Those who ask every few seconds whether
        # the service runs would fill the traces.
        telemetry={
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "exclude": lambda scope: own_path(scope) in MONITORING,
        },
        lifespan=partial(_life, hoprank, access, metrics),
    )
    problems.add_handlers(app)
    for part in (health.router, search.router, ask.router, corpora.router, jobs.router, graphs.router, domains.router):
        app.include_router(part, responses=problems.RESPONSES)
    app.include_router(make_router())
    # The last one added is the first to see a request.
    app.add_middleware(LimitBody, megabytes=settings.max_megabytes, access=access)
    if access.is_open:
        app.add_middleware(RefuseOtherPages, origins=settings.origins)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["*"],
            allow_headers=["Authorization", "Content-Type"],
            expose_headers=["Location", "Retry-After", "X-Request-ID"],
        )
    if settings.rate:
        app.add_middleware(
            LimitRate, rate=settings.rate, access=access, refuse=problems.response_of, unlimited=MONITORING
        )
    app.add_middleware(Observe, metrics=metrics)
    return app


@asynccontextmanager
async def _life(hoprank: HopRank, access: Access, metrics: Metrics, app: FastAPI) -> AsyncIterator[None]:
    settings = hoprank.settings.serve

    def check_paths(request: Request) -> Request:
        return replace(request, paths=tuple(str(allowed_path(path, settings.folders)) for path in request.paths))

    # Beside the gate, so that readiness and the progress of jobs don't wait for searches.
    threads = AsyncHopRank(hoprank)
    store = JobStore(hoprank.client)
    runner = JobRunner(hoprank, store, check_paths, settings.keep_jobs_days, metrics.count_job)
    gate = Gate(settings.max_searches, settings.queue_timeout, settings.request_timeout)
    answers = Places(settings.max_answers, settings.queue_timeout)
    readiness = Shared(lambda: threads.run(health.readiness, hoprank), _READY_SECONDS)
    contents = Shared(lambda: threads.run(health.contents, hoprank, store), _READY_SECONDS)
    app.state.service = State(threads, settings, access, gate, answers, store, runner, metrics, readiness, contents)
    await threads.run(store.prepare)
    runner.start()
    # The first question needn't wait for the model.
    warming = asyncio.ensure_future(threads.run(hoprank.embedder.embed_query, "warm up"))
    telemetry.observe(metrics.count_stage)
    try:
        yield
    finally:
        telemetry.forget(metrics.count_stage)
        await asyncio.gather(warming, return_exceptions=True)
        await asyncio.to_thread(runner.stop, settings.shutdown_timeout)


class DescribedApp(FastAPI):
    """FastAPI with a description that has the limits of the settings, and no token if the service ``is_open``."""

    def __init__(self, *, settings: ServeSettings, is_open: bool, **options: Any) -> None:
        super().__init__(**options)
        self._limits = {"top_k": {"maximum": settings.max_top_k}, "query": {"maxLength": settings.max_question}}
        self._is_open = is_open

    def openapi(self) -> dict[str, Any]:
        """Return the description, which FastAPI makes once."""
        if self.openapi_schema is None:
            described = super().openapi()
            described["components"]["schemas"]["Problem"] = Problem.model_json_schema()
            for name, schema in _named_schemas(described):
                schema.update(self._limits.get(name, {}))
            for operations in described["paths"].values() if self._is_open else ():
                for operation in operations.values():
                    operation.pop("security", None)
        return super().openapi()


def _named_schemas(described: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the schema of each field of a body, and of each parameter."""
    for schema in described["components"]["schemas"].values():
        yield from schema.get("properties", {}).items()
    for operations in described["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                yield parameter["name"], parameter["schema"]


def serve(hoprank: HopRank, access: Access, sock: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on a listening socket until SIGINT or SIGTERM; ``ready`` is called when requests are answered.

    Requests under way get ``serve.shutdown_timeout`` seconds to end; a job that runs is queued again.
    """
    app = make_app(hoprank, access)

    def end_streams() -> None:
        if service := getattr(app.state, "service", None):
            service.stopping.set()

    serve_app(app, sock, hoprank.settings.serve, ready, end_streams)
