"""Domains: applications of knowledge graphs, one folder each; a domain imports knowledge and no other domain.

May import: cli, embedding, errors, ingest, knowledge, limits, progress, records, registry, settings.
"""
