"""Domains: graphs of a kind, each a folder of its own that imports knowledge and no other domain."""
