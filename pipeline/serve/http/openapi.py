"""The OpenAPI description: that of FastAPI, with the limits and the problems of the service."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI

from pipeline.serve.http.problems import Problem
from pipeline.settings import ServeSettings


class DescribedApp(FastAPI):
    """FastAPI with a description that has the limits of the settings, and no token if the service ``is_open``."""

    def __init__(self, *, settings: ServeSettings, is_open: bool, **options: Any) -> None:
        super().__init__(**options)
        self._limits = {"top_k": {"maximum": settings.max_top_k}, "query": {"maxLength": settings.max_question}}
        self._is_open = is_open

    def openapi(self) -> dict[str, Any]:
        """Return the description, which FastAPI makes once."""
        if self.openapi_schema is None:
            described = super().openapi()
            described["components"]["schemas"]["Problem"] = Problem.model_json_schema()
            for name, schema in _named_schemas(described):
                schema.update(self._limits.get(name, {}))
            for operations in described["paths"].values() if self._is_open else ():
                for operation in operations.values():
                    operation.pop("security", None)
        return super().openapi()


def _named_schemas(described: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the schema of each field of a body, and of each parameter."""
    for schema in described["components"]["schemas"].values():
        yield from schema.get("properties", {}).items()
    for operations in described["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                yield parameter["name"], parameter["schema"]
