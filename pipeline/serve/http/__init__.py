"""The HTTP service: ``/v1`` with its OpenAPI, health, metrics, and the explorer's page."""
