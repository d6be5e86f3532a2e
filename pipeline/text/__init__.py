"""Text: names, identifiers, sentences, paragraphs, headings and prose, read alike by ingestion and search.

May import: records.
"""
