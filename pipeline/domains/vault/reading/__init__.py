"""Notes as read from files: fields, links with their sentences, resolution, places that links name.

May import: domains.vault.records, errors, ingest, limits, records, text.
"""
