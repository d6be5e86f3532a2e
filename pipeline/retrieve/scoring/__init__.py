"""Scoring: the confidence in names, the features of candidates, and the weighted sum that ranks them.

May import: edges, errors, records, retrieve.expansion, retrieve.fusion, retrieve.legs, settings, text.
"""
