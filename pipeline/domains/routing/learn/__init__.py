"""Learning of routing: edges that the projects' own files propose, and weights that follow the answers in use.

May import: code, domains.routing.project_graph, domains.routing.schema, domains.routing.settings, errors, files,
ingest, knowledge, retrieve, text.
"""
