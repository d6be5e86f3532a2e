"""Settings, in rising precedence: ``configs/default.toml``, the file of HOPRANK_CONFIG, the environment, flags.

The sections here declare the allowed values; the defaults are in ``configs/default.toml`` only.

Only this module reads settings from the environment. All others receive values.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from pipeline.errors import ConfigurationError
from pipeline.resources import resource_folder

_NEO4J_FIELDS = ("uri", "username", "password", "database")


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Neo4jSettings(_Section):
    """The server to use; without ``uri`` the embedded server."""

    uri: str | None = Field(default=None, pattern=r"^(bolt|neo4j)(\+s|\+ssc)?://.+")
    username: str
    password: SecretStr | None = None
    database: str
    connection_timeout: float = Field(gt=0)
    retry_time: float = Field(ge=0)
    read_timeout: float = Field(ge=0)
    write_timeout: float = Field(ge=0)


class ServerSettings(_Section):
    """The embedded server's limits."""

    idle_minutes: float = Field(ge=0)
    start_timeout: float = Field(gt=0)
    heap_mb: int | None = Field(default=None, ge=256)
    page_cache_mb: int | None = Field(default=None, ge=8)


class EmbedSettings(_Section):
    """The embedding model, its device, precision and batch size."""

    model: str = Field(min_length=1)
    device: str
    precision: Literal["auto", "float32", "bfloat16"]
    batch_tokens: int = Field(ge=1)


class ChunkSettings(_Section):
    """Length of chunks in the embedder's tokens; ``max_tokens`` 0 means the most that the embedder reads."""

    max_tokens: int = Field(ge=0)
    overlap: int = Field(ge=0)


class SourceSettings(_Section):
    """Limits of the sources."""

    max_megabytes: float = Field(gt=0)

    @property
    def max_bytes(self) -> int:
        """``max_megabytes`` in bytes."""
        return int(self.max_megabytes * 2**20)


class IngestSettings(_Section):
    """Waiting for another writer, in seconds."""

    wait: float = Field(ge=0)


class LinkSettings(_Section):
    """Links of chunks: similarity, titles, and the extractor of names."""

    similar_top_k: int = Field(ge=0)
    similar_threshold: float = Field(ge=-1, le=1)
    similar_hub_cap: int = Field(ge=1)
    exact_up_to: int = Field(ge=0)
    title_shared_by: int = Field(ge=1)
    extractor: Literal["builtin", "spacy"]
    spacy_model: str = Field(min_length=1)


class FulltextSettings(_Section):
    """The full-text index; ``analyzer`` is fixed when a corpus is created."""

    analyzer: str = Field(pattern=r"^[A-Za-z0-9_-]+$")


class RetrieveSettings(_Section):
    """Numbers of candidates and of scored chunks, the limit of hop expansion, the fusion of rankings, open corpora."""

    candidates: int = Field(ge=1)
    scored: int = Field(ge=1)
    hop_hub: int = Field(ge=1)
    fuse_k: float = Field(gt=0)
    fuse_scorer: float = Field(ge=0)
    open_corpora: int = Field(ge=1)


class NameSettings(_Section):
    """Weights of the logistic regression that estimates whether a name in the question leads to the answer."""

    intercept: float
    cosine: float
    agreement: float
    frequency: float
    capitals: float


class ScorerSettings(_Section):
    """Weights of the scorer's features, by name; see :class:`pipeline.retrieve.scoring.scorer.Scorer`."""

    unnamed: dict[str, float]
    confident: dict[str, float]
    named: dict[str, float]


class WalkSettings(_Section):
    """The walk: its engine, its seeds, the weights of its edges, and its convergence."""

    engine: Literal["auto", "gds", "local"]
    gds_up_to: int = Field(ge=0)
    damping: float = Field(gt=0, lt=1)
    iterations: int = Field(ge=1)
    tolerance: float = Field(gt=0)
    chunk_seeds: int = Field(ge=1)
    steepness: float = Field(ge=0)
    names: float = Field(ge=0)
    title: float = Field(ge=0)
    link: float = Field(ge=0)
    similar: float = Field(ge=0)
    next: float = Field(ge=0)
    projection_megabytes: int = Field(ge=1)


class SkillSettings(_Section):
    """The edges of a skill graph: their weights, and the thresholds for linking."""

    top_k: int = Field(ge=1)
    tags: float = Field(ge=0, le=1)
    similar: float = Field(ge=-1, le=1)
    mention: float = Field(ge=0)
    package: float = Field(ge=0)
    folder: float = Field(ge=0)
    restart_prob: float = Field(gt=0, le=1)
    near_name: float = Field(ge=0, le=1)
    near_meaning: float = Field(ge=0, le=1)


class _Neo4jVariables(EnvSettingsSource):
    """NEO4J_URI and the other variables of Neo4j's own tools."""

    def __call__(self) -> dict[str, Any]:
        variables = {name: self.env_vars.get(f"neo4j_{name}") for name in _NEO4J_FIELDS}
        non_empty = {name: value for name, value in variables.items() if value}
        return {"neo4j": non_empty} if non_empty else {}


class _TomlFile(PydanticBaseSettingsSource):
    """A TOML file."""

    def __init__(self, settings_cls: type[BaseSettings], path: Path) -> None:
        super().__init__(settings_cls)
        self._path = path

    def get_field_value(self, field: Any, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002 - the base class's signature
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        return _read_toml(self._path)


class Settings(BaseSettings):
    """All settings, validated. ``home`` holds the embedded server; HOPRANK_HOME sets it."""

    model_config = SettingsConfigDict(
        env_prefix="HOPRANK_", env_nested_delimiter="__", env_ignore_empty=True, frozen=True, extra="forbid"
    )

    home: Path = Field(default_factory=lambda: platformdirs.user_data_path("hoprank", appauthor=False))
    neo4j: Neo4jSettings
    server: ServerSettings
    embed: EmbedSettings
    chunk: ChunkSettings
    sources: SourceSettings
    ingest: IngestSettings
    link: LinkSettings
    fulltext: FulltextSettings
    retrieve: RetrieveSettings
    names: NameSettings
    scorer: ScorerSettings
    walk: WalkSettings
    skills: SkillSettings

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
        files = [_TomlFile(settings_cls, path) for path in reversed(_config_files())]
        return init_settings, env_settings, _Neo4jVariables(settings_cls), *files

    @property
    def data_home(self) -> Path:
        """``home`` as an absolute path, with ``~`` expanded."""
        return self.home.expanduser().absolute()


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
        return Settings(**(flags or {}))
    except ValidationError as error:
        raise ConfigurationError(_explain(error, flags or {}), "`hoprank config show` lists every setting.") from error


def provenance(flags: Mapping[str, Any] | None = None) -> list[Provenance]:
    """Return all settings with their origins, in the order of their declaration."""
    settings = load_settings(flags)
    return [Provenance(name, value, _origin(name, flags or {})) for name, value in _flatten(settings)]


def _config_files() -> list[Path]:
    """Return the paths of the TOML files, lowest precedence first."""
    chosen = os.environ.get("HOPRANK_CONFIG")
    return [resource_folder("configs") / "default.toml", *([Path(chosen)] if chosen else [])]


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigurationError(f"No configuration file at {path}.", "Check HOPRANK_CONFIG.") from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
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


def _origin(name: str, flags: Mapping[str, Any]) -> str:
    keys = name.split(".")
    if _has(flags, keys):
        return "flag"
    variables = {key.upper() for key, value in os.environ.items() if value}
    own = "HOPRANK_" + "__".join(keys).upper()
    if own in variables:
        return own
    if keys[0] == "neo4j" and keys[-1] in _NEO4J_FIELDS and (native := f"NEO4J_{keys[-1].upper()}") in variables:
        return native
    for path in reversed(_config_files()):
        if _has(_read_toml(path), keys):
            return str(path)
    return "built in"


def _has(tree: Mapping[str, Any], keys: list[str]) -> bool:
    for key in keys:
        if not isinstance(tree, Mapping) or key not in tree:
            return False
        tree = tree[key]
    return True


def _explain(error: ValidationError, flags: Mapping[str, Any]) -> str:
    lines = []
    for fault in error.errors():
        name = ".".join(str(part) for part in fault["loc"])
        value = "" if "password" in name else f" {fault['input']!r}"
        lines.append(f"{name} ({_origin(name, flags)}):{value}: {fault['msg']}")
    return "; ".join(lines)
