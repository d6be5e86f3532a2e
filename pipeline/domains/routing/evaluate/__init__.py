"""Measuring routing: querysets, the comparison with all projects and with the ceiling, and what went wrong.

May import: api, db, domains.routing.describe, domains.routing.graph, domains.routing.learn, domains.routing.records,
domains.routing.schema, domains.routing.search, domains.routing.settings, errors, evaluate, files, flows, ingest,
knowledge, progress, records, retrieve.
"""
