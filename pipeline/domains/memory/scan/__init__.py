"""Scans of code: entities and facts of a repository, and the periods of its history in which they held.

May import: bounded, code, domains.memory.records, errors, ingest, knowledge, limits, progress.
"""
