"""Evaluate: datasets, runs, measures, significance, reports; and what learns and compares by them.

May import: db, errors, ingest, progress, records, resources, retrieve, settings, text.
"""
