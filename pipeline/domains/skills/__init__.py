"""Graphs of skills: built from folders with a SKILL.md, queried and checked."""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "skills",
    "Skills: build their graph from SKILL.md folders, ask it, check it.",
    settings="settings:SkillSettings",
    verbs="api:VERBS",
)
