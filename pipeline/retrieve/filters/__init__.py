"""Filters on documents and chunks: parse, compile to conditions, match, and search among the matches.

Imports records, db and the first stage of retrieval.
"""
