"""Read corpora of tools: JSON Lines, a tool per line, with its server and what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pipeline.domains.tools.records import Catalogue, Need, Service, Tool
from pipeline.domains.tools.sources.listings import checked_name, parsed, service_name, text_of, tool_of
from pipeline.ingest.sources.decode import decode
from pipeline.ingest.sources.source import Unreadable, unopenable
from pipeline.limits import MEGABYTE, Limits
from pipeline.records import Skipped

CORPUS_FILE = "corpus.jsonl"


def read_corpus(path: Path, limits: Limits) -> Catalogue:
    """Return the tools of a .jsonl file and their services; lines that are no tool are skipped.

    A line is ``{"id", "title", "text", "server", "server_name", "server_description", "category", "inputSchema",
    "outputSchema", "annotations", "depends_on", "dependencies"}``; only id and title are needed. Raises Unreadable if
    the file can't be opened.
    """
    services: dict[str, Service] = {}
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for number, line in _lines(path, limits):
        try:
            service, tool = _row(line, path, limits)
        except Unreadable as error:
            skipped.append(Skipped(f"{path}, line {number}", error.message))
        else:
            services.setdefault(service.id, service)
            tools.append(tool)
    return Catalogue(services=tuple(services.values()), tools=tools, skipped=skipped)


def _lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that aren't blank, with their numbers; of one that is too long, a byte more than allowed."""
    most = limits.bytes_read + 1
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(most):
                number += 1
                if line.strip():
                    yield number, line
                while len(line) == most and not line.endswith(b"\n"):
                    line = file.readline(most)
    except OSError as error:
        raise unopenable(error) from None


def _row(line: bytes, path: Path, limits: Limits) -> tuple[Service, Tool]:
    if len(line) > limits.bytes_read:
        raise Unreadable(f"is larger than {limits.bytes_read / MEGABYTE:,.6g} MB", "Split it.")
    value = parsed(decode(line.rstrip()))
    if not isinstance(value, Mapping):
        raise Unreadable("isn't an object", 'A line is {"id": ..., "title": ..., "text": ...}.')
    key, name = checked_name(value.get("id"), "id"), checked_name(value.get("title"), "title")
    server = text_of(value.get("server"))
    service = checked_name(server, "server") if server.strip() else service_name(path)
    fields = ("inputSchema", "outputSchema", "annotations")
    item = {"name": name, "description": value.get("text"), **{field: value.get(field) for field in fields}}
    tool = replace(tool_of(item, service), id=key, needs=tuple(_needs(value)))
    return _service(service, value), tool


def _service(key: str, value: Mapping[str, Any]) -> Service:
    return Service(
        id=key,
        name=text_of(value.get("server_name")).strip() or key,
        description=text_of(value.get("server_description")),
        category=text_of(value.get("category")),
    )


def _needs(value: Mapping[str, Any]) -> list[Need]:
    """Return the stated dependencies: those with a parameter and a reason, then those that are only names."""
    stated, names = value.get("dependencies"), value.get("depends_on")
    explained = [
        Need(name, text_of(item.get("parameter_name")), text_of(item.get("reason")))
        for item in (stated if isinstance(stated, list) else [])
        if isinstance(item, Mapping) and (name := text_of(item.get("name")))
    ]
    known = {need.tool for need in explained}
    plain = (name for name in (names if isinstance(names, list) else []) if isinstance(name, str) and name)
    return list(dict.fromkeys([*explained, *(Need(name) for name in plain if name not in known)]))
