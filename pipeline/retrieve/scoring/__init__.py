"""Scoring: evidence of names, features of candidates, and the weighted sum that ranks them.

Imports text, expansion and fusion.
"""
