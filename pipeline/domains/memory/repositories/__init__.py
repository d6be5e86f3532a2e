"""Repositories in a memory: what a scan found becomes entities and facts, and ends what is gone.

May import: domains.memory.code, domains.memory.entities, domains.memory.facts, domains.memory.memory,
domains.memory.records, domains.memory.schema, domains.memory.texts, errors, knowledge, progress.
"""
