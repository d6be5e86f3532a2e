"""Routed search: which projects a question is about, a search of their corpora, and one merged ranking.

May import: api, db, domains.routing.graph, domains.routing.records, domains.routing.schema, domains.routing.settings,
domains.routing.stored, errors, records, retrieve.
"""
