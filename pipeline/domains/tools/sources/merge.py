"""Merge what several sources hold: services by id, and tools with unique ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pipeline.domains.tools.records import Catalogue, Service, Tool
from pipeline.records import Skipped


def merged(catalogues: Iterable[Catalogue]) -> Catalogue:
    """Return one catalogue of all, in order.

    A service that several describe is one, unless they belong to different registries. Of tools with the same id, all
    but the first get a number: ``mail/send (2)``.
    """
    registries: dict[str, str] = {}
    services: dict[str, Service] = {}
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for catalogue in catalogues:
        registries.update(catalogue.registries)
        skipped.extend(catalogue.skipped)
        renamed = {}
        for service in catalogue.services:
            renamed[service.id] = key = _key(service, services)
            services[key] = _filled(services[key], service) if key in services else replace(service, id=key)
        tools.extend(replace(tool, service=renamed[tool.service]) for tool in catalogue.tools)
    return Catalogue(registries, tuple(services.values()), tuple(_with_ids(tools)), tuple(skipped))


def numbered(name: str, taken: Collection[str], first: int = 2) -> str:
    """Return the first of ``name (2)``, ``name (3)`` ... that isn't taken, from ``first`` on."""
    while (candidate := f"{name} ({first})") in taken:
        first += 1
    return candidate


def _key(service: Service, services: dict[str, Service]) -> str:
    known = services.get(service.id)
    if known is None or not known.registry or service.registry in ("", known.registry):
        return service.id
    return numbered(service.id, services)


def _filled(known: Service, other: Service) -> Service:
    """Return a service with what only the other source says of it."""
    return Service(
        id=known.id,
        name=known.name if known.name != known.id else other.name,
        description=known.description or other.description,
        category=known.category or other.category,
        tags=known.tags or other.tags,
        registry=known.registry or other.registry,
    )


def _with_ids(tools: list[Tool]) -> Iterator[Tool]:
    """Yield the tools with unique ids; the first of an id keeps it."""
    taken = {tool.id for tool in tools}
    counts: Counter[str] = Counter()
    for tool in tools:
        counts[tool.id] += 1
        key = tool.id
        if counts[tool.id] > 1:
            key = numbered(tool.id, taken, counts[tool.id])
            taken.add(key)
        yield tool if key == tool.id else replace(tool, id=key)
