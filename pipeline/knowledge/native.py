"""Neo4j's own names of node and edge types: a label for each node type, a relationship type for each edge type.

A node of the type ``api-design`` carries the label ``ApiDesign``, an edge of the type ``depends on`` is a relationship
``DEPENDS_ON``: Neo4j's naming conventions. The property ``type`` holds the type as written, which may be any text. Such
a name holds letters, digits and underscores alone, so it can't be anything but a name in Cypher.
"""

import re

from pipeline.ids import digest

MAX_TYPES = 250
"""Maximum number of node types, and of edge types, that a graph may bring: Neo4j never forgets a label or type."""

_WORDS = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 50
_CORPUS_LABELS = frozenset(
    {"Catalog", "Corpus", "DroppedCorpus", "Document", "Chunk", "Entity", "Tally", "KnowledgeGraph", "KnowledgeNode"}
)
_HIERARCHY = "CHILD_OF"


def label_of(node_type: str) -> str:
    """Return the label of a node type; one that corpora use gets an underscore at its end."""
    words = _WORDS.findall(node_type)
    label = _named("".join(word[0].upper() + word[1:] for word in words), node_type, "Type")
    return f"{label}_" if label in _CORPUS_LABELS or label.startswith(("Graph_", "Corpus_", "Embedding_")) else label


def relationship_type_of(edge_type: str) -> str:
    """Return the relationship type of an edge type; ``CHILD_OF``, the hierarchy's, gets an underscore at its end."""
    words = _WORDS.findall(_CAMEL.sub(" ", edge_type))
    name = _named("_".join(word.upper() for word in words), edge_type, "TYPE")
    return f"{name}_" if name == _HIERARCHY else name


def edge_index_of(relationship_type: str) -> str:
    """Return the name of the index that finds the edges of a relationship type by key."""
    return f"Edge_{digest(relationship_type)[:12]}"


def _named(name: str, written: str, prefix: str) -> str:
    """Return a name that isn't empty, doesn't begin with a digit, and is at most 63 characters long."""
    named = name if name[:1].isalpha() else f"{prefix}_{name}".rstrip("_")
    if name and len(named) <= _LONGEST:
        return named
    return f"{named[:_LONGEST]}_{digest(written)[:8]}"
