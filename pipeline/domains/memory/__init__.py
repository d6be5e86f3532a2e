"""Temporal memory: texts kept verbatim, entities and facts with their times beside them.

May import: api, bounded, cli, code, db, embedding, errors, evaluate, files, flows, ids, ingest, json_values, knowledge,
progress, records, registry, retrieve, settings, temporary, text.
"""

from pipeline.registry import Domain

DOMAIN = Domain(
    __name__,
    "memory",
    "Memory of agents: texts, entities and facts that change in time.",
    settings="settings:MemorySettings",
    verbs="verbs:VERBS",
)
