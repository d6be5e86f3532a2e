"""Filters on documents and chunks: parse, compile to conditions, match, and search among the matches.

May import: db, errors, records, retrieve.candidates, retrieve.fusion, retrieve.legs, retrieve.lru, retrieve.question,
retrieve.reader.
"""
