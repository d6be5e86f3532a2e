"""Transfer: export corpora to files, and restore them.

May import: db, edges, errors, files, ids, ingest, records, settings, temporary, text.
"""
