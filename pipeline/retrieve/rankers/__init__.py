"""Rankers: the functions of the legs, each from the trace of a question to its ranking."""
