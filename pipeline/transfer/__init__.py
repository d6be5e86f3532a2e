"""Transfer: export corpora to files, and restore them.

May import: db, errors, ids, ingest, records, settings, temporary, text.
"""
