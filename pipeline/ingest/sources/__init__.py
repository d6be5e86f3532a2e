"""Files, folders, patterns and .jsonl to documents; one format a module."""

from pipeline.ingest.sources.reader import MAX_BYTES, read

__all__ = ["MAX_BYTES", "read"]
