"""Learning of routing: edges that the projects' own files propose, and weights that follow the answers in use.

May import: code, domains.routing.graph, domains.routing.records, domains.routing.schema, domains.routing.settings,
errors, ids, ingest, knowledge, retrieve, text.
"""
