"""Filters on documents and chunks: parse them, test their conditions, find the matches, and search among these."""
