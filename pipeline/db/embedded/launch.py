"""Starting the server process, detached from whoever starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from pipeline.db.embedded.memory import heap_mb, page_cache_mb
from pipeline.db.embedded.options import Layout, ServerOptions, jars_folder
from pipeline.db.embedded.password import provide_password
from pipeline.db.embedded.state import MODULE, home_argument


def launch(files: Layout, options: ServerOptions) -> subprocess.Popen[bytes]:
    """Start the server process; returns while it is still coming up.

    The jars are there, and the caller holds the start lock.
    """
    provide_password(files.password)
    _begin_log(files.log)
    with files.log.open("ab") as log:
        # A session of its own, so that Ctrl-C in the caller's terminal, or closing it, doesn't reach the server.
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            _command(files, options),
            cwd=files.home,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Collects the exit status whenever it comes, so that a long-lived caller doesn't keep a zombie.
    threading.Thread(target=process.wait, name="hoprank-server-exit", daemon=True).start()
    return process


def _begin_log(log: Path) -> None:
    # One file a start, so that the log of a failed start shows that start and no older one.
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    log.touch()


def _command(files: Layout, options: ServerOptions) -> list[str]:
    values = {
        "jars": jars_folder(options),
        "heap-mb": heap_mb(options),
        "page-cache-mb": page_cache_mb(options),
        "idle-minutes": options.idle_minutes,
        # Half, so that the caller is still there to hear why it failed.
        "patience": options.start_timeout / 2,
    }
    return [
        sys.executable,
        "-m",
        MODULE,
        home_argument(files.home),
        *(f"--{name}={value}" for name, value in values.items()),
    ]


def _environment() -> dict[str, str]:
    # A checkout that isn't installed is only on the caller's path.
    root = str(Path(__file__).parents[3])
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))}


def distrust_cache(options: ServerOptions, launched: subprocess.Popen[bytes]) -> None:
    """Remove Java's ahead-of-time cache if the process crashed while it came up."""
    # Java checks that its ahead-of-time cache fits, not that every byte is right; a crash must not come back.
    if launched.returncode < 0 and launched.returncode not in {-signal.SIGTERM, -signal.SIGKILL}:
        from pipeline.db.embedded.configuration import aot_cache  # only here: nobody else needs Java's version

        aot_cache(jars_folder(options)).unlink(missing_ok=True)
