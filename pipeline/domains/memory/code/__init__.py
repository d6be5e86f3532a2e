"""Code in a memory: a repository's entities, facts and the periods in which they held, read and stored.

May import: bounded, code, domains.memory.entities, domains.memory.facts, domains.memory.memory, domains.memory.records,
domains.memory.schema, domains.memory.texts, errors, files, ingest, knowledge, progress.
"""
