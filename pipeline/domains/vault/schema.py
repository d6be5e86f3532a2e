"""Node types and edge types of the indexes of a vault, a knowledge graph beside its corpus."""

from pipeline.knowledge.schema import EdgeType, Schema

NOTE, TOPIC, INDEX = "note", "topic", "index"
LINKS_TO, HOLDS = "links_to", "holds"
SCHEMA = Schema(
    nodes={
        NOTE: "a published note of the vault",
        TOPIC: "a cluster of notes that are linked with each other, within one index",
        INDEX: "the generated map of content of a skill, of a folder, or of the vault as a whole",
    },
    edges={
        LINKS_TO: EdgeType(NOTE, NOTE, "links from one note to another; weight: their number and their similarity"),
        HOLDS: EdgeType((INDEX, TOPIC), (TOPIC, NOTE), "the index holds the topic, the topic holds the note"),
    },
)
