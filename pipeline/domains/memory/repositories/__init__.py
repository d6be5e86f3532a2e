"""Repositories in a memory: what a scan found becomes entities and facts, and ends what is gone.

May import: domains.memory.entities, domains.memory.facts, domains.memory.memory, domains.memory.records,
domains.memory.scan, domains.memory.schema, domains.memory.texts, errors, knowledge, progress.
"""
