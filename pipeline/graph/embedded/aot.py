"""Java's ahead-of-time cache: Neo4j's classes loaded and linked beforehand, which halves the work of a start.

A cache is recorded by a run of the same program (Java 25; JEP 483, 514, 515). Recording doubles the time of a start
and takes half a minute more at the end, so no server that somebody waits for does it: the first one to stop leaves a
training run behind, at the lowest priority, which opens an empty database, plans every query of ``cypher/`` and exits.
Without a cache, or with one that no longer fits, Java starts as it always did.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import jpype
from filelock import FileLock, Timeout

from pipeline.graph.embedded.configuration import aot_cache
from pipeline.graph.embedded.database import Database, Launch
from pipeline.graph.embedded.memory import memory_mb
from pipeline.graph.embedded.options import DATABASE, USERNAME, Layout
from pipeline.graph.embedded.password import provide_password
from pipeline.graph.queries import load_queries
from pipeline.scratch import scratch_folder

_log = logging.getLogger(__name__)

_ENOUGH_MEMORY_MB = 3072
_PAGE_CACHE_MB = 64


def train_later(launch: Launch, command: list[str]) -> None:
    """Start ``command``, a training run, on its own unless there is a cache already or memory is short."""
    if aot_cache(launch.jars).exists() or memory_mb() < _ENOUGH_MEMORY_MB:
        return
    with (launch.jars / "aot.log").open("wb") as log:
        subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command,
            cwd=launch.jars,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def train(launch: Launch) -> None:
    """Record a cache in a scratch home; does nothing while another process is at it."""
    if sys.platform != "win32":
        os.nice(19)
    with (
        suppress(Timeout),
        FileLock(launch.jars / "aot.lock", timeout=0),
        scratch_folder(launch.jars, "training") as scratch,
    ):
        output = scratch / "cache.aot"
        _record(replace(launch, home=scratch, page_cache_mb=_PAGE_CACHE_MB), output)
        output.replace(aot_cache(launch.jars))
        _log.info("Recorded %s", aot_cache(launch.jars))


def _record(launch: Launch, output: Path) -> None:
    files = Layout(launch.home)
    for folder in (files.neo4j, files.logs):
        folder.mkdir()
    provide_password(files.password)
    database = Database(launch, files, [f"-XX:AOTCacheOutput={output}"])
    _plan_queries(f"bolt://127.0.0.1:{database.port}", files.password.read_text())
    database.close()
    # The cache is written when the virtual machine ends.
    jpype.shutdownJVM()


def _plan_queries(uri: str, password: str) -> None:
    import neo4j

    with neo4j.GraphDatabase.driver(uri, auth=(USERNAME, password), notifications_min_severity="OFF") as driver:
        for query in load_queries().values():
            if not query.names:
                with suppress(neo4j.exceptions.Neo4jError):
                    driver.execute_query(f"EXPLAIN {query.text}", database_=DATABASE)
