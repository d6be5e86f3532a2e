"""Rankers: one file a leg, whose ``rank`` takes the trace of a question to its ranking."""
