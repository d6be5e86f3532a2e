"""Evaluate: datasets, runs, measures, significance and reports; comparison, ablation, calibration and tuning.

May import: db, errors, files, ingest, progress, records, resources, retrieve, settings, temporary, text.
"""
