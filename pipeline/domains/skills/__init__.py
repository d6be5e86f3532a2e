"""Graphs of skills: built from folders with a SKILL.md, queried and checked.

May import: db, embedding, errors, ingest, knowledge, progress, records, settings.
"""

from pipeline.domains.skills.build import build
from pipeline.domains.skills.check import Findings, check
from pipeline.domains.skills.questions import (
    describe_edge,
    find_skill,
    list_skills,
    order,
    path_between,
    related,
    requires,
    search,
)
from pipeline.domains.skills.records import Built, SkillEdge

__all__ = [
    "Built",
    "Findings",
    "SkillEdge",
    "build",
    "check",
    "describe_edge",
    "find_skill",
    "list_skills",
    "order",
    "path_between",
    "related",
    "requires",
    "search",
]
