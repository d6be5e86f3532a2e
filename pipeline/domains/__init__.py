"""Domains: applications of knowledge graphs, one folder each; a domain imports knowledge and no other domain."""
