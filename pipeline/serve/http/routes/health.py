"""Health, readiness and metrics: for those who run the service."""

import asyncio
from contextlib import suppress
from importlib.metadata import version

from fastapi import APIRouter, Response

from pipeline.api import HopRank
from pipeline.db.catalogue import list_corpora
from pipeline.errors import HopRankError
from pipeline.serve.http.metrics import MEDIA_TYPE, Contents
from pipeline.serve.http.models import Health, Readiness
from pipeline.serve.http.state import Granted, Known, Service
from pipeline.serve.jobs.store import JobStore

router = APIRouter(tags=["operations"])

_CONTENTS_SECONDS = 2.0  # to wait for the server with metrics; Prometheus waits for 10. Chosen by hand.


@router.get("/health")
async def health() -> Health:
    """Tell that the service answers; it asks neither the server nor the model, so it answers during an ingest too."""
    return Health(version=version("hoprank"))


@router.get("/ready")
async def ready(service: Service, known: Known) -> Readiness:
    """Tell that the server is reachable and the model is loaded; else 503.

    It was so at most some seconds ago. Which server and model, and what is wrong, is told with a token.
    """
    try:
        found = await service.readiness.get()
    except HopRankError as error:
        raise error if known else type(error)("The service isn't ready.", "See the log of the service.") from error
    return found if known else Readiness(server="", model="")


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(service: Service, grant: Granted) -> Response:
    """Return the metrics in Prometheus's text format.

    Of corpora and jobs they have those that the token opens, and none while the server is away.
    """
    contents = Contents()
    with suppress(HopRankError, TimeoutError):
        contents = (await asyncio.wait_for(service.contents.get(), _CONTENTS_SECONDS)).opened(grant.opens)
    return Response(service.metrics.text(service.gate.running, contents), media_type=MEDIA_TYPE)


def contents(hoprank: HopRank, jobs: JobStore) -> Contents:
    """Ask the server for its corpora and jobs; raises what it raises."""
    return Contents(tuple(list_corpora(hoprank.client)), jobs.counts())


def readiness(hoprank: HopRank) -> Readiness:
    """Ask the server and the model; raises what they raise."""
    hoprank.client.verify()
    hoprank.embedder.embed_query("ready")
    return Readiness(server=hoprank.client.address.uri, model=hoprank.embedder.name)
