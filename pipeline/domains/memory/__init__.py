"""Temporal memory: texts kept verbatim, entities and facts with their times beside them."""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "memory",
    "Memory of agents: texts, entities and facts that change in time.",
    settings="settings:MemorySettings",
    verbs="verbs:VERBS",
)
