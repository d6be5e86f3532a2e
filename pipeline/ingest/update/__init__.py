"""Update: the stored state, the changes against it, and the staged writes of the next generation.

May import: db, edges, errors, ids, ingest.chunking, ingest.embed, progress, records.
"""
