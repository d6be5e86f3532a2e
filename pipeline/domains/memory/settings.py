"""The section ``memory`` of the settings."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from pipeline.settings import Section


class RelationType(BaseModel):
    """A relation type that the settings add; no types of an end mean any."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: list[str] = []
    target: list[str] = []
    description: str = ""


class MemorySettings(Section):
    """The types and limits of a memory; ``defaults.toml`` says what each setting is.

    The class's own values were chosen by hand; tests/benchmarks/bench_memory_dedupe.py counts what the thresholds of
    ``dedupe`` find among names varied by rule.
    """

    scope: str = Field(min_length=1, pattern=r"^[^|]+$")
    timezone: str = Field(min_length=1)
    entity_types: dict[str, str]
    relation_types: dict[str, RelationType]
    exclusive: list[str]
    relevance: float = Field(ge=0, le=1)
    entity_relevance: float = Field(ge=0, le=1)

    # Types of entities that are found by meaning, too; code that has a summary or documentation.
    embedded_types: ClassVar[tuple[str, ...]] = (
        "concept", "convention", "error_pattern", "person", "library", "module", "config", "file", "class", "function",
    )  # fmt: skip
    concept_mentions: ClassVar[int] = 2  # memories that share a name before it is a concept
    themes: ClassVar[tuple[str, ...]] = ("concept", "module", "convention")  # types that the high level counts twice
    wait: ClassVar[float] = 30.0  # seconds to wait while another process writes to the memory
    dedupe_cosine: ClassVar[float] = 0.90  # the least cosine of two entities that may be one
    # How strong a variant of a name, from 0 to 1, makes two entities one without a second sign.
    dedupe_strength: ClassVar[float] = 0.90
    # Metadata; two entities that differ in it stay apart.
    dedupe_identity: ClassVar[tuple[str, ...]] = (
        "email", "emails", "ecosystem", "language", "registry", "repository", "url", "path", "uuid", "login",
    )  # fmt: skip
    # Types whose entities the whole name identifies: never merged unasked.
    dedupe_whole_names: ClassVar[tuple[str, ...]] = ("file", "module", "class", "function")
