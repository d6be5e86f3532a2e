"""Maps of content: topics among the notes of a skill, a folder or the vault, and the indexes that hold them.

May import: api, db, domains.vault.graph, domains.vault.records, domains.vault.schema, domains.vault.upkeep,
domains.vault.vault, errors, flows, ids, knowledge, text.
"""
