"""The jars of Neo4j and GDS: the pinned list, and the check of a folder against it.

``configs/jars.sha256`` pins every jar by checksum, size and path in a Maven repository, in class path order, so that no
dependency is resolved on a user's machine.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION
from pipeline.resources import resource_folder


@dataclass(frozen=True, slots=True)
class Jar:
    """A pinned jar: SHA-256 in hex, size in bytes, and path in a Maven repository."""

    sha256: str
    size: int
    path: PurePosixPath


def pinned_jars(pins: Path | None = None) -> tuple[Jar, ...]:
    """Return all jars that the server needs, in class path order; ``pins`` is another list of them than the default."""
    lines = (pins or resource_folder("configs") / "jars.sha256").read_text().splitlines()
    rows = (line.split() for line in lines if line and not line.startswith("#"))
    return tuple(Jar(sha256, int(size), PurePosixPath(path)) for sha256, size, path in rows)


def is_gds(jar: Jar) -> bool:
    """Return whether the jar is a part of GDS."""
    return jar.path.is_relative_to("org/neo4j/gds")


def is_plugin(jar: Jar) -> bool:
    """Return whether the jar belongs in Neo4j's plugins folder too, from which GDS's procedures are loaded."""
    artifact, version = jar.path.parent.parent.name, jar.path.parent.name
    return version == GDS_VERSION and (artifact.startswith("proc") or artifact == "opengds-extension")


def verified(jars: Iterable[Jar], folder: Path) -> bool:
    """Return whether ``folder`` holds every jar unchanged since its full check; takes one ``stat`` per jar."""
    try:
        checked = json.loads(_manifest(folder).read_text())
        return all(checked.get(str(jar.path)) == _stamp(folder / jar.path) for jar in jars)
    except (OSError, ValueError):
        return False


def is_intact(jar: Jar, file: Path) -> bool:
    """Return whether ``file`` exists and has the pinned checksum; reads the whole file."""
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == jar.sha256
    except FileNotFoundError:
        return False


def remember(jars: Iterable[Jar], folder: Path) -> None:
    """Record that every jar in ``folder`` has passed a full check; see ``verified``."""
    partial = _manifest(folder).with_suffix(".part")
    partial.write_text(json.dumps({str(jar.path): _stamp(folder / jar.path) for jar in jars}))
    partial.replace(_manifest(folder))


def _manifest(folder: Path) -> Path:
    return folder / f"verified-neo4j-{NEO4J_VERSION}-gds-{GDS_VERSION}.json"


def _stamp(file: Path) -> list[int]:
    stat = file.stat()
    return [stat.st_size, stat.st_mtime_ns]
