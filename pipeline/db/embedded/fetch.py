"""Download of the pinned jars from Maven Central, or from a mirror in the user's jgo settings.

pooch gives each jar a temporary file and checks its SHA-256. This module adds several repositories for each file,
connections kept open between files (without them 400 jars take five times as long), parallel downloads with a joint
progress, and a lock.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.db.embedded.jars import Jar, is_intact, remember, verified
from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION, Report, Step
from pipeline.errors import DownloadFailed
from pipeline.temporary import temporary_folder

# Chosen by hand, not measured.
_PARALLEL_DOWNLOADS = 8
_TRIES = 3
_PAUSE_SECONDS = 0.5
_TIMEOUT_SECONDS = 30
_BLOCK_BYTES = 65_536


def provide(jars: Sequence[Jar], folder: Path, report: Report, repositories: Sequence[str] = ()) -> None:
    """Download the jars that are missing in ``folder`` or differ from their pinned checksum.

    Takes one ``stat`` per jar if nothing changed. Several processes may call this for the same folder.
    ``repositories`` are base URLs, tried in order; the default is the mirrors in the jgo settings, then Maven Central.
    Raises DownloadFailed if a jar can't be fetched or arrives with a different checksum.
    """
    if verified(jars, folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "jars.lock"):
        missing = [jar for jar in jars if not is_intact(jar, folder / jar.path)]
        if missing:
            source = _Source(repositories or _default_repositories(), _counter(missing, report))
            with temporary_folder(folder, "partial") as partial, ThreadPoolExecutor(_PARALLEL_DOWNLOADS) as pool:
                downloads = [pool.submit(_fetch, jar, folder, partial, source) for jar in missing]
                try:
                    for download in downloads:
                        download.result()
                except BaseException:
                    pool.shutdown(cancel_futures=True)
                    raise
        remember(jars, folder)


def _default_repositories() -> list[str]:
    # Imported here: only the first start needs it. jgo knows Maven Central's URL.
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL

    return [*GlobalSettings.load().repositories.values(), MAVEN_CENTRAL_URL]


def _fetch(jar: Jar, folder: Path, partial: Path, source: _Source) -> None:
    part = source.download(jar, partial)
    # Only its owner can read a temporary file; another user may run the server.
    part.chmod(0o644)
    target = folder / jar.path
    target.parent.mkdir(parents=True, exist_ok=True)
    # On the same file system, so that a jar appears completely or not at all.
    part.replace(target)


class _Source:
    """Repositories to download from; each thread keeps its connection open."""

    def __init__(self, repositories: Sequence[str], arrived: Callable[[int], None]) -> None:
        self._repositories = repositories
        self._arrived = arrived
        self._local = threading.local()

    def download(self, jar: Jar, folder: Path) -> Path:
        """Download a jar to a file in ``folder``; try each repository in turn, and all of them again after a pause."""
        import pooch  # imported here: only the first start needs it

        pooch.get_logger().setLevel(logging.WARNING)  # by default it prints a line per file
        failures: list[str] = []
        for attempt in range(_TRIES):
            time.sleep(attempt * _PAUSE_SECONDS)
            for repository in self._repositories:
                url = f"{repository.rstrip('/')}/{jar.path}"
                try:
                    return Path(pooch.retrieve(url, jar.sha256, jar.path.name, folder, downloader=self._stream))
                except OSError as error:  # requests' own errors are OSErrors too
                    failures.append(str(error))
                except ValueError as error:
                    # pooch reports the actual checksum in its message only.
                    reported = re.search(r"got (\w+)", str(error))
                    actual = reported[1] if reported else "another"
                    raise DownloadFailed(
                        f"{jar.path.name} is not what it should be: its SHA-256 is {actual}, expected {jar.sha256}.",
                        "Try again; if it comes back the same, what lies between you and the Maven repository changes"
                        " files: ask whoever runs that proxy or mirror.",
                    ) from error
        raise DownloadFailed(
            f"{jar.path.name} could not be fetched: {failures[-1]}",
            "Check the network and the proxy (HTTPS_PROXY), and run the command again: what has arrived is kept."
            " Without a network, copy the jars folder of a machine that has it, or set NEO4J_URI to a Neo4j of yours.",
        )

    def _stream(self, url: str, file: str, _: Any) -> None:
        """Download ``url`` to ``file``; the signature is that of pooch's downloaders."""
        import requests  # imported here: only the first start needs it

        session = self._local.__dict__.setdefault("session", requests.Session())
        counted = 0
        try:
            with session.get(url, stream=True, timeout=_TIMEOUT_SECONDS) as response, Path(file).open("wb") as stream:
                response.raise_for_status()
                for block in response.iter_content(_BLOCK_BYTES):
                    stream.write(block)
                    counted += len(block)
                    self._arrived(len(block))
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
