"""Ingests and syncs as jobs: begin, watch, cancel and retry them."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent

from pipeline.errors import InputError
from pipeline.retrieve.filters.parse import declared_fields
from pipeline.serve.access import Grant
from pipeline.serve.http.models import IngestRequest, JobModel, JobPage, SyncRequest
from pipeline.serve.http.state import Granted, Service, State
from pipeline.serve.jobs.records import Job, Kind, Request
from pipeline.serve.jobs.store import JobList

router = APIRouter(prefix="/v1", tags=["jobs"])


async def _opened(job: Annotated[str, Path(description="Id of the job.")], service: Service, grant: Granted) -> Job:
    return await service.gate.run(service.jobs.get, job, grant.names)


OpenedJob = Annotated[Job, Depends(_opened)]
"""The job that a path names, if the token opens its corpus."""

_EVENT_SECONDS = 0.5
"""Between two looks at a job whose events are sent; chosen by hand, not measured."""


@router.post("/ingest", status_code=202, response_model=JobModel)
async def ingest(body: IngestRequest, response: Response, service: Service, grant: Granted) -> Job:
    """Add and update documents as a job; others of the corpus stay. The corpus is made if it is missing."""
    return await _submit(Kind.INGEST, body, response, service, grant)


@router.post("/sync", status_code=202, response_model=JobModel)
async def sync(body: SyncRequest, response: Response, service: Service, grant: Granted) -> Job:
    """Make a corpus equal to the given documents as a job: new, changed and removed ones."""
    return await _submit(Kind.SYNC, body, response, service, grant, dry_run=body.dry_run)


@router.get("/jobs", response_model=JobPage)
async def jobs(
    service: Service,
    grant: Granted,
    before: Annotated[str, Query(description="`next` of the page before, or a time.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JobList:
    """List the jobs of the corpora that the token opens, the latest first."""
    return await service.gate.run(service.jobs.list, grant.names, before=before, limit=limit)


@router.get("/jobs/{job}", response_model=JobModel)
async def job_status(job: OpenedJob) -> Job:
    """Return the state of a job, its progress, and its outcome."""
    return job


@router.get("/jobs/{job}/events", response_class=EventSourceResponse)
async def events(job: OpenedJob, service: Service) -> AsyncIterator[ServerSentEvent]:
    """Send the job as an event whenever it changes, until it has ended."""
    seen = None
    while True:
        if job != seen:
            model = JobModel.model_validate(job, from_attributes=True)
            yield ServerSentEvent(event="job", data=model.model_dump(mode="json"))
            seen = job
        if job.state.is_final or await _stopping(service):
            return
        job = await service.hoprank.run(service.jobs.get, job.id)


@router.post("/jobs/{job}/cancel", status_code=202, response_model=JobModel)
async def cancel(job: OpenedJob, service: Service, grant: Granted) -> Job:
    """Cancel a job. One that runs stops at its next step; searches then see the corpus as it was before."""
    grant.check(job.corpus, write=True)
    return await service.gate.run(service.jobs.cancel, job.id)


@router.post("/jobs/{job}/retry", status_code=202, response_model=JobModel)
async def retry(job: OpenedJob, service: Service, grant: Granted) -> Job:
    """Run a job again that failed, was cancelled or left documents out; documents that are done cost no time."""
    grant.check(job.corpus, write=True)
    again = await service.gate.run(service.jobs.retry, job.id)
    service.runner.wake()
    return again


def _request(body: IngestRequest | SyncRequest, *, dry_run: bool) -> Request:
    files = body.files if isinstance(body, IngestRequest) else None
    if [body.documents, body.paths, files].count(None) != 2:
        raise InputError("A job takes either documents, or paths, or files.", "Give one of them.")
    documents = None if body.documents is None else tuple(one.model_dump() for one in body.documents)
    contents = None if files is None else {one.key: b64encode(one.content).decode() for one in files}
    fields = None if body.filterable is None else declared_fields(body.filterable)
    return Request(documents, tuple(body.paths or ()), dry_run, contents, fields)


async def _submit(
    kind: Kind,
    body: IngestRequest | SyncRequest,
    response: Response,
    service: State,
    grant: Grant,
    *,
    dry_run: bool = False,
) -> Job:
    grant.check(body.corpus, write=True)
    request = _request(body, dry_run=dry_run)
    # Checked before the job is queued, so that the request is answered with the error and not the job.
    await service.gate.run(service.runner.check, request)
    job = await service.gate.run(service.jobs.create, kind, body.corpus, request)
    service.runner.wake()
    response.headers["Location"] = f"{service.settings.root_path}/v1/jobs/{job.id}"
    return job


async def _stopping(service: State) -> bool:
    try:
        await asyncio.wait_for(service.stopping.wait(), _EVENT_SECONDS)
    except TimeoutError:
        return False
    return True
