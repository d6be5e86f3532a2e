"""Evaluate: datasets, runs, measures, significance and reports; comparison, calibration and tuning."""
