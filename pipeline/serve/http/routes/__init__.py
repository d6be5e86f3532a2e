"""The routes of the service, one module a subject."""
