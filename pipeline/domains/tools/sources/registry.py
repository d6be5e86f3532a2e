"""Read server descriptors: a folder with a server.yaml, and the server's tools in a tools.json if it has one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import yaml

from pipeline.domains.tools.records import Catalogue, Service
from pipeline.domains.tools.sources.listings import (
    LONGEST_NAME,
    catalogue_of,
    checked_name,
    parsed,
    service_name,
    text_of,
    tools_in,
)
from pipeline.ingest.sources.decode import decode, well_formed
from pipeline.ingest.sources.source import Unreadable, content_of, parser_errors
from pipeline.limits import Limits
from pipeline.records import Skipped

SERVER_FILE = "server.yaml"
TOOLS_FILE = "tools.json"
_SERVERS = "servers"
_LONGEST = 100_000
"""Longest descriptor, in characters: PyYAML reads a megabyte in ten seconds."""


def read_server(folder: Path, registry: str, limits: Limits) -> Catalogue:
    """Return the service that a folder describes, with its tools; the file of the two that can't be read is skipped.

    ``registry`` is the id of the registry that lists it. Tools without a readable descriptor are of a service that is
    called as the folder.
    """
    skipped: list[Skipped] = []
    service: Service | None = None
    described, listed = folder / SERVER_FILE, folder / TOOLS_FILE
    try:
        service = _service(described, registry, limits)
    except Unreadable as error:
        skipped.append(Skipped(str(described), error.message))
    try:
        tools = _tools(listed, limits) if listed.is_file() else []
    except Unreadable as error:
        skipped.append(Skipped(str(listed), error.message))
        tools = []
    if service is None and not tools:
        return Catalogue(skipped=skipped)
    name = service_name(described)
    read = catalogue_of(service or Service(name, name, registry=registry), tools, str(listed))
    return replace(read, skipped=[*skipped, *read.skipped])


def registry_folder(folder: Path, root: Path) -> Path | None:
    """Return the folder of the registry that lists the server in ``folder``, which is ``root`` or below it.

    It is the parent, or its parent if that is called servers. None if the server's own folder is the root.
    """
    if folder == root:
        return None
    parent = (root.resolve() / folder.relative_to(root)).parent
    return parent.parent if parent.name == _SERVERS and parent.parent.name else parent


def _tools(path: Path, limits: Limits) -> list[object]:
    listed = tools_in(parsed(decode(content_of(path, limits))))
    if listed is None:
        raise Unreadable("holds no list of tools", 'Give [{"name": ..., "description": ..., "arguments": [...]}].')
    return listed


def _service(path: Path, registry: str, limits: Limits) -> Service:
    value = _load(decode(content_of(path, limits)))
    if not isinstance(value, Mapping):
        raise Unreadable("describes no server", "It names the server: name, meta.category, about.description.")
    meta, about = (part if isinstance(part := value.get(name), Mapping) else {} for name in ("meta", "about"))
    name = checked_name(_scalar(value.get("name")) or service_name(path))
    tags = meta.get("tags")
    return Service(
        id=name,
        name=_scalar(about.get("title"))[:LONGEST_NAME] or name,
        description=_scalar(about.get("description")),
        category=_scalar(meta.get("category")),
        tags=tuple(dict.fromkeys(filter(None, map(_scalar, tags if isinstance(tags, list) else ())))),
        registry=registry,
    )


def _load(text: str) -> object:
    if len(text) > _LONGEST:
        raise Unreadable(f"has {len(text):,} characters", f"Keep it under {_LONGEST:,}.")
    with parser_errors("YAML"), _faults_named():
        # with aliases a few lines can expand to gigabytes, or a value can contain itself
        if "*" in text and any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise Unreadable("has an alias (*name)", "Write the value out.")
        return yaml.safe_load(text)


@contextmanager
def _faults_named() -> Iterator[None]:
    """Turn a fault that YAML has a place for into Unreadable."""
    try:
        yield
    except yaml.MarkedYAMLError as error:
        place = f" (line {error.problem_mark.line + 1})" if error.problem_mark else ""
        raise Unreadable(f"isn't YAML: {error.problem or 'malformed'}{place}", "Mend it, or leave it out.") from None


def _scalar(value: object) -> str:
    """Return a text, or a number that YAML makes of one; else an empty text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return well_formed(str(value) if is_number else text_of(value)).strip()
