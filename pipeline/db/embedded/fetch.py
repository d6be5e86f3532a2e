"""Fetching the pinned jars from Maven Central, or from a mirror that the user's jgo settings name."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from filelock import FileLock

from pipeline.db.embedded.jars import Jar, is_intact, remember, verified, verify
from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION
from pipeline.db.embedded.progress import Report, Step
from pipeline.errors import DownloadFailed
from pipeline.temporary import temporary_folder

_AT_ONCE = 8
_TRIES = 3
_PAUSE_SECONDS = 0.5
_TIMEOUT_SECONDS = 30
_PIECE_BYTES = 65_536


def provide(jars: Sequence[Jar], folder: Path, report: Report, repositories: Sequence[str] = ()) -> None:
    """See to it that ``folder`` holds every jar, each with its pinned checksum; fetch what is missing or damaged.

    Costs one ``stat`` a jar when nothing changed. Several processes may call this for one folder.
    ``repositories`` are base URLs, tried in order; by default mirrors from the jgo settings, then Maven Central.
    Raises DownloadFailed when a jar can't be fetched or arrives with another checksum.
    """
    if verified(jars, folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "jars.lock"):
        missing = [jar for jar in jars if not is_intact(jar, folder / jar.path)]
        if missing:
            _fetch_all(missing, folder, _Source(repositories or _default_repositories(), _counter(missing, report)))
        remember(jars, folder)


def _default_repositories() -> list[str]:
    # Imported here: only the first start needs it. jgo knows where Maven Central is.
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL

    return [*GlobalSettings.load().repositories.values(), MAVEN_CENTRAL_URL]


def _fetch_all(jars: Sequence[Jar], folder: Path, source: _Source) -> None:
    with temporary_folder(folder, "partial") as scratch, ThreadPoolExecutor(_AT_ONCE) as pool:
        running = [pool.submit(_fetch_one, jar, folder, scratch / jar.name, source) for jar in jars]
        try:
            for one in running:
                one.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _fetch_one(jar: Jar, folder: Path, part: Path, source: _Source) -> None:
    source.download(jar, part)
    try:
        verify(jar, part)
    except DownloadFailed:
        part.unlink()
        raise
    target = folder / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    # Same file system, so a jar appears whole or not at all.
    part.replace(target)


class _Source:
    """Repositories to download from, with one connection a thread kept open."""

    def __init__(self, repositories: Sequence[str], arrived: Callable[[int], None]) -> None:
        self._repositories = repositories
        self._arrived = arrived
        self._local = threading.local()

    def download(self, jar: Jar, file: Path) -> None:
        """Write the jar to ``file``, trying each repository, and all of them again after a pause."""
        failures: list[str] = []
        for attempt in range(_TRIES):
            time.sleep(attempt * _PAUSE_SECONDS)
            for repository in self._repositories:
                try:
                    self._stream(f"{repository.rstrip('/')}/{jar.path}", file)
                except OSError as error:  # requests' own errors are OSErrors too
                    failures.append(str(error))
                else:
                    return
        raise DownloadFailed(
            f"{jar.name} could not be fetched: {failures[-1]}",
            "Check the network and the proxy (HTTPS_PROXY), and run the command again: what has arrived is kept."
            " Without a network, copy the jars folder of a machine that has it, or set NEO4J_URI to a Neo4j of yours.",
        )

    def _stream(self, url: str, file: Path) -> None:
        import requests  # imported here: only the first start needs it

        session = self._local.__dict__.setdefault("session", requests.Session())
        counted = 0
        try:
            with session.get(url, stream=True, timeout=_TIMEOUT_SECONDS) as response, file.open("wb") as stream:
                response.raise_for_status()
                for piece in response.iter_content(_PIECE_BYTES):
                    stream.write(piece)
                    counted += len(piece)
                    self._arrived(len(piece))
        except OSError:
            self._arrived(-counted)
            raise


def _counter(jars: Sequence[Jar], report: Report) -> Callable[[int], None]:
    total = sum(jar.size for jar in jars)
    text = f"Fetching Neo4j {NEO4J_VERSION} and GDS {GDS_VERSION}: {len(jars)} jars, {total / 1e6:.0f} MB"
    done, lock = 0, threading.Lock()
    report(Step(text, 0, total))

    def arrived(size: int) -> None:
        nonlocal done
        with lock:
            done += size
            report(Step(text, done, total))

    return arrived
