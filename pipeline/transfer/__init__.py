"""Transfer: corpora to files and back.

Imports db and ingest.
"""
