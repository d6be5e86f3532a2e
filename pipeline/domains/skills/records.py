"""Records of skills, and the node and edge types of their graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.records import Skipped


class SkillEdge(StrEnum):
    """The edge types of a skill graph."""

    REQUIRES = "requires"
    """from a skill to a skill that must be loaded before it"""
    USES = "uses"
    """from a skill to a package that must be installed"""
    DOCUMENTS = "documents"
    """from a skill to the package of its own name"""
    MENTIONS = "mentions"
    """from a skill to a skill that its text mentions"""
    SHARES_TAGS = "shares_tags"
    """between two skills, weighted by the cosine of their idf-weighted tags"""
    SIMILAR = "similar"
    """between two skills, weighted by the cosine of their descriptions"""
    CONTAINS = "contains"
    """from a folder or skill to its children"""


SKILL, PACKAGE, FOLDER = "skill", "package", "folder"
"""The node types of a skill graph."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A parsed SKILL.md. ``id`` is the name, with the folder appended if several skills have the name.

    ``path`` is the skill's folder, relative to the folder that was read. ``dependencies`` are as written.
    """

    id: str
    name: str
    path: str
    title: str
    description: str
    version: str
    tags: Sequence[str]
    dependencies: Sequence[str]
    text: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A resolved dependency: a skill's id, a package's key, or neither if it is missing; ``text`` is as written.

    ``assumed`` marks a package that is one only by the majority of the other dependencies.
    """

    text: str
    skill: str | None = None
    package: str | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """Counts of a built graph (``edges`` by type, ``missing`` dependencies), and the skipped files with reasons."""

    skills: int
    packages: int
    folders: int
    edges: Mapping[str, int]
    missing: int
    skipped: Sequence[Skipped]
