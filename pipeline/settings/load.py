"""Read the settings: the defaults, the file of HOPRANK_CONFIG, the environment, flags."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import platformdirs
from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pipeline.errors import ConfigurationError
from pipeline.registry import Domain, registry
from pipeline.resources import resource_folder
from pipeline.settings import sections
from pipeline.settings.sections import Section

_NEO4J_FIELDS = ("uri", "username", "password", "database")


class _Unread(Section, extra="allow"):
    """The section of a domain that can't be used: any values, which nothing reads."""


_AnySection = TypeVar("_AnySection", bound=Section)


class _Neo4jVariables(EnvSettingsSource):
    """NEO4J_URI and the other variables of Neo4j's own tools."""

    def __call__(self) -> dict[str, Any]:
        variables = {name: self.env_vars.get(f"neo4j_{name}") for name in _NEO4J_FIELDS}
        non_empty = {name: value for name, value in variables.items() if value}
        return {"neo4j": non_empty} if non_empty else {}


class Settings(BaseSettings):
    """All settings, validated. ``home`` holds the embedded server; HOPRANK_HOME sets it.

    What :func:`load_settings` returns has a section for each domain too; see :meth:`section`.
    """

    model_config = SettingsConfigDict(
        env_prefix="HOPRANK_", env_nested_delimiter="__", env_ignore_empty=True, frozen=True, extra="forbid"
    )

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("hoprank", appauthor=False))
    neo4j: sections.Neo4jSettings
    server: sections.ServerSettings
    embed: sections.EmbedSettings
    chunk: sections.ChunkSettings
    sources: sections.SourceSettings
    ingest: sections.IngestSettings
    link: sections.LinkSettings
    fulltext: sections.FulltextSettings
    retrieve: sections.RetrieveSettings
    names: sections.NameSettings
    scorer: sections.ScorerSettings
    walk: sections.WalkSettings
    serve: sections.ServeSettings

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources of settings, highest precedence first."""
        files = [InitSettingsSource(settings_cls, values) for _, values in _files()]
        return init_settings, env_settings, _Neo4jVariables(settings_cls), *files

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

    Raises ConfigurationError, naming the setting, its origin and the allowed values.
    """
    try:
        return _settings_type()(**(flags or {}))
    except ValidationError as error:
        lines, files = [], _files()
        for fault in error.errors():
            name = ".".join(str(part) for part in fault["loc"])
            value = "" if "password" in name or name.startswith("serve.token") else f" {fault['input']!r}:"
            lines.append(f"{name} ({_origin(name, flags or {}, files)}):{value} {fault['msg']}")
        raise ConfigurationError("; ".join(lines), "`hoprank config show` lists every setting.") from error


def provenance(flags: Mapping[str, Any] | None = None) -> list[Provenance]:
    """Return all settings with their origins, in the order of their declaration."""
    settings, files = load_settings(flags), _files()
    return [Provenance(name, value, _origin(name, flags or {}, files)) for name, value in _flatten(settings)]


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
    for name in type(section).model_fields:
        value = getattr(section, name)
        if isinstance(value, BaseModel):
            rows += _flatten(value, f"{prefix}{name}.")
        else:
            rows.append((prefix + name, "" if value is None else str(value)))
    return rows


def _origin(name: str, flags: Mapping[str, Any], files: list[tuple[Path, dict[str, Any]]]) -> str:
    keys = name.split(".")
    if _has(flags, keys):
        return "flag"
    variables = {key.upper() for key, value in os.environ.items() if value}
    own = "HOPRANK_" + "__".join(keys).upper()
    if own in variables:
        return own
    if keys[0] == "neo4j" and keys[-1] in _NEO4J_FIELDS and (native := f"NEO4J_{keys[-1].upper()}") in variables:
        return native
    return next((str(path) for path, values in files if _has(values, keys)), "built in")


def _has(tree: Mapping[str, Any], keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(tree, Mapping) or key not in tree:
            return False
        tree = tree[key]
    return True
