"""Neo4j in this process's Java virtual machine: start, query its state, close.

Sources: Neo4j's Java reference, "Including Neo4j in your application"; JPype's user guide.
"""

import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jpype

from pipeline.db.embedded.configuration import jvm_flags, neo4j_conf
from pipeline.db.embedded.jars import is_gds, is_plugin, pinned_jars
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.options import DATABASE, USERNAME, Layout


@dataclass(frozen=True, slots=True)
class Launch:
    """Command-line arguments of the server process.

    ``patience`` is the time in seconds that it waits for a predecessor to close the databases. Without ``gds`` the
    server starts without Graph Data Science. Bolt gets ``port`` if that is free, else any. ``pins`` lists the jars.
    ``java_home`` is a Java that was found to do.
    """

    home: Path
    jars: Path
    heap_mb: int
    page_cache_mb: int
    idle_minutes: float
    patience: float
    gds: bool = True
    port: int = 0
    pins: Path | None = None
    java_home: Path | None = None


class Database:
    """A running Neo4j, with Bolt on a free loopback port and the password in ``files.password``.

    ``flags`` are additional flags for the virtual machine.
    """

    def __init__(self, launch: Launch, files: Layout, flags: Sequence[str] = ()) -> None:
        _start_java(launch, files, flags)
        password = files.password.read_text()
        if not (files.data / "dbms" / "auth.ini").exists():
            # As `neo4j-admin dbms set-initial-password` does, before the first start: the server never accepts the
            # default neo4j/neo4j, and the password survives a start that is killed half way.
            _admin(files, "admin.security.SetInitialPasswordCommand", password)
        self._server = _open(files)
        _restore_password(self._server.database("system"), password)
        self._connections = self._component("org.neo4j.kernel.api.net.NetworkConnectionTracker")

    @property
    def port(self) -> int:
        """The port of Bolt."""
        register = self._component("org.neo4j.configuration.connectors.ConnectorPortRegister")
        bolt = jpype.JClass("org.neo4j.configuration.connectors.ConnectorType").BOLT
        return int(register.getLocalAddress(bolt).getPort())

    @property
    def connected(self) -> bool:
        """Return whether any client has an open Bolt connection."""
        return bool(self._connections.activeConnections())

    @property
    def uses_simd(self) -> bool:
        """Return whether Lucene compares vectors by the processor's vector instructions."""
        support = jpype.JClass("org.apache.lucene.util.VectorUtil").class_.getDeclaredField("IMPL")
        support.setAccessible(True)
        return "Panama" in str(support.get(None).getClass().getSimpleName())

    def close(self) -> None:
        """Write everything to disk and close the databases."""
        self._server.shutdown()

    def _component(self, name: str) -> Any:
        return self._server.database(DATABASE).getDependencyResolver().resolveDependency(jpype.JClass(name))


def dump(launch: Launch, files: Layout, folder: Path) -> bool:
    """Write ``neo4j.dump`` to ``folder`` from the closed database, recovered if need be; return whether that went well.

    The caller holds the lock of the data.
    """
    _start_java(launch, files)
    arguments = "dbms.DumpCommand", DATABASE, f"--to-path={folder}", "--overwrite-destination"
    if _admin(files, *arguments):
        # A server that was killed left what only a start can recover.
        _open(files).shutdown()
        return not _admin(files, *arguments)
    return True


def load(launch: Launch, files: Layout, folder: Path) -> bool:
    """Load ``neo4j.dump`` from ``folder`` into a home without databases; return whether that went well."""
    _start_java(launch, files)
    return not _admin(files, "dbms.LoadCommand", DATABASE, f"--from-path={folder}")


def _start_java(launch: Launch, files: Layout, flags: Sequence[str] = ()) -> None:
    conf = _conf(files)
    conf.parent.mkdir(parents=True, exist_ok=True)
    port = launch.port if _is_free(launch.port) else 0
    conf.write_text(neo4j_conf(files, launch.page_cache_mb, port), encoding="utf-8")
    jars = [jar for jar in pinned_jars(launch.pins) if launch.gds or not is_gds(jar)]
    _link_plugins([launch.jars / jar.path for jar in jars if is_plugin(jar)], files.neo4j / "plugins")
    java = find_java(launch.java_home)
    jpype.startJVM(
        str(java.library),
        *jvm_flags(files, launch.heap_mb, java),
        *flags,
        classpath=[str(launch.jars / jar.path) for jar in jars],
    )


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def _open(files: Layout) -> Any:
    builder = jpype.JClass("org.neo4j.dbms.api.DatabaseManagementServiceBuilder")
    return builder(_path(files.neo4j)).loadPropertiesFromFile(_path(_conf(files))).build()


def _admin(files: Layout, command: str, *arguments: str) -> int:
    """Run a command of neo4j-admin, as its class is named, and return its exit code."""
    context = jpype.JClass("org.neo4j.cli.ExecutionContext")(_path(files.neo4j), _path(_conf(files).parent))
    made = jpype.JClass(f"org.neo4j.commandline.{command}")(context)
    return int(jpype.JClass("picocli.CommandLine")(made).execute(*arguments))


def _conf(files: Layout) -> Path:
    return files.neo4j / "conf" / "neo4j.conf"


def _path(path: Path) -> Any:
    return jpype.JClass("java.nio.file.Path").of(str(path))


def _link_plugins(jars: list[Path], plugins: Path) -> None:
    plugins.mkdir(exist_ok=True)
    for stale in plugins.iterdir():
        stale.unlink()
    for jar in jars:
        try:
            os.link(jar, plugins / jar.name)
        except OSError:  # another file system, or one without hard links
            (plugins / jar.name).write_bytes(jar.read_bytes())


def _restore_password(system: Any, password: str) -> None:
    # The password file may have been lost and generated again. The data directory belongs to the user, so anyone who
    # can start the server may log in to it.
    credential = jpype.JClass("org.neo4j.server.security.SystemGraphCredential")
    secret = jpype.JArray(jpype.JByte)(password.encode())
    hasher = jpype.JClass("org.neo4j.server.security.SecureHasher")()
    transaction = system.beginTx()
    try:
        user = transaction.findNode(jpype.JClass("org.neo4j.graphdb.Label").label("User"), "name", USERNAME)
        stored = credential.deserialize(user.getProperty("credentials"), hasher)
        if not stored.matchesPassword(secret):
            user.setProperty("credentials", credential.createCredentialForPassword(secret, hasher).serialize())
            user.setProperty("passwordChangeRequired", jpype.java.lang.Boolean(False))
            transaction.commit()
    finally:
        transaction.close()
