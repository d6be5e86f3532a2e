"""The routes of the service, one module a subject.

May import: api, db, errors, flows, knowledge, registry, serve, serve.http.metrics, serve.http.models, serve.http.state.
"""
