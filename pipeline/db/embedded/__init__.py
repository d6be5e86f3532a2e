"""The embedded server: Neo4j with GDS in a separate process, installed from packages and started on demand."""

from pipeline.db.embedded.lifecycle import ensure_running, log_path, restarted, running, status, stop, train
from pipeline.db.embedded.options import Address, ServerOptions, ServerStatus

__all__ = [
    "Address",
    "ServerOptions",
    "ServerStatus",
    "ensure_running",
    "log_path",
    "restarted",
    "running",
    "status",
    "stop",
    "train",
]
