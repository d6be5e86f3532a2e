"""A real Neo4j with GDS in a process of its own, from packages alone, started on demand."""

from pipeline.db.embedded.lifecycle import ensure_running, log_path, status, stop
from pipeline.db.embedded.options import Address, ServerOptions, ServerStatus

__all__ = ["Address", "ServerOptions", "ServerStatus", "ensure_running", "log_path", "status", "stop"]
