"""The settings of skills."""

from typing import ClassVar

from pydantic import Field

from pipeline.settings import Section


class SkillSettings(Section):
    """The edges of a skill graph: their weights, and the thresholds for linking. Chosen by hand; none is measured."""

    top_k: int = Field(ge=1)
    similar: float = Field(ge=-1, le=1)
    restart_prob: float = Field(gt=0, le=1)
    near_meaning: float = Field(ge=0, le=1)

    tags: ClassVar[float] = 0.1  # least cosine of the tags, weighted by inverse document frequency
    mention: ClassVar[float] = 0.5  # weight of an edge to a skill that is named once; a requirement has weight 1
    package: ClassVar[float] = 0.3  # weight of an edge to a package that a single skill uses; less, the more use it
    folder: ClassVar[float] = 0.1  # weight of an edge from a folder to a skill or folder in it
    near_name: ClassVar[float] = 0.85  # least similarity of the names of near-duplicates
