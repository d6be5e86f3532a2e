"""Sources: read documents from files, folders, glob patterns and .jsonl. Each format has a module.

May import: errors, records, text.
"""

from pipeline.ingest.sources.reader import MAX_BYTES, read

__all__ = ["MAX_BYTES", "read"]
