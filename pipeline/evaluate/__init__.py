"""Evaluate: datasets, runs, measures, significance and reports; comparison, ablation, calibration and tuning.

May import: db, errors, ingest, progress, records, resources, retrieve, settings, temporary, text.
"""
