"""The process of jobs: it answers, stops, and may die without harm."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.serve.jobs.process import Control, Failed, JobProcess, Stopped
from pipeline.serve.jobs.records import Advance, Job, Kind, Request, State

MANY = [{"id": f"d{number}", "text": f"Number {number} of many texts. " * 30} for number in range(400)]


@pytest.fixture(scope="module")
def process(hoprank: HopRank) -> Iterator[JobProcess]:
    process = JobProcess(hoprank)
    yield process
    process.close()


def job(corpus: str, documents: list[dict[str, Any]]) -> Job:
    request = Request(tuple(documents))
    return Job("j", Kind.INGEST, corpus, State.RUNNING, "2026-01-01T00:00:00+00:00", request=request)


def wait_for_progress(process: JobProcess) -> None:
    ticks = threading.Event()
    for _ in range(600):
        if process.progress.stage == "embed":
            return
        ticks.wait(0.1)
    pytest.fail("the job never embeds")


@pytest.mark.slow
def test_a_job_is_run_there_and_errors_come_back(process: JobProcess, hoprank: HopRank, corpus_name: str) -> None:
    summary = process.run(job(corpus_name, [{"id": "a", "text": "The moon."}]))
    with pytest.raises(Failed) as failed:
        process.run(job(corpus_name, [{"id": "a"}]))

    assert summary["changed"] == 1
    assert hoprank.document("a", corpus_name).text == "The moon."
    assert failed.value.problem.type == "SourceError"
    assert failed.value.problem.fix


@pytest.mark.slow
def test_a_stopped_job_leaves_the_corpus_and_the_process_as_they_were(
    process: JobProcess, hoprank: HopRank, corpus_name: str
) -> None:
    process.run(job(corpus_name, [{"id": "a", "text": "The moon."}]))
    with ThreadPoolExecutor() as pool:
        running = pool.submit(process.run, job(corpus_name, MANY))
        wait_for_progress(process)
        process.stop()
        with pytest.raises(Stopped):
            running.result(60)

    assert [entry.key for entry in hoprank.documents(corpus_name)] == ["a"]
    assert process.run(job(corpus_name, [{"id": "b", "text": "The sun."}]))["changed"] == 1


@pytest.mark.slow
def test_a_process_that_dies_fails_its_job_and_is_replaced(
    process: JobProcess, hoprank: HopRank, corpus_name: str
) -> None:
    with ThreadPoolExecutor() as pool:
        running = pool.submit(process.run, job(corpus_name, MANY))
        wait_for_progress(process)
        assert process._process
        process._process.kill()
        with pytest.raises(Failed, match="exit code -9"):
            running.result(60)

    assert process.run(job(corpus_name, MANY[:1]))["documents"] == 1


def test_progress_is_reported_when_a_stage_begins_and_a_stop_is_raised_at_the_next_step() -> None:
    reported: list[Advance] = []
    control = Control(reported.append)

    control.begin("embed", 9)
    control.advance("embed", 2)
    control.advance("other", 1)
    control.begin("link", None)
    control.stop()
    with pytest.raises(Stopped):
        control.begin("publish", None)
    with pytest.raises(Stopped):
        control.advance("link", 1)
    control.end("link")

    assert reported[0] == Advance("embed", 0, 9)
    assert reported[-1] == Advance("link", 0, None)
