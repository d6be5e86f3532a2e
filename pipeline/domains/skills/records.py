"""What a skill is, and what its graph is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pipeline.records import Skipped


class SkillEdge(StrEnum):
    """The edges of a skill graph."""

    REQUIRES = "requires"
    """a skill to one that must be loaded before it"""
    USES = "uses"
    """a skill to a package that must be installed"""
    DOCUMENTS = "documents"
    """a skill to the package of its own name"""
    MENTIONS = "mentions"
    """a skill to one that its text names"""
    SHARES_TAGS = "shares_tags"
    """two skills, by the cosine of their tags' inverse document frequencies"""
    SIMILAR = "similar"
    """two skills, by the cosine of their descriptions"""
    CONTAINS = "contains"
    """a folder or a skill to what is below it"""


SKILL, PACKAGE, FOLDER = "skill", "package", "folder"
"""Types of the nodes."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A SKILL.md as it was read. ``id`` is its name, with its folder where two have one name.

    ``path`` is its folder, relative to the one that was read; ``dependencies`` are as written.
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
    """A dependency that was told: the skill or the package that it is, or neither; ``text`` is as written.

    ``assumed`` if nothing but the dependencies beside it says that it is a package.
    """

    text: str
    skill: str | None = None
    package: str | None = None
    assumed: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """What a build made: how many of each, and what was left out and why."""

    skills: int
    packages: int
    folders: int
    edges: Mapping[str, int]
    missing: int
    skipped: Sequence[Skipped]
