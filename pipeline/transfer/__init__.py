"""Transfer: export corpora to files, and restore them.

Imports db and ingest.
"""
