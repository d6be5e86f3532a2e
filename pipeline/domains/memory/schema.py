"""The schema of a memory: entity types and relation types. Settings may add more of both."""

from collections.abc import Mapping

from pipeline.domains.memory.settings import MemorySettings
from pipeline.knowledge.schema import EdgeType, Schema

KIND = "memory"
"""The kind of the corpus and the graph of a memory, to which nothing else writes."""

MEMORY = "memory"
"""The type of the nodes that stand for memories."""

MENTIONS = "mentions"
"""The type of the edges from memories to entities; all others are facts."""

DEFINITIONS = ("class", "function")
"""The types of what a source file defines; their names begin with its path and ``::``."""

CODE = ("file", *DEFINITIONS)
"""The types of source code."""
_ENTITIES = {
    "file": "a file of a repository, by its path",
    "module": "a folder or package of source code",
    "class": "a class, struct, trait or interface",
    "function": "a function or method",
    "library": "a package that code depends on, or is",
    "concept": "a topic or thing that memories speak of",
    "convention": "a rule that code or people follow",
    "error_pattern": "an error that comes back",
    "person": "an author, owner or speaker",
    "config": "a configuration file, environment variable or flag",
}

SCHEMA = Schema(
    nodes={**_ENTITIES, MEMORY: "a text with its time and speaker; a document of the corpus"},
    edges={
        "imports": EdgeType("file", ("file", "library"), "the file imports the other"),
        "contains": EdgeType(("module", *CODE), ("module", *CODE), "the second is inside the first"),
        "calls": EdgeType(CODE, ("class", "function"), "the first calls the second"),
        "depends_on": EdgeType("library", "library", "the first needs the second"),
        "implements": EdgeType(("module", *CODE), "concept", "the code is how the concept is done"),
        "has_convention": EdgeType(("module", "library", *CODE), "convention", "the code follows the convention"),
        "triggers": EdgeType("error_pattern", "error_pattern", "the first error leads to the second"),
        "fixed_by": EdgeType(
            "error_pattern", ("module", *CODE, "library", "concept", "config"), "the second mends the error"
        ),
        "configured_by": EdgeType(("module", "library", *CODE), "config", "the second configures the first"),
        "authored_by": EdgeType("file", "person", "the person has changed the file"),
        "owned_by": EdgeType(("module", "file"), "person", "the person is responsible for it"),
        MENTIONS: EdgeType(MEMORY, tuple(_ENTITIES), "the text speaks of the entity"),
    },
)


def schema_of(settings: MemorySettings) -> Schema:
    """Return the schema with the types that the settings add; an added type replaces one of its name."""
    entities = {**SCHEMA.nodes, **settings.entity_types}
    added = {
        name: EdgeType(tuple(kind.source) or tuple(entities), tuple(kind.target) or tuple(entities), kind.description)
        for name, kind in settings.relation_types.items()
    }
    mentions = EdgeType(MEMORY, tuple(name for name in entities if name != MEMORY), SCHEMA.edges[MENTIONS].description)
    return Schema(entities, {**SCHEMA.edges, **added, MENTIONS: mentions})


def relation_types(schema: Schema) -> Mapping[str, EdgeType]:
    """Return the types of facts: all edge types but that of mentions."""
    return {name: kind for name, kind in schema.edges.items() if name != MENTIONS}
