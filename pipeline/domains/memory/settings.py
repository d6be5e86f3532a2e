"""The section ``memory`` of the settings."""

from pydantic import BaseModel, ConfigDict, Field

from pipeline.settings import Section


class RelationType(BaseModel):
    """A relation type that the settings add; no types of an end mean any."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: list[str] = []
    target: list[str] = []
    description: str = ""


class MemorySettings(Section):
    """The types, limits and weights of a memory; ``defaults.toml`` says what each is, and how it was chosen."""

    scope: str = Field(min_length=1, pattern=r"^[^|]+$")
    timezone: str = Field(min_length=1)
    entity_types: dict[str, str]
    relation_types: dict[str, RelationType]
    exclusive: list[str]
    embedded_types: list[str]
    concept_mentions: int = Field(ge=2)
    themes: list[str]
    relevance: float = Field(ge=0, le=1)
    entity_relevance: float = Field(ge=0, le=1)
    wait: float = Field(ge=0)
    dedupe_cosine: float = Field(gt=0, le=1)
    dedupe_strength: float = Field(ge=0, le=1)
    dedupe_identity: list[str]
    dedupe_whole_names: list[str]
