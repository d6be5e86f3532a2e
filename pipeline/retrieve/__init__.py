"""Retrieve: question, candidates, expansion, seeds, rankers, scoring, fusion, filters and results, for one corpus.

Imports text, embedding and db; not ingest.
"""
