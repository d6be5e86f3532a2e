"""Ingest: sources, chunks, embeddings, entities, links, and the writes of the next generation.

May import: bounded, code, db, edges, embedding, errors, files, ids, progress, records, registry, settings, text.
"""
