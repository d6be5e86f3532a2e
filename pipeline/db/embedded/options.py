"""What the embedded server is asked for and what it answers with, and where its files lie."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.settings import Settings  # the server's process has no use for them

NEO4J_VERSION = "2026.02.3"
GDS_VERSION = "2.26.0"

USERNAME = "neo4j"
DATABASE = "neo4j"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server answers and who may log in; ``uri`` is what a Neo4j driver takes."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How to run the embedded server.

    ``home`` holds everything it keeps. ``idle_minutes`` without a connection stop it; 0 means never.
    ``heap_mb`` and ``page_cache_mb`` are sized from the machine's memory when None. ``start_timeout`` is in seconds.
    ``jars`` is where downloaded jars are kept, ``home/jars`` when None; several homes may share one.
    """

    home: Path
    idle_minutes: float = 30
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    start_timeout: float = 120
    jars: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> ServerOptions:
        """Take the options from the settings."""
        server = settings.server
        return cls(
            home=settings.data_home,
            idle_minutes=server.idle_minutes,
            heap_mb=server.heap_mb,
            page_cache_mb=server.page_cache_mb,
            start_timeout=server.start_timeout,
        )


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of the server of one home.

    ``starting`` is true from the launch until Bolt answers. ``uri``, ``pid`` and ``since`` are None unless it is
    running or starting. ``data_bytes`` is what the databases and their transaction logs take on disk.
    """

    running: bool
    starting: bool
    uri: str | None
    pid: int | None
    since: datetime | None
    version: str
    gds_version: str
    data_bytes: int
    home: Path
    log: Path
    password_file: Path


@dataclass(frozen=True, slots=True)
class Layout:
    """The files below a home."""

    home: Path

    @property
    def neo4j(self) -> Path:
        """Neo4j's own home: configuration, plugins, databases and transaction logs."""
        return self.home / "neo4j"

    @property
    def data(self) -> Path:
        """The databases, their transaction logs and the login data."""
        return self.neo4j / "data"

    @property
    def state(self) -> Path:
        """Who serves, and on which port; see ``state.py``."""
        return self.home / "server.json"

    @property
    def password(self) -> Path:
        """The generated password, readable by its owner only."""
        return self.home / "password"

    @property
    def logs(self) -> Path:
        """The folder of log files."""
        return self.home / "logs"

    @property
    def log(self) -> Path:
        """What the server process prints: its start, its stop, and why it failed."""
        return self.logs / "server.log"

    @property
    def start_lock(self) -> Path:
        """Held while a server is being started or stopped."""
        return self.home / "start.lock"

    @property
    def data_lock(self) -> Path:
        """Held by a server process for as long as it lives."""
        return self.neo4j / "server.lock"


def layout(options: ServerOptions) -> Layout:
    """Return the files of ``options.home``, as absolute paths."""
    return Layout(options.home.expanduser().absolute())


def jars_folder(options: ServerOptions) -> Path:
    """Return the absolute folder in which jars are kept."""
    return (options.jars or options.home / "jars").expanduser().absolute()
