"""The schema of a graph of skills: its node types and its edge types."""

from enum import StrEnum

from pipeline.knowledge.schema import EdgeType, Schema

SKILL, PACKAGE, FOLDER = "skill", "package", "folder"


class SkillEdge(StrEnum):
    """The edge types of a skill graph; ``SCHEMA`` describes them."""

    REQUIRES = "requires"
    USES = "uses"
    DOCUMENTS = "documents"
    MENTIONS = "mentions"
    SHARES_TAGS = "shares_tags"
    SIMILAR = "similar"
    CONTAINS = "contains"


SCHEMA = Schema(
    nodes={
        SKILL: "a folder with a SKILL.md",
        PACKAGE: "a package that skills need, by its name without version",
        FOLDER: "a folder that encloses skills and is none itself",
    },
    edges={
        SkillEdge.REQUIRES: EdgeType(SKILL, SKILL, "the first lists the second as a dependency or demands it"),
        SkillEdge.USES: EdgeType(SKILL, PACKAGE, "it lists the package as a dependency"),
        SkillEdge.DOCUMENTS: EdgeType(SKILL, PACKAGE, "both have the same name"),
        SkillEdge.MENTIONS: EdgeType(SKILL, SKILL, "the text of the first names the second"),
        SkillEdge.SHARES_TAGS: EdgeType(SKILL, SKILL, "both have tags in common; the rarer, the more"),
        SkillEdge.SIMILAR: EdgeType(SKILL, SKILL, "their descriptions are near in meaning"),
        SkillEdge.CONTAINS: EdgeType((FOLDER, SKILL), (FOLDER, SKILL), "the second lies in the first"),
    },
)
