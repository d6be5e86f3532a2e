"""Corpora without documents, of a model that none has, for tests that write to them themselves."""

from __future__ import annotations

from typing import Any

from pipeline.db.catalogue import Corpus, create_corpus
from pipeline.db.client import Client


def plain_corpus(client: Client, name: str, *, dimension: int, fingerprint: str = "") -> Corpus:
    """Create a corpus of the model ``fingerprint``, by default one of its own."""
    made_by: dict[str, Any] = {"chunker": "plain", "extractor": "builtin", "analyzer": "english", "links": {}}
    return create_corpus(client, name, dimension=dimension, fingerprint=fingerprint or f"m@{name}", **made_by)
