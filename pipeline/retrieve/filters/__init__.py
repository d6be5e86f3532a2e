"""Filters on documents and chunks: parse them, test their conditions, find the matches, and search among these.

May import: db, errors, records, retrieve.candidates, retrieve.fusion, retrieve.legs, retrieve.lru, retrieve.question,
retrieve.reader.
"""
