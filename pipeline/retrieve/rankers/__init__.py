"""Rankers: one file a leg, whose ``rank`` takes the trace of a question to its ranking.

Imports reader, trace, steps, fusion and db. Each has a row in :mod:`pipeline.retrieve.legs`.
"""
