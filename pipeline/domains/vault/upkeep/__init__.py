"""The upkeep of a folder of notes: check, unlinked mentions, renames that carry links, safe writes.

May import: domains.vault.reading, domains.vault.records, errors, ingest, records, temporary, text.
"""
