"""Text: names, identifiers, sentences, paragraphs, headings and prose, read alike by ingestion and search.

Imports nothing of the package but the records.
"""
