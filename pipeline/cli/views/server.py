"""The state of the embedded server for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.filesize import decimal

if TYPE_CHECKING:
    from pipeline.db.embedded import ServerStatus


def status_lines(status: ServerStatus) -> list[str]:
    """Return a line each: state, versions, address and process if it runs, disk space, home and log."""
    state = "running" if status.running else "starting" if status.starting else "stopped"
    rows = [("state", state), ("neo4j", f"{status.version} Community, GDS {status.gds_version}")]
    if status.pid and status.since:
        rows += [
            ("uri", status.uri or "not yet"),
            ("pid", str(status.pid)),
            ("since", f"{status.since.astimezone():%Y-%m-%d %H:%M:%S}"),
        ]
    rows += [("data", decimal(status.data_bytes)), ("home", str(status.home)), ("log", str(status.log))]
    return [f"{name:<10} {value}" for name, value in rows]
