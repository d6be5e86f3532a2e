"""Tuning: lessons from datasets, learned weights, and each dataset judged by what the others teach.

May import: db, errors, evaluate.datasets, evaluate.measures, evaluate.significance, progress, retrieve, settings.
"""
