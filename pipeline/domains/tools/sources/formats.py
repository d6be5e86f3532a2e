"""Read lists of MCP tools, server descriptors and corpora."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import yaml

from pipeline.domains.tools.catalogue import Catalogue, Need, Service, Tool
from pipeline.domains.tools.sources.schemas import checked_schema
from pipeline.ingest.sources.decode import decode, well_formed
from pipeline.ingest.sources.source import Unreadable, content_of, parser_errors, unopenable
from pipeline.limits import MEGABYTE, Limits
from pipeline.records import Skipped

LONGEST_NAME = 500
"""Longest name of a tool or service, in characters: an entry of the graph's index can have 8 kB."""

_GENERIC = frozenset(("corpus", "server", "tools"))
_FORMAT = 'Give the result of tools/list: {"tools": [{"name": ..., "description": ..., "inputSchema": {...}}]}.'


def read_listing(path: Path, limits: Limits) -> Catalogue:
    """Return the tools of a JSON file and their service. Raises Unreadable if it holds no list of tools.

    The service is called as its ``serverInfo`` says, else as the file, or as the folder of a file called tools.json.
    """
    value = parsed(decode(content_of(path, limits)))
    listed = tools_in(value)
    if listed is None:
        raise Unreadable("holds no list of tools", _FORMAT)
    return catalogue_of(_listed_service(path, value), listed, str(path))


def parsed(text: str) -> Any:
    """Return the value of a JSON text, with texts that can be stored as UTF-8. Raises Unreadable."""
    try:
        return cleaned(json.loads(text, parse_constant=_not_json))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise Unreadable(f"isn't JSON: {error.msg} at {place}", "Mend it, or leave it out.") from None
    except ValueError as error:
        raise Unreadable(f"isn't JSON: {error}", "Mend it, or leave it out.") from None
    except RecursionError:
        raise Unreadable("is nested too deeply", "Leave it out.") from None


def cleaned(value: Any) -> Any:
    """Return a value of JSON with the replacement character for what can't be stored as UTF-8 (see well_formed)."""
    match value:
        case str():
            return well_formed(value)
        case list():
            return [cleaned(item) for item in value]
        case dict():
            return {well_formed(name): cleaned(item) for name, item in value.items()}
    return value


def tools_in(value: object) -> list[Any] | None:
    """Return the tools of a list, of ``{"tools": [...]}``, or of a JSON-RPC response with it; else None."""
    for level in (value, _field(value, "tools"), _field(_field(value, "result"), "tools")):
        if isinstance(level, list):
            return level
    return None


def service_name(path: Path) -> str:
    """Return what to call the service of a file that doesn't name it: as the file, or as its folder."""
    stem = path.stem if path.stem not in _GENERIC else path.resolve().parent.name or path.stem
    return well_formed(stem)[:LONGEST_NAME]


def catalogue_of(service: Service, listed: Sequence[Any], source: str) -> Catalogue:
    """Return a service with its tools; those that can't be read are skipped. ``source`` is where they are from."""
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for number, item in enumerate(listed, 1):
        try:
            tools.append(tool_of(item, service.id))
        except Unreadable as error:
            skipped.append(Skipped(f"{source}, tool {number}", error.message))
    return Catalogue(services=(service,), tools=tools, skipped=skipped)


def tool_of(item: Any, service: str) -> Tool:
    """Return a tool as ``tools/list`` has it, or with ``arguments`` in place of a schema. Raises Unreadable.

    Its id, which may not be unique yet, is ``service/name``.
    """
    if not isinstance(item, Mapping):
        raise Unreadable("isn't an object", _FORMAT)
    name = checked_name(item.get("name"))
    given, fault = item.get("inputSchema"), ""
    if given is None:
        given, fault = _schema_of_arguments(item.get("arguments"))
    accepts, returns = checked_schema(given), checked_schema(item.get("outputSchema"))
    faults = {"input schema": fault or accepts.fault, "output schema": returns.fault}
    return Tool(
        id=f"{service}/{name}",
        name=name,
        service=service,
        description=text_of(item.get("description")),
        title=text_of(item.get("title")) or text_of(_field(item.get("annotations"), "title")),
        input=accepts.schema,
        output=returns.schema,
        annotations=_annotations(item.get("annotations")),
        faults=tuple(f"{which} {fault}" for which, fault in faults.items() if fault),
    )


def checked_name(value: object, what: str = "name") -> str:
    """Return the name of a tool or service. Raises Unreadable if there is none, or if it is too long."""
    if not isinstance(value, str) or not value.strip():
        raise Unreadable(f"has no {what}", f"Give it a {what}.")
    if len(value) > LONGEST_NAME:
        raise Unreadable(f"has a {what} of {len(value):,} characters", f"Keep it under {LONGEST_NAME:,}.")
    return value


def text_of(value: object) -> str:
    """Return a text as it is; empty if ``value`` is none."""
    return value if isinstance(value, str) else ""


def _listed_service(path: Path, value: object) -> Service:
    for level in (value, _field(value, "result")):
        info = _field(level, "serverInfo")
        try:
            name = checked_name(_field(info, "name"))
        except Unreadable:
            continue
        return Service(name, text_of(_field(info, "title")) or name, text_of(_field(level, "instructions")))
    return Service(service_name(path), service_name(path))


def _schema_of_arguments(arguments: object) -> tuple[object, str]:
    """Return the schema of an object with these properties, or None; and what is wrong with them.

    An argument is ``{"name", "type", "desc"}`` with further keywords of JSON Schema, such as ``items``. It is required
    unless it says ``"optional": true`` or ``"required": false``.
    """
    if arguments is None:
        return None, ""
    if not isinstance(arguments, list):
        return None, "can't be made: its arguments aren't a list"
    properties: dict[str, object] = {}
    required: list[str] = []
    for number, argument in enumerate(arguments, 1):
        name = _field(argument, "name")
        if not isinstance(name, str) or not name:
            return None, f"can't be made: argument {number} has no name"
        if name not in properties and argument.get("optional") is not True and argument.get("required") is not False:
            required.append(name)
        description = argument.get("desc") or argument.get("description")
        kept = {key: value for key, value in argument.items() if key not in _OF_ARGUMENTS and value is not None}
        properties[name] = {**kept, **({"description": description} if description else {})}
    schema = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema, ""


_OF_ARGUMENTS = frozenset(("name", "desc", "description", "optional", "required"))


def _annotations(value: object) -> dict[str, Any]:
    """Return the hints that are texts, numbers, true or false, as those of MCP are."""
    fields = value if isinstance(value, Mapping) else {}
    return {name: hint for name, hint in fields.items() if isinstance(hint, str | int | float)}


def _field(value: object, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


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
        service = _described_service(described, registry, limits)
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


def _described_service(path: Path, registry: str, limits: Limits) -> Service:
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
    return _row_service(service, value), tool


def _row_service(key: str, value: Mapping[str, Any]) -> Service:
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
