"""Sources: read documents from files, folders, glob patterns and .jsonl. Each format has a module in ``parsers``."""

from pipeline.ingest.sources.reader import read

__all__ = ["read"]
