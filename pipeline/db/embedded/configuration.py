"""Configuration of the server: neo4j.conf and the Java virtual machine's flags.

Sources: Neo4j's operations manual, "Configuration settings"; the ``java`` command's reference for the flags.
"""

from pathlib import Path

from pipeline.db.embedded.java import Java, vector_flags
from pipeline.db.embedded.options import GDS_VERSION, NEO4J_VERSION, Layout


def neo4j_conf(files: Layout, page_cache_mb: int, port: int = 0) -> str:
    """Return the text of neo4j.conf for a server that keeps little on disk, on a loopback port; 0 is a free one."""
    settings = {
        "server.bolt.enabled": "true",
        # Port 0: the system picks a free port while binding, so no other process can take it in between.
        "server.bolt.listen_address": f"127.0.0.1:{port}",
        "server.directories.logs": files.logs,
        "server.memory.pagecache.size": f"{page_cache_mb}m",
        "dbms.security.auth_enabled": "true",
        "dbms.security.procedures.unrestricted": "gds.*",
        "dbms.usage_report.enabled": "false",
        # The defaults keep two days of transaction logs in files of 256 MB, allocated at once.
        "db.tx_log.preallocate": "false",
        "db.tx_log.rotation.size": "32m",
        "db.tx_log.rotation.retention_policy": "1 files",
        # A vector query scans every Lucene segment. Merging by 4 instead of 50 leaves 5 segments at 200,000 chunks: a
        # query takes 6 ms instead of 25, an ingest 10% longer.
        "internal.dbms.index.vector.standard_merge_factor": "4",
        # The databases are closed before this wait begins, so the default of 5 s, waited twice, serves no purpose.
        "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
    }
    # The file is in Java's properties format, where a backslash begins an escape.
    escaped = {name: str(value).replace("\\", "\\\\") for name, value in settings.items()}
    return "".join(f"{name}={value}\n" for name, value in escaped.items())


def jvm_flags(files: Layout, heap_mb: int, java: Java) -> list[str]:
    """Return the flags for the virtual machine of ``java``, in which Neo4j runs."""
    return [
        f"-Xmx{heap_mb}m",
        # On the few processors that the server shares with its clients, writes are a fifth faster than with G1, and
        # reads are faster too.
        "-XX:+UseParallelGC",
        # In a new server the optimising compiler takes more processor time than queries do, from the encoder beside it.
        # At five times the default thresholds, the first ingest of 5,611 passages costs the server 41 s of CPU, not
        # 44, measured once, side by side. At twenty times 36 instead of 50, but each of the first 40 searches after it
        # took 23 ms more, and of the next 120 up to 5 ms.
        "-XX:Tier4InvocationThreshold=25000",
        "-XX:Tier4MinInvocationThreshold=3000",
        "-XX:Tier4CompileThreshold=75000",
        "-XX:Tier4BackEdgeThreshold=200000",
        # Out of memory, a server would answer some queries and hang on others. After an exit it is restarted on demand.
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={files.logs / 'jvm-crash-%p.log'}",
        # Leave signals to Python, which closes the databases before it exits.
        "-Xrs",
        "--enable-native-access=ALL-UNNAMED",
        *vector_flags(java),
        "--add-opens=java.base/java.nio=ALL-UNNAMED",
        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
        # Java ignores a cache that doesn't fit; keep that out of the log.
        "-Xlog:aot*=error",
        "-Dfile.encoding=UTF-8",
        "-Dlog4j2.disable.jmx=true",
        "-Djava.awt.headless=true",
    ]


def aot_cache(jars: Path, java: Java) -> Path:
    """Return the path of Java's ahead-of-time cache, which lies among the jars it was made from; it may not exist."""
    return jars / f"neo4j-{NEO4J_VERSION}-gds-{GDS_VERSION}-java-{java.tag}.aot"


def aot_flags(jars: Path, java: Java) -> list[str]:
    """Return the flag that makes Java use the cache; empty if there is no cache. See ``aot.py``."""
    file = aot_cache(jars, java)
    return [f"-XX:AOTCache={file}"] if file.exists() else []
