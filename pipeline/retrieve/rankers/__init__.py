"""Rankers: a question and what was found for it to a ranking of chunks; one file a ranker.

Imports db, expansion, seeds and fusion.
"""
