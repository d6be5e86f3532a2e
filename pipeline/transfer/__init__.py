"""Transfer: export corpora to files, and restore them.

May import: db, errors, files, ids, ingest, records, settings, temporary, text.
"""
