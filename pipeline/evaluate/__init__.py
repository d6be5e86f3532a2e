"""Evaluate: datasets, runs, measures, significance, reports; and what learns and compares by them.

Imports retrieve; ingest is the caller's.
"""
