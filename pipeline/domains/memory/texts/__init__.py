"""Texts of a memory: documents of its corpus, nodes of its graph, and the entities that they mention.

May import: db, domains.memory.chats, domains.memory.entities, domains.memory.facts, domains.memory.memory,
domains.memory.records, domains.memory.extract, domains.memory.schema, domains.memory.times, errors, flows, ids,
ingest, knowledge, progress, records, retrieve.
"""
