"""The section ``vault`` of the settings."""

from pydantic import Field

from pipeline.settings import Section


class VaultSettings(Section):
    """The context router: how many notes it loads, how much of them, and what counts beside relevance."""

    top_k: int = Field(ge=1, le=10)
    full: int = Field(ge=0, le=10)
    tokens: int = Field(ge=1)
    hops: int = Field(ge=0, le=2)
    freshness: float = Field(ge=0)
    half_life_days: float = Field(gt=0)
