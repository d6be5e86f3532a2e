"""The texts of tools and services that are embedded and searched."""

from __future__ import annotations

import re

from pipeline.domains.tools.records import Service, Tool

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_a-zA-Z]+")


def words_of_name(name: str) -> str:
    """Return the words of a name in camelCase, snake_case or kebab-case, with spaces between them."""
    return " ".join(_PARTS.findall(name)) or name


def tool_text(tool: Tool) -> str:
    """Return what a tool is: the words of its name, and its description."""
    return f"{words_of_name(tool.name)}: {tool.description.strip()}"


def service_text(service: Service) -> str:
    """Return what a service is: its name and description."""
    return f"{service.name}: {service.description.strip()}"
