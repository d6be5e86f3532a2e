"""Ids derived from content: equal parts give equal ids, so that repeated writes are idempotent."""

from __future__ import annotations

import hashlib

_SEPARATOR = "\x1f"
_LENGTH = 32


def digest(*parts: str) -> str:
    """Return 32 hexadecimal digits of the SHA-256 of ``parts``, joined by unit separators."""
    joined = _SEPARATOR.join(part.replace("\x1e", "\x1e0").replace(_SEPARATOR, "\x1e1") for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


def document_id(corpus_id: str, key: str) -> str:
    """Return the id of a document's node."""
    return digest(corpus_id, "document", key)


def entity_id(corpus_id: str, key: str) -> str:
    """Return the id of an entity's node; ``key`` is its folded name (see pipeline.text.names)."""
    return digest(corpus_id, "entity", key)
