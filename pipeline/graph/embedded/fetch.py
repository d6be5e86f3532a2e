"""Fetching the pinned jars from Maven Central with jgo, which also knows the mirrors in the user's jgo settings."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.errors import DownloadFailed
from pipeline.graph.embedded.jars import Jar, is_intact, remember, verified, verify
from pipeline.graph.embedded.options import GDS_VERSION, NEO4J_VERSION
from pipeline.graph.embedded.progress import Report, Step

_AT_ONCE = 8
_TRIES = 3
_TIMEOUT_SECONDS = 30
_SCRATCH = ".partial-"


def provide(jars: Sequence[Jar], folder: Path, report: Report) -> None:
    """See to it that ``folder`` holds every jar, each with its pinned checksum; fetch what is missing or damaged.

    Costs one ``stat`` a jar when nothing changed. Several processes may call this for one folder.
    Raises DownloadFailed when a jar can't be fetched or arrives with another checksum.
    """
    if verified(jars, folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "jars.lock"):
        missing = [jar for jar in jars if not is_intact(jar, folder / jar.path)]
        if missing:
            _fetch(missing, folder, report)
        remember(jars, folder)


def _fetch(jars: Sequence[Jar], folder: Path, report: Report) -> None:
    arrived = _counter(jars, report)
    with _scratch(folder) as scratch, ThreadPoolExecutor(_AT_ONCE) as pool:
        download = _downloader(scratch, arrived)
        running = [pool.submit(_fetch_one, jar, folder, download) for jar in jars]
        try:
            for one in running:
                one.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _fetch_one(jar: Jar, folder: Path, download: Callable[[Jar], Path]) -> None:
    file = download(jar)
    verify(jar, file)
    target = folder / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    # Same file system, so a jar appears whole or not at all.
    file.replace(target)


def _downloader(scratch: Path, arrived: Callable[[int], None]) -> Callable[[Jar], Path]:
    # Imported here: jgo and requests take a quarter of a second, and only the first start needs them.
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL
    from jgo.maven import MavenContext, PythonResolver
    from requests import RequestException

    @contextmanager
    def count(_name: str, _total: int) -> Iterator[Callable[[int], None]]:
        yield arrived

    resolver = PythonResolver(progress_callback=count)
    repositories = {"central": MAVEN_CENTRAL_URL} | GlobalSettings.load().repositories
    context = MavenContext(resolver, scratch, remote_repos=repositories, timeout=_TIMEOUT_SECONDS)

    def download(jar: Jar) -> Path:
        for attempt in range(1, _TRIES + 1):
            (scratch / jar.path).unlink(missing_ok=True)
            try:
                return Path(resolver.download(_artifact(context, jar)))
            except (RequestException, RuntimeError, OSError) as error:
                if attempt == _TRIES:
                    raise _unreachable(jar, error) from error
        raise AssertionError

    return download


def _artifact(context: Any, jar: Jar) -> Any:
    version, artifact = jar.path.parent.name, jar.path.parent.parent.name
    group = ".".join(jar.path.parts[:-3])
    classifier = jar.path.stem.removeprefix(f"{artifact}-{version}").removeprefix("-")
    return context.project(group, artifact).at_version(version).artifact(classifier, "jar")


def _unreachable(jar: Jar, error: Exception) -> DownloadFailed:
    return DownloadFailed(
        f"{jar.path} could not be fetched from Maven Central: {error}",
        "Check the network or the proxy (HTTPS_PROXY) and run the command again: what has arrived is kept."
        " Without a network, copy the jars folder of a machine that has it, or set NEO4J_URI to a Neo4j that you run.",
    )


def _counter(jars: Iterable[Jar], report: Report) -> Callable[[int], None]:
    sizes = [jar.size for jar in jars]
    total = sum(sizes)
    text = f"Fetching Neo4j {NEO4J_VERSION} and GDS {GDS_VERSION}: {len(sizes)} jars, {total / 1e6:.0f} MB"
    done, lock = 0, threading.Lock()
    report(Step(text, 0, total))

    def arrived(size: int) -> None:
        nonlocal done
        with lock:
            done += size
            report(Step(text, done, total))

    return arrived


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    for stale in folder.glob(f"{_SCRATCH}*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=folder, ignore_cleanup_errors=True) as scratch:
        yield Path(scratch)
