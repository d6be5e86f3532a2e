"""Read lists of MCP tools: the results of ``tools/list``, bare or as the server's whole answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pipeline.domains.tools.records import Catalogue, Service, Tool
from pipeline.domains.tools.sources.schemas import checked_schema
from pipeline.ingest.sources.decode import decode, well_formed
from pipeline.ingest.sources.source import Unreadable, content_of
from pipeline.limits import Limits
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
    return catalogue_of(_service(path, value), listed, str(path))


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


def _service(path: Path, value: object) -> Service:
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
