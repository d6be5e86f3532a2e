"""Sixty tools of five servers with output schemas and thirty right chains of them, and thirty tools more with ten.

A server's tools are written in short, each with what it does, what it takes and what it returns: ``{name: type}`` is an
object, ``[type]`` a list, ``name?`` an optional field, ``@Name`` a type of ``DEFINITIONS``, ``a|b`` an enum, any of
``FORMATS`` a string of that format.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from pipeline.domains.tools.catalogue import Catalogue, Service, Tool

DEFINITIONS: Mapping[str, Any] = {
    "Position": {"latitude": "number", "longitude": "number"},
    "Money": {"amount": "number", "currency": "string"},
    "PostalAddress": {"street": "string", "city": "string", "postcode": "string", "country": "string"},
    "Polygon": {"points": [{"lat": "number", "lon": "number"}]},
}

FORMATS = ("date", "date-time", "email", "uri")


def schema(short: Any) -> dict[str, Any]:
    """Return the JSON Schema that is written in short."""
    if isinstance(short, Mapping):
        fields = {name.rstrip("?"): schema(inner) for name, inner in short.items()}
        return {"type": "object", "properties": fields, "required": [name for name in short if not name.endswith("?")]}
    if isinstance(short, list):
        return {"type": "array", "items": schema(short[0])}
    if short.startswith("@"):
        return {"$ref": f"#/$defs/{short[1:]}"}
    if "|" in short:
        return {"type": "string", "enum": short.split("|")}
    return {"type": "string", "format": short} if short in FORMATS else {"type": short}


def whole(short: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a tool's input or output, with the definitions that it refers to."""
    used = {name: schema(inner) for name, inner in DEFINITIONS.items() if f"@{name}" in str(short)}
    return {**schema(short), **({"$defs": used} if used else {})}


class Expected(NamedTuple):
    """The names of the tools of the right chain; it leads from ``start`` to ``goal``, or is for a ``task``."""

    tools: str
    start: str = ""
    goal: str = ""
    task: str = ""


def read(name: str) -> tuple[Catalogue, tuple[Expected, ...]]:
    """Return the tools of a file as a build reads them, and their right chains."""
    content = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    servers = content["servers"].items()
    tools = [
        Tool(f"{server}/{name}", name, server, about, input=whole(taken), output=whole(returned))
        for server, own in servers
        for name, (about, taken, returned) in own["tools"].items()
    ]
    services = [Service(server, server.title(), own["about"]) for server, own in servers]
    return Catalogue(services=services, tools=tools), tuple(Expected(**chain) for chain in content["chains"])


SIXTY, THIRTY = read("sixty.yaml")
THIRTY_MORE, TEN = read("held_out.yaml")
