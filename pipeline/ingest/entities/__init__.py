"""Entities: names in chunks, found by an extractor and by the corpus's own titles, headings and definitions."""
