"""Domains: applications of knowledge graphs, one folder each; a domain imports knowledge and no other domain.

May import: api, bounded, cli, code, db, embedding, errors, evaluate, files, flows, ids, ingest, json_values, knowledge,
progress, records, registry, retrieve, settings, temporary, text.
"""
