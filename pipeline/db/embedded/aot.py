"""Java's ahead-of-time cache: Neo4j's classes loaded and linked beforehand, which halves the work of a start.

A run of the same program records the cache (Java 25; JEP 483, 514, 515): its classes, and the methods worth compiling
first. Recording takes a minute or two, so it is done on demand, by ``hoprank db aot``: a training run opens an empty
database, lets HopRank ingest and search in it, and exits. Without a valid cache, Java starts normally.
"""

import logging
import os
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import jpype
from filelock import FileLock

from pipeline.db.embedded.configuration import aot_cache
from pipeline.db.embedded.database import Database, Launch
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.launch import provide_password
from pipeline.db.embedded.options import DATABASE, USERNAME, Layout
from pipeline.temporary import temporary_folder

_log = logging.getLogger(__name__)

_PAGE_CACHE_MB = 64  # the workload's corpus is small; chosen by hand
_WORKLOAD_SECONDS = 1200  # time limit of the workload


def train(launch: Launch, workload: Sequence[str]) -> None:
    """Record the cache in a temporary home while the command ``workload`` uses the server, named by NEO4J_URI etc.

    Waits while another process records it, and does nothing if there is a cache then.
    """
    with FileLock(launch.jars / "aot.lock"):
        if aot_cache(launch.jars, find_java(launch.java_home)).exists():
            return
        with temporary_folder(launch.jars, "training") as home:
            output = home / "cache.aot"
            _record(replace(launch, home=home, page_cache_mb=_PAGE_CACHE_MB), workload, output)
            output.replace(aot_cache(launch.jars, find_java(launch.java_home)))
    _log.info("Recorded %s", aot_cache(launch.jars, find_java(launch.java_home)))


def _record(launch: Launch, workload: Sequence[str], output: Path) -> None:
    files = Layout(launch.home)
    for folder in (files.neo4j, files.logs):
        folder.mkdir()
    provide_password(files.password)
    database = Database(launch, files, [f"-XX:AOTCacheOutput={output}"])
    server = {
        "NEO4J_URI": f"bolt://127.0.0.1:{database.port}",
        "NEO4J_USERNAME": USERNAME,
        "NEO4J_PASSWORD": files.password.read_text(),
        "NEO4J_DATABASE": DATABASE,
    }
    with suppress(subprocess.TimeoutExpired):
        subprocess.run(workload, env=os.environ | server, timeout=_WORKLOAD_SECONDS, check=False)  # noqa: S603 - our own module
    database.close()
    # Java writes the cache when the virtual machine ends.
    jpype.shutdownJVM()
