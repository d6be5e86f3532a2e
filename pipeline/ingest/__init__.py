"""Ingest: sources, chunks, embeddings, entities, links, and the writes of the next generation.

Imports text, embedding and db. The order of the steps is in :mod:`pipeline.flows.ingest`.
"""
