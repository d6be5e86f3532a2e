"""Health, readiness and metrics: for those who run the service."""

from importlib.metadata import version

from fastapi import APIRouter, Response

from pipeline.api import HopRank
from pipeline.errors import HopRankError
from pipeline.serve.http.metrics import MEDIA_TYPE
from pipeline.serve.http.models import Health, Readiness
from pipeline.serve.http.state import Granted, Known, Service

router = APIRouter(tags=["operations"])


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
async def metrics(service: Service, _: Granted) -> Response:
    """Return the metrics in Prometheus's text format."""
    return Response(service.metrics.text(service.gate.running), media_type=MEDIA_TYPE)


def readiness(hoprank: HopRank) -> Readiness:
    """Ask the server and the model; raises what they raise."""
    hoprank.client.verify()
    hoprank.embedder.embed_query("ready")
    return Readiness(server=hoprank.client.address.uri, model=hoprank.embedder.name)
