"""Sources: read documents from files, folders, glob patterns and .jsonl. Each format has a module.

May import: bounded, code, errors, files, records, registry, text.
"""

from pipeline.ingest.sources.reader import read

__all__ = ["read"]
