"""Scoring: the confidence in names, the features of candidates, and the weighted sum that ranks them.

Imports text, expansion and fusion.
"""
