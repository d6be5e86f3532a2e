"""Ingest: sources, chunks, embeddings, entities, links, and the writes of the next generation."""
