"""Start of the server process, detached from its caller: its command, password and share of the memory."""

import os
import secrets
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

from pipeline.db.embedded.configuration import aot_cache
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.options import Layout, ServerOptions, jars_folder
from pipeline.db.embedded.state import MODULE, home_argument
from pipeline.resources import SOURCES

_PASSWORD_BYTES = 24  # 192 random bits: can't be guessed, and nobody types it
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def launch(files: Layout, options: ServerOptions, port: int = 0) -> subprocess.Popen[bytes]:
    """Start the server process, at ``port`` if that is free, and return before it answers.

    The jars must be present, and the caller must hold the start lock.
    """
    provide_password(files.password)
    # A new file for each start, so that the log of a failed start shows that start only.
    if files.log.exists():
        files.log.replace(files.log.with_name(f"{files.log.name}.1"))
    with files.log.open("ab") as log:
        # A new session, so that Ctrl-C in the caller's terminal, or closing it, doesn't reach the server.
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [*_command(files, options), f"--port={port}"],
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
    jars = jars_folder(options)
    cache = aot_cache(jars, find_java(options.java_home))
    if not cache.exists():
        administer(files.home, options, "--train", jars / "aot.log")
    return cache if cache.exists() else None


def administer(home: Path, options: ServerOptions, task: str, log: Path) -> bool:
    """Run a task of the server's module, such as ``--dump=FOLDER``, to its end; return whether it went well."""
    run = partial(subprocess.Popen, [*_command(Layout(home), options), task], cwd=home, env=_environment())
    # The end of its input tells the process that this one is gone.
    with log.open("wb") as out, run(stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT) as process:
        return process.wait() == 0


def provide_password(file: Path) -> None:
    """Write a generated password to ``file``, readable by its owner only, unless the file exists."""
    if file.exists():
        return
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(secrets.token_urlsafe(_PASSWORD_BYTES))
    partial.replace(file)


def heap_mb(options: ServerOptions) -> int:
    """Return the Java heap's limit in MB: the option's value, else a sixth of memory, at least 512 MB, at most 4 GB."""
    return options.heap_mb or min(max(memory_mb() // 6, 512), 4096)  # chosen by hand: a model needs room, too


def page_cache_mb(options: ServerOptions) -> int:
    """Return the page cache in MB: the option's value, else an eighth of memory, at least 128 MB, at most 4 GB."""
    return options.page_cache_mb or min(max(memory_mb() // 8, 128), 4096)  # chosen by hand, not measured


def memory_mb() -> int:
    """Return the memory in MB that this process may use: the machine's, or the container's limit if that is lower."""
    limits = [psutil.virtual_memory().total]
    for path in _CGROUP_LIMITS:
        with suppress(OSError, ValueError):  # no cgroup, or "max"
            limits.append(int(path.read_text()))
    return min(limits) // 2**20


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
        *([] if options.pins is None else [f"--pins={options.pins}"]),
        *([] if options.java_home is None else [f"--java-home={find_java(options.java_home).home}"]),
    ]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [SOURCES, os.environ.get("PYTHONPATH")]))}


def distrust_cache(options: ServerOptions, launched: subprocess.Popen[bytes]) -> None:
    """Remove Java's ahead-of-time cache if the process crashed during its start."""
    # Java checks the cache's version, not its content; a damaged cache would crash every start.
    if launched.returncode < 0 and launched.returncode not in {-signal.SIGTERM, -signal.SIGKILL}:
        aot_cache(jars_folder(options), find_java(options.java_home)).unlink(missing_ok=True)
