"""The map of the program: each module reads as one flow, from its input to its result.

May import: db, embedding, errors, evaluate, ids, ingest, knowledge, progress, records, retrieve, settings, text,
transfer.
"""
