"""Ray, started on this machine or joined by its address, with what goes wrong there told in words.

Each setting below is a trap that others fell into; the issue of Ray that describes it stands beside it.
"""

import os
import shutil
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pipeline.errors import ConfigurationError, ExtraMissing, Fault, first_line
from pipeline.ingest.distributed.shards import Shards
from pipeline.settings import RaySettings

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - where Ray keeps its objects
_LEAST_STORE = 80_000_000  # bytes: Ray refuses fewer than 75 MiB
_SHARE_OF_MEMORY = 0.3  # of /dev/shm: Ray's own default of the machine's memory


@dataclass(frozen=True, slots=True)
class Cluster:
    """Processors and GPUs of Ray; ``is_own``: this process started it, on this machine alone."""

    cpus: int
    gpus: int
    is_own: bool


def import_ray() -> Any:
    """Return the module of Ray, imported as HopRank needs it; raises ExtraMissing."""
    # `uv run hoprank`, as the README has it, would make each worker build an environment of its own (ray#50961).
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would otherwise print its own bars and plans over HopRank's progress.
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    # It warns of each restartable actor's arguments, which the driver holds for as long as it uses the actor.
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about GPUs
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ExtraMissing.of("ray", error, "leave out --engine ray") from error
    return ray


@contextmanager
def cluster(settings: RaySettings) -> Iterator[Cluster]:
    """Join Ray at ``settings.address``, else start it here; end what was started. A Ray of the caller's is used.

    Raises ConfigurationError if nothing answers at the address, Fault if Ray doesn't start.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield _seen(ray, is_own=False)
        return
    with _started(lambda: _init(ray, settings), settings), _told_on_stderr():
        try:
            yield _seen(ray, is_own=not settings.address)
        finally:
            ray.shutdown()


@contextmanager
def _told_on_stderr() -> Iterator[None]:
    """Let Ray tell of dead workers on stderr: it uses stdout, whatever ``log_to_driver`` says, which is for results."""
    from ray._private import worker

    printed = worker.print_to_stdstream
    worker.print_to_stdstream = lambda data, ignore_prefix: printed({**data, "is_err": True}, ignore_prefix)
    try:
        yield
    finally:
        worker.print_to_stdstream = printed


def _seen(ray: Any, *, is_own: bool) -> Cluster:
    found = ray.cluster_resources()
    return Cluster(int(found.get("CPU", 0)), int(found.get("GPU", 0)), is_own)


def _init(ray: Any, settings: RaySettings) -> None:
    quiet = {"logging_level": "error", "log_to_driver": False}
    if settings.address:
        _check_address(settings.address)
        ray.init(address=settings.address, **quiet)
        return
    # The dashboard needs packages of its own, and its start may never end (ray#13910).
    ray.init(address="local", include_dashboard=False, num_cpus=settings.workers or None, **_store(), **quiet)


def _check_address(address: str) -> None:
    """Raise OSError if nothing listens at an address: Ray would end this process after a minute of trying."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdigit() and "://" not in address:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def _store() -> dict[str, int]:
    """Return the size of the object store where /dev/shm is small, as in a container: Ray fails there (ray#16540)."""
    try:
        free = shutil.disk_usage(_SHARED_MEMORY).free
    except OSError:
        return {}
    return {"object_store_memory": max(int(free * _SHARE_OF_MEMORY), _LEAST_STORE)} if free < 2_000_000_000 else {}


@contextmanager
def _started(start: Callable[[], None], settings: RaySettings) -> Iterator[None]:
    """Call ``start`` within the settings' seconds: Ray waits for a minute and more, or for ever.

    Its thread lives as long as the context: Linux ends Ray's processes with the thread that started them.
    """
    begun, ended = threading.Event(), threading.Event()
    errors: list[BaseException] = []

    def run() -> None:
        try:
            start()
        except BaseException as error:
            errors.append(error)
        begun.set()
        ended.wait()

    # A thread that never ends must not hold the interpreter.
    threading.Thread(target=run, daemon=True).start()
    try:
        if not begun.wait(settings.start_timeout) or errors:
            late = f"no answer in {settings.start_timeout:g} seconds"
            raise _not_started(settings.address, first_line(errors[0]) if errors else late)
        yield
    finally:
        ended.set()


def _not_started(address: str, reason: str) -> ConfigurationError | Fault:
    if address:
        return ConfigurationError(
            f"Ray can't be joined at {address}: {reason}",
            "Check ray.address, as `ray start --head` prints it, and that both have one version of Ray and Python.",
        )
    return Fault(
        f"Ray doesn't start on this machine: {reason}",
        "Its logs are below /tmp/ray/session_latest/logs. Raise ray.start_timeout on a slow machine, or leave out"
        " --engine ray.",
    )


def check_workers(shards: Shards, settings: RaySettings) -> None:
    """Check on each machine that HopRank is there, in this version, and that it reads what the driver writes.

    Raises ConfigurationError, naming the machine.
    """
    ray = import_ray()
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    name, content = f"probe-{uuid.uuid4().hex}", uuid.uuid4().bytes
    shards.put(name, content)

    parts = (shards.root, shards.corpus, shards.vectors)

    # A function within a function travels whole: it runs where HopRank can't be imported.
    def probe() -> tuple[str, bytes | None]:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version("hoprank")
        except PackageNotFoundError:
            return "", None
        from pipeline.ingest.distributed.shards import Shards

        return found, Shards(*parts).get(name)

    task = ray.remote(num_cpus=0)(probe)
    nodes = {node["NodeID"]: node["NodeManagerAddress"] for node in ray.nodes() if node["Alive"]}
    asked = {
        address: task.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote()
        for node, address in nodes.items()
    }
    for address, answer in asked.items():
        try:
            found, read = ray.get(answer, timeout=settings.start_timeout)
        except Exception as error:
            fix = "Install HopRank with the extra ray there, in the same version of Python."
            raise ConfigurationError(f"Ray's machine {address} can't run HopRank: {first_line(error)}", fix) from error
        check_answer(address, found, reads=read == content, root=shards.root)


def check_answer(address: str, found: str, *, reads: bool, root: str) -> None:
    """Raise ConfigurationError unless a machine has this version of HopRank, and reads the shards."""
    if found != version("hoprank"):
        has = f"HopRank {found}" if found else "no HopRank"
        fix = f"Install HopRank {version('hoprank')} with the extra ray on all machines."
        raise ConfigurationError(f"Ray's machine {address} has {has}.", fix)
    if not reads:
        raise ConfigurationError(
            f"Ray's machine {address} can't read {root}, where the shards are.",
            "Set ray.shards to a folder that all machines share, or a URL such as s3://bucket/shards.",
        )
