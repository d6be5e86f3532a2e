"""Records of skills: as parsed, their resolved dependencies, and the counts of a build."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.records import Skipped


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
    """Counts of a built graph (``edges`` by type, ``missing`` dependencies), and the skipped files with reasons.

    ``embedded`` is the number of descriptions that were embedded, ``written`` that of nodes and edges that were added,
    changed or removed.
    """

    skills: int
    packages: int
    folders: int
    edges: Mapping[str, int]
    missing: int
    skipped: Sequence[Skipped]
    embedded: int
    written: int
