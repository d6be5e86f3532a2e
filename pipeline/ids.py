"""Ids derived from content: equal parts give equal ids, so that repeated writes are idempotent.

The id of a corpus's node is a hash of its content, followed by the corpus's id. Nodes of equal content therefore have
the same order in any corpus, and so do rankings, in which ties go by id.
"""

import hashlib

_SEPARATOR = "\x1f"


def digest(*parts: str) -> str:
    """Return 32 hexadecimal digits of the SHA-256 of ``parts``, joined by unit separators."""
    joined = _SEPARATOR.join(part.replace("\x1e", "\x1e0").replace(_SEPARATOR, "\x1e1") for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def node_id(corpus_id: str, *content: str) -> str:
    """Return the id of a corpus's node: 20 hexadecimal digits of its content's hash, and the corpus's id."""
    return digest(*content)[:20] + corpus_id


def document_id(corpus_id: str, key: str) -> str:
    """Return the id of a document's node."""
    return node_id(corpus_id, "document", key)


def entity_id(corpus_id: str, key: str) -> str:
    """Return the id of an entity's node; ``key`` is its folded name (see pipeline.text.names)."""
    return node_id(corpus_id, "entity", key)
