"""Graphs of skills: built from folders of SKILL.md, asked, and checked."""

from pipeline.domains.skills.build import build
from pipeline.domains.skills.check import Findings, check
from pipeline.domains.skills.questions import (
    find_skill,
    list_skills,
    order,
    path_between,
    related,
    requires,
    said,
    search,
)
from pipeline.domains.skills.records import Built, SkillEdge

__all__ = [
    "Built",
    "Findings",
    "SkillEdge",
    "build",
    "check",
    "find_skill",
    "list_skills",
    "order",
    "path_between",
    "related",
    "requires",
    "said",
    "search",
]
