"""The HTTP service: ``/v1`` with its OpenAPI, health, metrics, and the explorer's page.

May import: api, async_api, db, errors, files, flows, knowledge, registry, retrieve, serve.access, serve.folders,
serve.gate, serve.jobs, serve.listening, serve.page, serve.rate, serve.signature, settings.
"""
