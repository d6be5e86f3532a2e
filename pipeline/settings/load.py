"""Read the settings: the defaults, the file of HOPRANK_CONFIG, the environment, flags."""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import platformdirs
from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer, ValidationError, create_model
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pipeline.addresses import without_password
from pipeline.errors import ConfigurationError, did_you_mean
from pipeline.registry import Domain, registry
from pipeline.resources import resource_folder
from pipeline.settings import sections
from pipeline.settings.sections import Section
from pipeline.settings.weights import Weights, read_weights

_NEO4J_FIELDS = ("uri", "username", "password", "database")

_STRUCTURES = {
    "tuple_type": "list",
    "list_type": "list",
    "dict_type": "table",
    "model_type": "table",
    "model_attributes_type": "table",
}
"""Kinds of values of settings, by the type of pydantic's error about a value that is neither a list nor a table."""

_ALIKE = 0.7
"""Similarity from which a name is suggested for another. Chosen by hand: all names of a section are somewhat alike."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class _Unread(Section, extra="allow"):
    """The section of a domain that can't be used: any values, which nothing reads."""


_AnySection = TypeVar("_AnySection", bound=Section)


class _Variables(EnvSettingsSource):
    """Variables of HopRank, such as HOPRANK_EMBED__MODEL; lists and tables are TOML values."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:  # noqa: ARG002
        """Return a list or table; any other text as it is, which the setting then refuses by its name."""
        try:
            return toml_value(value)
        except ValueError:
            return value


class _Neo4jVariables(EnvSettingsSource):
    """NEO4J_URI and the other variables of Neo4j's own tools."""

    def __call__(self) -> dict[str, Any]:
        variables = {name: self.env_vars.get(f"neo4j_{name}") for name in _NEO4J_FIELDS}
        non_empty = {name: value for name, value in variables.items() if value}
        return {"neo4j": non_empty} if non_empty else {}


def _as_weights(given: object) -> object:
    return read_weights(given) if isinstance(given, str) else given


class Settings(BaseSettings):
    """All settings, validated. ``home`` holds the embedded server; HOPRANK_HOME sets it.

    What :func:`load_settings` returns has a section for each domain too; see :meth:`section`.
    """

    model_config = SettingsConfigDict(
        env_prefix="HOPRANK_", env_nested_delimiter="__", env_ignore_empty=True, frozen=True, extra="forbid"
    )

    weights: Annotated[Weights, BeforeValidator(_as_weights), PlainSerializer(lambda weights: weights.file)]
    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("hoprank", appauthor=False))
    neo4j: sections.Neo4jSettings
    server: sections.ServerSettings
    embed: sections.EmbedSettings
    chunk: sections.ChunkSettings
    sources: sections.SourceSettings
    ingest: sections.IngestSettings
    ray: sections.RaySettings
    link: sections.LinkSettings
    fulltext: sections.FulltextSettings
    retrieve: sections.RetrieveSettings
    walk: sections.WalkSettings
    ask: sections.AskSettings
    observe: sections.ObserveSettings
    serve: sections.ServeSettings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class's signature
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings, highest precedence first."""
        files = [InitSettingsSource(settings_cls, values) for _, values in _files()]
        return init_settings, _Variables(settings_cls), _Neo4jVariables(settings_cls), *files

    @property
    def data_home(self) -> Path:
        """``home`` as an absolute path, with ``~`` expanded; raises ConfigurationError for a user there isn't."""
        try:
            return self.home.expanduser().absolute()
        except RuntimeError as error:
            fix = "Set HOPRANK_HOME to a folder that you may write to."
            raise ConfigurationError(f"The home {str(self.home)!r} can't be found: {error}", fix) from None

    def section(self, kind: type[_AnySection]) -> _AnySection:
        """Return the section of a domain, by its class; raises ConfigurationError if no domain brings it."""
        for name in type(self).model_fields:
            if isinstance(value := getattr(self, name), kind):
                return value
        raise ConfigurationError(
            f"There is no section of settings for {kind.__module__}.{kind.__qualname__}.",
            "The domain must name it in its declaration, and have another name than the sections of HopRank.",
        )


@dataclass(frozen=True, slots=True)
class Provenance:
    """A setting's dotted name, its value (secrets masked), and its origin."""

    name: str
    value: str
    origin: str


def load_settings(flags: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings; ``flags`` holds nested values that override all others, e.g. ``{"embed": {"model": "..."}}``.

    A text for a list or a table is its TOML value. Raises ConfigurationError, naming the setting, its origin and the
    allowed values.
    """
    return _load(flags or {})[0]


def _load(flags: Mapping[str, Any]) -> tuple[Settings, Mapping[str, Any]]:
    """Return the settings, and the flags with the values of texts for lists and tables."""
    _check_variables()
    try:
        return _settings_type()(**flags), flags
    except ValidationError as error:
        faults = error.errors()
        parsed = _parsed(flags, faults)
        if parsed == flags:
            raise _refusal(faults, flags) from error
    return _load(parsed)


def _check_variables() -> None:
    """Raise ConfigurationError for a variable that is meant for a setting, and that pydantic would ignore."""
    known = {f"HOPRANK_{name.replace('.', '__')}".upper(): name for name in _names(_settings_type())}
    meant = {name.replace("__", "_"): name for name in known}
    for variable in sorted(name for name, value in os.environ.items() if name.upper().startswith("HOPRANK_") and value):
        given = variable.upper()
        section, parts, _ = given.removeprefix("HOPRANK_").partition("__")
        if parts and section.lower() not in _settings_type().model_fields:
            fix = did_you_mean(given, known, "`hoprank config show` lists every setting.", cutoff=_ALIKE)
            raise ConfigurationError(f"{variable} sets nothing: there is no section {section.lower()!r}.", fix)
        if not parts and given not in known and given in meant:
            raise ConfigurationError(f"{variable} sets nothing.", f"Did you mean {meant[given]!r}?")


def _names(kind: type[BaseModel]) -> Iterator[str]:
    """Yield the names of sections and settings, dotted."""
    for name, field in kind.model_fields.items():
        yield name
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from (f"{name}.{inner}" for inner in _names(field.annotation))


def toml_value(text: str) -> Any:
    """Return the list, table or string in quotes that ``text`` is as a TOML value, or as JSON; else the text as it is.

    Raises ValueError if it begins as one of them and can't be read.
    """
    if not text.lstrip().startswith(("[", "{", '"', "'")):
        return text
    try:
        (value,) = tomllib.loads(f"value = {text}").values()
    except (ValueError, RecursionError) as error:
        try:
            return json.loads(text)  # {"a": 1} is no TOML
        except (ValueError, RecursionError):
            raise ValueError(str(error).partition(" (at ")[0]) from None
    return value


def _parsed(flags: Mapping[str, Any], faults: list[ErrorDetails]) -> dict[str, Any]:
    """Return the flags with the values of the texts that lists or tables were expected for."""
    # Only the types of the settings tell a list from a text in brackets, and pydantic alone knows them all.
    parsed = deepcopy(dict(flags))
    for fault in faults:
        *parents, last = fault["loc"]
        section: Any = parsed
        for key in parents:
            section = section.get(key) if isinstance(section, dict) else None
        if fault["type"] in _STRUCTURES and isinstance(section, dict) and isinstance(section.get(last), str):
            with suppress(ValueError):
                section[last] = toml_value(section[last])
    return parsed


def _refusal(faults: list[ErrorDetails], flags: Mapping[str, Any]) -> ConfigurationError:
    origins, lines, fixes = _Origins(flags), [], []
    for fault in faults:
        name = ".".join(str(part) for part in fault["loc"])
        origin, problem, kind = origins.of(name), fault["msg"], _STRUCTURES.get(fault["type"])
        if fault["type"] == "extra_forbidden":
            # without its value: a misspelt name doesn't tell whether that is a secret
            lines.append(f"{name} ({origin}): there is no such setting")
            fixes.append(did_you_mean(name, _names(_settings_type()), f"There is no setting {name}.", cutoff=_ALIKE))
            continue
        if kind:
            problem = f"a {kind} is expected{_why_unread(fault['input'])}"
            fixes.append(_how_to_write(fault["loc"], kind, origin))
        value = (
            "" if _may_be_secret(name) or fault["type"] == "login" else f" {without_password(repr(fault['input']))}:"
        )
        lines.append(f"{name} ({origin}):{value} {problem}")
    return ConfigurationError("; ".join(lines), " ".join([*fixes[:1], "`hoprank config show` lists every setting."]))


def _may_be_secret(name: str) -> bool:
    is_section = "." not in name  # given as one table, which may hold anything
    return is_section or "password" in name or "api_key" in name or name.startswith("serve.token")


def _why_unread(value: object) -> str:
    try:
        toml_value(value if isinstance(value, str) else "")
    except ValueError as error:
        return f"; as TOML: {error}"
    return ""


def _how_to_write(place: tuple[int | str, ...], kind: str, origin: str) -> str:
    value, name = '["first", "second"]' if kind == "list" else '{name = "value"}', ".".join(map(str, place))
    if origin == "flag" and all(isinstance(part, str) for part in place):
        return f"Write a {kind} as TOML, in quotes for the shell: --set '{name}={value}'."
    if origin == f"HOPRANK_{name.replace('.', '__').upper()}":
        return f"Write a {kind} as TOML, in quotes for the shell: {origin}='{value}'."
    return f"Write a {kind} as TOML: {value}."


def provenance(flags: Mapping[str, Any] | None = None) -> list[Provenance]:
    """Return all settings with their origins, in the order of their declaration.

    A value is written as ``--set`` and the environment take it: a text as it is, all others as TOML.
    """
    settings, flags = _load(flags or {})
    origins = _Origins(flags)
    return [Provenance(name, value, origins.of(name)) for name, value in _flatten(settings)]


class _Origins:
    """The origins of settings: flags, variables and files."""

    def __init__(self, flags: Mapping[str, Any]) -> None:
        self._flags = flags
        self._variables = {key.upper() for key, value in os.environ.items() if value}
        self._set_by_variables = _Variables(_settings_type())()
        self._files = _files()

    def of(self, name: str) -> str:
        """Return the origin of a setting, or of a part of one."""
        keys = name.split(".")
        if _has(self._flags, keys):
            return "flag"
        return self._variable(keys) or next(
            (str(path) for path, values in self._files if _has(values, keys)), "built in"
        )

    def _variable(self, keys: list[str]) -> str:
        if _has(self._set_by_variables, keys):
            own, *above = (f"HOPRANK_{'__'.join(keys[:end]).upper()}" for end in range(len(keys), 0, -1))
            parts = sorted(name for name in self._variables if name.startswith(f"{own}__"))
            return next(name for name in (own, *parts, *above) if name in self._variables)
        native = f"NEO4J_{keys[-1].upper()}"
        is_native = keys[0] == "neo4j" and keys[-1] in _NEO4J_FIELDS and native in self._variables
        return native if is_native else ""


@cache
def _settings_type() -> type[Settings]:
    unread: dict[str, Any] = {domain.name: (_Unread, _Unread()) for domain in registry().unusable}
    sections = {name: (kind, _Unread() if kind is _Unread else ...) for name, kind in _domain_sections().items()}
    return create_model("Settings", __base__=Settings, **(unread | sections))


@cache
def _domain_sections() -> dict[str, type[Section]]:
    """Return the class of each domain's section, by name; a name that Settings has already stays its own."""
    taken = Settings.model_fields.keys() | vars(Settings).keys() | vars(BaseSettings).keys() | vars(BaseModel).keys()
    return {
        domain.name: _section_of(domain, domain.settings)
        for domain in registry().domains
        if domain.settings and domain.name not in taken
    }


def _section_of(domain: Domain, target: str) -> type[Section]:
    # Other commands work without a domain that can't be imported; its own commands say what is wrong with it.
    try:
        kind = domain.load(target)
    except ConfigurationError:
        return _Unread
    return kind if isinstance(kind, type) and issubclass(kind, Section) else _Unread


def _files() -> list[tuple[Path, dict[str, Any]]]:
    """Return the TOML files with their values by section, highest precedence first."""
    chosen = os.environ.get("HOPRANK_CONFIG")
    files = [(Path(chosen), _read_toml(Path(chosen)))] if chosen else []
    sections = _domain_sections()
    for domain in reversed(registry().domains):
        if sections.get(domain.name, _Unread) is not _Unread:
            path = domain.folder / "defaults.toml"
            files.append((path, {domain.name: domain.guarded(partial(_read_toml, path))}))
    path = resource_folder("configs") / "default.toml"
    return [*files, (path, _read_toml(path))]


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(f"No configuration file at {path}.", "Check HOPRANK_CONFIG.") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{path} can't be read as TOML: {error}.", "Mend the file, or unset HOPRANK_CONFIG."
        ) from error


def _flatten(section: BaseModel, prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    values = section.model_dump(mode="json")  # secrets are masked in it
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            rows += _flatten(value, f"{prefix}{name}.")
        else:
            plain = values[name]
            rows.append((prefix + name, without_password(plain) if isinstance(plain, str) else _as_toml(plain)))
    return rows


def _as_toml(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return f"[{', '.join(map(_as_toml, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_key(name)} = {_as_toml(one)}" for name, one in value.items() if one is not None)
        return f"{{{', '.join(pairs)}}}"
    return json.dumps(value, ensure_ascii=False)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def _has(tree: Mapping[str, Any], keys: list[str]) -> bool:
    """Return whether a tree of values has this one, or one that holds it: what is wrong may be within a list."""
    for key in keys:
        if not isinstance(tree, Mapping):
            return True
        if key not in tree:
            return False
        tree = tree[key]
    return True
