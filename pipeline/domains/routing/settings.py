"""The section ``routing`` of the settings."""

from pydantic import Field

from pipeline.edges import MOST_HOPS
from pipeline.settings import Section


class RoutingSettings(Section):
    """Weights of evidence, and the limits of routing and of learning; ``defaults.toml`` says what each is."""

    graph: str = Field(min_length=1)
    depth: int = Field(ge=1, le=MOST_HOPS)
    cosine: float = Field(gt=0)
    summary: float = Field(gt=0)
    relation: float = Field(ge=0)
    own: float = Field(ge=0)
    name: float = Field(ge=0)
    known: float = Field(ge=0)
    domain: float = Field(ge=0)
    coverage: float = Field(gt=0, le=1)
    most: int = Field(ge=1)
    margin: float = Field(ge=0)
    auto_accept: float = Field(ge=0, le=1)
    proposed: float = Field(ge=0, le=1)
    log: bool
    log_days: float = Field(gt=0)
    half_life: float = Field(gt=0)
    prior: float = Field(gt=0)
    lowest: float = Field(gt=0, le=1)
    highest: float = Field(ge=1)
    position: float = Field(ge=0)
    correction: float = Field(ge=1)
    kept: int = Field(ge=1)
