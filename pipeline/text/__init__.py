"""Text: names, identifiers, sentences, paragraphs and prose, as ingestion and search both read them.

Imports nothing of the package but the records.
"""
