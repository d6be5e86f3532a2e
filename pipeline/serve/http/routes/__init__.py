"""The routes of the service, one module a subject.

May import: api, db, flows, knowledge, registry, serve.
"""
