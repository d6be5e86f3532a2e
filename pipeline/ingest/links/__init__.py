"""Links: cosine neighbours, names and titles in common, hyperlinks; all of a corpus, or those that a change affects.

Imports entities and update; not sources.
"""
