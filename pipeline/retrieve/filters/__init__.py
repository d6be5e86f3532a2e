"""Filters on documents and chunks: parse them, test their conditions, find the matches, and search among these.

Imports records, db and the first stage of a search.
"""
