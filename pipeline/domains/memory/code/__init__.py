"""Code in a memory: a repository's entities, facts and the periods in which they held.

May import: bounded, code, domains.memory.records, errors, files, ingest, knowledge, progress.
"""
