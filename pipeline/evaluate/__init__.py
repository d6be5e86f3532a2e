"""Evaluate: datasets, runs, measures, significance and reports; comparison, ablation, calibration and tuning."""
