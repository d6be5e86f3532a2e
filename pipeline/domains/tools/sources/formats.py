"""Read lists of MCP tools, server descriptors and corpora: models of what strangers write, and their readers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasPath, BaseModel, BeforeValidator, Field, ValidationError, WrapValidator
from pydantic import ValidatorFunctionWrapHandler as Handler

from pipeline.domains.tools.catalogue import Catalogue, Need, Service, Tool
from pipeline.domains.tools.sources.schemas import checked_schema
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Guard, Limits, Unreadable, lines, read_json, well_formed
from pipeline.files.guard import check_depth, storable
from pipeline.files.validated import validated
from pipeline.files.yaml import read_yaml
from pipeline.records import Skipped

SERVER_FILE, TOOLS_FILE, CORPUS_FILE = "server.yaml", "tools.json", "corpus.jsonl"

LONGEST_NAME = 500
"""Longest name of a tool or service, in characters: an entry of the graph's index can have 8 kB."""

_GENERIC = frozenset(("corpus", "server", "tools"))
_FORMAT = 'Give the result of tools/list: {"tools": [{"name": ..., "description": ..., "inputSchema": {...}}]}.'


def _or(default: Any) -> WrapValidator:
    """Return the validator that puts ``default`` in place of a value of another type: only names are indispensable."""

    def read(value: object, handler: Handler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            return default

    return WrapValidator(read)


def _named(name: str) -> str:
    if not name.strip():
        raise ValueError("it is blank")
    return name


def _or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _as_text(value: object) -> str:
    """Return a text, or a number that YAML makes of one; else an empty text."""
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


Name = Annotated[str, Field(max_length=LONGEST_NAME), AfterValidator(_named)]
Text = Annotated[str, _or("")]
Scalar = Annotated[str, BeforeValidator(_as_text)]


class Schemas(BaseModel):
    """The schemas and hints of a tool, as ``tools/list`` has them, or with ``arguments`` in place of a schema."""

    input: Any = Field(None, alias="inputSchema")
    output: Any = Field(None, alias="outputSchema")
    arguments: Any = None
    annotations: Annotated[dict[str, Any], _or({})] = {}

    def tool(self, name: str, service: str, description: str, title: str = "") -> Tool:
        """Return the tool; its id, which may not be unique yet, is ``service/name``."""
        given, fault = (self.input, "") if self.input is not None else _schema_of_arguments(self.arguments)
        accepts, returns = checked_schema(given), checked_schema(self.output)
        faults = {"input schema": fault or accepts.fault, "output schema": returns.fault}
        hints = {key: hint for key, hint in self.annotations.items() if isinstance(hint, str | int | float)}
        own_title = hints.get("title", "")
        return Tool(
            id=f"{service}/{name}",
            name=name,
            service=service,
            description=description,
            title=title or (own_title if isinstance(own_title, str) else ""),
            input=accepts.schema,
            output=returns.schema,
            annotations=hints,
            faults=tuple(f"{which} {fault}" for which, fault in faults.items() if fault),
        )


class _ListedTool(Schemas):
    name: Name
    title: Text = ""
    description: Text = ""


class _Dependency(BaseModel):
    tool: Text = Field("", alias="name")
    parameter: Text = Field("", alias="parameter_name")
    reason: Text = ""


class _Row(Schemas):
    id: Name
    title: Name
    text: Text = ""
    server: Annotated[Name | None, BeforeValidator(_or_none)] = None
    server_name: Text = ""
    server_description: Text = ""
    category: Text = ""
    depends_on: Annotated[list[Text], _or([])] = []
    dependencies: Annotated[list[Annotated[_Dependency, _or(_Dependency())]], _or([])] = []

    def needs(self) -> list[Need]:
        """Return the stated dependencies: those with a parameter and a reason, then those that are only names."""
        explained = [Need(each.tool, each.parameter, each.reason) for each in self.dependencies if each.tool]
        known = {need.tool for need in explained}
        named = [Need(name) for name in self.depends_on if name and name not in known]
        return list(dict.fromkeys([*explained, *named]))


class _Answer(BaseModel):
    tools: Annotated[list[Any] | None, _or(None)] = None
    server: Annotated[Name | None, _or(None)] = Field(None, validation_alias=AliasPath("serverInfo", "name"))
    title: Text = Field("", validation_alias=AliasPath("serverInfo", "title"))
    instructions: Text = ""


class _Descriptor(BaseModel):
    name: Annotated[str, Field(max_length=LONGEST_NAME), BeforeValidator(_as_text)] = ""
    category: Scalar = Field("", validation_alias=AliasPath("meta", "category"))
    tags: Annotated[list[Scalar], _or([])] = Field([], validation_alias=AliasPath("meta", "tags"))
    title: Scalar = Field("", validation_alias=AliasPath("about", "title"))
    description: Scalar = Field("", validation_alias=AliasPath("about", "description"))


def read_listing(path: Path, limits: Limits) -> Catalogue:
    """Return the tools of a JSON file and their service. Raises Unreadable if it holds no list of tools.

    The service is named by its ``serverInfo``, else after the file, or after the folder of a file called tools.json.
    """
    value = read_json(path, _guard(limits))
    service = Service(service_name(path), service_name(path))
    for answer in reversed(list(_answers(value))):
        if answer.server:
            service = Service(answer.server, answer.title or answer.server, answer.instructions)
    return catalogue_of(service, _tools_in(value), str(path))


def read_server(folder: Path, registry: str, limits: Limits) -> Catalogue:
    """Return the service that a folder describes, with its tools; an unreadable file of the two is skipped.

    ``registry`` is the id of the registry that lists it. Tools without a readable descriptor belong to a service named
    after the folder.
    """
    skipped: list[Skipped] = []
    service: Service | None = None
    tools: Sequence[Any] = []
    described, listed = folder / SERVER_FILE, folder / TOOLS_FILE
    try:
        service = _service(described, registry, limits)
    except Unreadable as error:
        skipped.append(Skipped(str(described), error.message))
    try:
        tools = _tools_in(read_json(listed, _guard(limits))) if listed.is_file() else []
    except Unreadable as error:
        skipped.append(Skipped(str(listed), error.message))
    if service is None and not tools:
        return Catalogue(skipped=skipped)
    name = service_name(described)
    read = catalogue_of(service or Service(name, name, registry=registry), tools, str(listed))
    return replace(read, skipped=[*skipped, *read.skipped])


def read_corpus(path: Path, limits: Limits) -> Catalogue:
    """Return the tools of a .jsonl file and their services; lines that are no tool are skipped.

    A line is ``{"id", "title", "text", "server", "server_name", "server_description", "category", "inputSchema",
    "outputSchema", "annotations", "depends_on", "dependencies"}``; only id and title are needed. Raises Unreadable if
    the file can't be opened.
    """
    services: dict[str, Service] = {}
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for line in lines(path, _guard(limits)):
        try:
            row = validated(_Row, line.json(), line.place, line.guard)
            key = row.server or service_name(path)
            services.setdefault(key, Service(key, row.server_name.strip() or key, row.server_description, row.category))
            tools.append(replace(row.tool(row.title, key, row.text), id=row.id, needs=tuple(row.needs())))
        except Unreadable as error:
            skipped.append(Skipped(line.place, error.message))
    return Catalogue(services=tuple(services.values()), tools=tools, skipped=skipped)


def read_given(server: str, tools: Sequence[Any], description: str, limits: Limits) -> Catalogue:
    """Return a server with its tools, given as ``tools/list`` answers them; those that can't be read are skipped.

    Raises SourceError if its name is blank or too long, or if no tool can be read.
    """
    name = well_formed(server).strip()
    if not 0 < len(name) <= LONGEST_NAME:
        raise SourceError(f"The server's name has {len(name)} characters.", f"Give it one of 1 to {LONGEST_NAME}.")
    read = catalogue_of(Service(name, name, well_formed(description)), tools, name, limits)
    if not read.tools:
        reason = next((f"{one.source} {one.reason}" for one in read.skipped), f"{name} has no tools")
        raise SourceError(f"{reason}.", _FORMAT)
    return read


def catalogue_of(service: Service, listed: Sequence[Any], source: str, limits: Limits = DEFAULT_LIMITS) -> Catalogue:
    """Return a service with its tools; those that can't be read are skipped. ``source`` is where they are from."""
    guard = Guard(Unreadable, _FORMAT, limits=limits, mend=True)
    tools: list[Tool] = []
    skipped: list[Skipped] = []
    for number, item in enumerate(listed, 1):
        place = f"{source}, tool {number}"
        try:
            check_depth(item, guard)
            one = validated(_ListedTool, storable(item, guard), place, guard)
            tools.append(one.tool(one.name, service.id, one.description, one.title))
        except Unreadable as error:
            skipped.append(Skipped(place, error.message))
    return Catalogue(services=(service,), tools=tools, skipped=skipped)


def service_name(path: Path) -> str:
    """Return the name of the service of a file that doesn't name it: the file's, or its folder's."""
    stem = path.stem if path.stem not in _GENERIC else path.resolve().parent.name or path.stem
    return well_formed(stem)[:LONGEST_NAME]


def _guard(limits: Limits) -> Guard:
    return Guard(Unreadable, limits=limits, mend=True)


def _answers(value: object) -> Iterator[_Answer]:
    """Yield what a file holds as a server's answer, and the result in it if it is a whole JSON-RPC response."""
    for level in (value, value.get("result") if isinstance(value, Mapping) else None):
        if isinstance(level, Mapping):
            yield _Answer.model_validate(level)


def _tools_in(value: object) -> list[Any]:
    """Return the tools of a list, of ``{"tools": [...]}``, or of a JSON-RPC response with it. Raises Unreadable."""
    for listed in (value, *(answer.tools for answer in _answers(value))):
        if isinstance(listed, list):
            return listed
    raise Unreadable("holds no list of tools", _FORMAT)


def _service(path: Path, registry: str, limits: Limits) -> Service:
    guard = _guard(limits)
    value = read_yaml(path, guard)
    if not isinstance(value, Mapping):
        raise Unreadable("describes no server", "It names the server: name, meta.category, about.description.")
    read = validated(_Descriptor, value, path, guard)
    name = read.name or service_name(path)
    return Service(
        id=name,
        name=read.title[:LONGEST_NAME] or name,
        description=read.description,
        category=read.category,
        tags=tuple(dict.fromkeys(filter(None, read.tags))),
        registry=registry,
    )


def _schema_of_arguments(arguments: object) -> tuple[object, str]:
    """Return the schema of an object with these properties, or None; and what is wrong with them.

    An argument is ``{"name", "type", "desc"}`` with further keywords of JSON Schema, such as ``items``. It is required
    unless it says ``"optional": true`` or ``"required": false``.
    """
    if arguments is None:
        return None, ""
    if not isinstance(arguments, list):
        return None, "can't be made: its arguments aren't a list"
    properties: dict[str, dict[str, object]] = {}
    required: list[str] = []
    for number, argument in enumerate(arguments, 1):
        name = argument.get("name") if isinstance(argument, Mapping) else None
        if not isinstance(name, str) or not name:
            return None, f"can't be made: argument {number} has no name"
        if name not in properties and argument.get("optional") is not True and argument.get("required") is not False:
            required.append(name)
        own = ("name", "desc", "description", "optional", "required")
        properties[name] = {key: value for key, value in argument.items() if key not in own and value is not None}
        if description := argument.get("desc") or argument.get("description"):
            properties[name]["description"] = description
    return {"type": "object", "properties": properties, **({"required": required} if required else {})}, ""
