"""The settings of skills."""

from pydantic import Field

from pipeline.settings import Section


class SkillSettings(Section):
    """The edges of a skill graph, the walk along them, and near-duplicates. Chosen by hand; none is measured."""

    top_k: int = Field(ge=1)
    similar: float = Field(ge=-1, le=1)
    restart_prob: float = Field(gt=0, le=1)
    near_meaning: float = Field(ge=0, le=1)
