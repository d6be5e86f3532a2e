"""Tuning: lessons from datasets, learned weights, and each dataset judged by what the others teach."""
