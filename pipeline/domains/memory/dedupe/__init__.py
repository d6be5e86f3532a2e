"""De-duplication: find entities that are the same thing, and merge them reversibly.

May import: db, domains.memory.records, domains.memory.schema, domains.memory.settings, embedding, errors, files, ids,
knowledge, temporary, text.
"""
