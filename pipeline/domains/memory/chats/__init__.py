"""Chats and notes in JSON: messages that become memories, and the entities and facts given with them.

May import: domains.memory.records, domains.memory.extract, domains.memory.schema, domains.memory.times, errors, files,
ids, knowledge, records.
"""
