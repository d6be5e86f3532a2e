"""Evaluate: datasets, runs, measures, significance and reports; comparison, ablation, calibration and tuning.

Imports retrieve, and of ingest only the similar pairs that a calibration counts. Whoever runs an evaluation ingests and
searches (``flows/evaluate.py``).
"""
