"""Rankers: one file a leg, whose ``rank`` takes the trace of a question to its ranking.

May import: db, edges, ids, retrieve.candidates, retrieve.expansion, retrieve.filters, retrieve.fusion, retrieve.legs,
retrieve.reader, retrieve.seeds, retrieve.steps, retrieve.trace, settings.
"""
