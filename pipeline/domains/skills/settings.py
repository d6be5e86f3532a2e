"""The settings of skills."""

from pydantic import Field

from pipeline.settings import Section


class SkillSettings(Section):
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
