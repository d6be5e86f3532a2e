"""What was checked is what is read: a link put in the place of a file or folder meanwhile opens nothing else."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.api import HopRank
from pipeline.errors import Forbidden, HopRankError, SourceError
from pipeline.files import DEFAULT_LIMITS, Limits
from pipeline.files.guard import real_path
from pipeline.ingest.sources.reader import read
from pipeline.ingest.sources.walk import find
from pipeline.progress import Progress
from pipeline.records import Document, Skipped
from pipeline.serve.access import Grant
from pipeline.serve.folders import allowed_path
from pipeline.serve.jobs.process import run
from pipeline.serve.jobs.records import Job, Kind, Request, State
from pipeline.serve.mcp.service import Call, Service
from pipeline.serve.mcp.tools.write import ingest

TEXTS = {
    "a.md": "# A\n\n{0}\n",
    "a.jsonl": '{{"id": "line", "text": "{0}"}}\n',
    "a.html": "<h1>A</h1><p>{0}</p>",
    "more/b.md": "# B\n\n{0}\n",
}
SECRET = "The launch code is 7777."


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder that may be read, beside one with the same names that may not."""
    for folder, words in (("docs", "The tide comes."), ("secret", SECRET)):
        (tmp_path / folder / "more").mkdir(parents=True)
        for name, text in TEXTS.items():
            (tmp_path / folder / name).write_text(text.format(words), encoding="utf-8")
    return tmp_path / "docs"


def swap(docs: Path, name: str) -> None:
    """Put a link to the secret in the place of a file or folder."""
    (docs / name).rename(docs / f".{name}")
    (docs / name).symlink_to(docs.parent / "secret" / name)


def restore(docs: Path, name: str) -> None:
    (docs / name).unlink()
    (docs / f".{name}").rename(docs / name)


def texts(path: Path, limits: Limits) -> str:
    """All that reading a path gives, its errors too."""
    try:
        return " ".join(
            item.text if isinstance(item, Document) else str(item) for item in read([str(path)], limits=limits)
        )
    except SourceError as error:
        return str(error)


NAMES = ("a.md", "a.jsonl", "a.html", "more")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [".", "{0}", "*", "**/*"])
def test_a_link_put_in_place_after_the_check_opens_nothing(docs: Path, name: str, given: str) -> None:
    if name != "a.html":
        (docs / "a.html").unlink()  # it starts a process
    allowed = allowed_path(docs / given.format(name), [docs])
    swap(docs, name)

    assert SECRET not in texts(allowed, replace(DEFAULT_LIMITS, within=(docs,)))
    if (given, name) != ("*", "more"):
        assert SECRET in texts(allowed, DEFAULT_LIMITS), "else this test could not fail"


@pytest.mark.parametrize(("name", "times"), [("a.md", 600), ("a.jsonl", 600), ("more", 600)])
def test_of_hundreds_of_reads_beside_a_thread_that_swaps_none_gets_the_secret(
    docs: Path, name: str, times: int
) -> None:
    limits, got = replace(DEFAULT_LIMITS, within=(docs,)), []
    with swapping(docs, name):
        for _ in range(times):
            with suppress(Forbidden, SourceError):
                got.append(texts(allowed_path(docs / name, [docs]), limits))

    assert len(got) > times / 20
    assert any("The tide comes." in text for text in got)
    assert not any(SECRET in text for text in got)


def test_a_link_that_goes_while_it_is_resolved_is_a_file_that_is_gone(
    docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap(docs, "a.md")

    def gone(path: str, **_: object) -> str:
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "readlink", gone)

    assert real_path(docs / "a.md") == str(docs / "a.md")
    assert "can't be read" in texts(docs / "a.md", replace(DEFAULT_LIMITS, within=(docs,)))


@contextmanager
def swapping(docs: Path, name: str) -> Iterator[None]:
    over, chance = threading.Event(), random.Random(7)  # noqa: S311

    def work() -> None:
        while not over.is_set():
            swap(docs, name)
            over.wait(chance.random() / 500)
            restore(docs, name)
            over.wait(chance.random() / 500)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_links_inside_lead_where_they_did(docs: Path) -> None:
    (docs / "link.md").symlink_to(docs / "a.md")
    (docs / "more" / "up.md").symlink_to("../a.md")
    (docs / "other").mkdir()
    (docs / "folder").symlink_to(docs / "more")
    within = replace(DEFAULT_LIMITS, within=(docs / "a.md", docs))

    plain, bounded = (list(read([str(docs)], limits=limits)) for limits in (DEFAULT_LIMITS, within))

    assert plain == bounded
    assert {"link.md", "more/up.md", "folder/b.md"} & {item.key for item in plain if isinstance(item, Document)}


def test_the_names_in_a_folder_elsewhere_are_not_listed(docs: Path) -> None:
    swap(docs, "more")

    found = list(find(str(docs), within=(docs,)))

    assert [item.source for item in found if isinstance(item, Skipped)] == [str(docs / "more")]
    assert not any("b.md" in str(item) for item in found)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pipes in folders")
def test_a_pipe_put_in_place_keeps_nobody_waiting(docs: Path) -> None:
    found = list(find(str(docs / "a.md")))
    (docs / "a.md").unlink()
    os.mkfifo(docs / "a.md")

    assert len(found) == 1
    assert "a.md" in texts(docs / "a.md", replace(DEFAULT_LIMITS, within=(docs,)))


def test_the_rules_of_git_are_read_from_no_link(docs: Path) -> None:
    (docs / ".gitignore").symlink_to(docs.parent / "rules")
    (docs.parent / "rules").write_text("a.md\n", encoding="utf-8")

    assert "a.md" in {item.key for item in find(str(docs), code=True) if not isinstance(item, Skipped)}


@pytest.mark.slow
def test_a_job_and_the_tool_ingest_open_what_they_checked(
    hoprank: HopRank, corpus_name: str, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swap(docs, "a.md")
    served = hoprank.settings.serve.model_copy(update={"folders": (docs,)})
    monkeypatch.setattr(hoprank, "settings", hoprank.settings.model_copy(update={"serve": served}))
    request = Request(paths=(str(docs / "a.md"),))
    # As if the link came right after the check.
    monkeypatch.setattr("pipeline.serve.mcp.tools.write.allowed_path", lambda path, _: Path(path))
    call = Call(Service(lambda: hoprank, served), Grant())
    tries: list[Callable[[], object]] = [
        *(lambda kind=kind: run(hoprank, job(kind, corpus_name, request), Progress()) for kind in Kind),
        lambda: ingest(call, paths=[str(docs / "a.md")], corpus=corpus_name),
    ]

    for attempt in tries:
        with pytest.raises(HopRankError, match="leads out of the folders"):
            attempt()
    restore(docs, "a.md")
    assert ingest(call, paths=[str(docs / "a.md")], corpus=corpus_name).changed == 1


def job(kind: Kind, corpus: str, request: Request) -> Job:
    return Job("j", kind, corpus, State.RUNNING, "2026-01-01T00:00:00+00:00", request=request)
