"""Retrieve: question, candidates, expansion, seeds, rankers, scoring, fusion, filters and results, for one corpus.

May import: db, embedding, errors, ids, records, settings, text.
"""
