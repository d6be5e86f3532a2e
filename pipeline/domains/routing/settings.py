"""The section ``routing`` of the settings, and the weights of evidence, which are none."""

import math
from typing import ClassVar

from pydantic import Field

from pipeline.edges import MOST_HOPS
from pipeline.settings import Section


class RoutingSettings(Section):
    """What routing may be told by settings, and its own weights and limits.

    The evidence for a project is in natural logarithms of odds. The weights from ``cosine`` to ``margin`` were chosen
    by hand, perhaps on the 29 issues of the page; there the first project is right for all of them, also with
    ``cosine``, ``summary`` or ``name`` halved or doubled. ``relation``, ``own`` and ``domain`` are not measured: no
    queryset at hand says which project asks.
    """

    graph: str = Field(min_length=1)
    depth: int = Field(ge=1, le=MOST_HOPS)
    auto_accept: float = Field(ge=0, le=1)
    proposed: float = Field(ge=0, le=1)
    log: bool
    log_days: float = Field(gt=0)

    cosine: ClassVar[float] = 0.04  # difference between the best cosines of two projects' passages that counts as 1
    summary: ClassVar[float] = 0.2  # difference between the cosines of two summaries that counts as 1
    relation: ClassVar[float] = 2.0  # of a relation of weight 1 from the asking project
    own: ClassVar[float] = 1.0  # of being the asking project
    name: ClassVar[float] = 1.0  # of a name of the project in the question
    known: ClassVar[float] = 1.0  # of knowing the names in the question best, rare ones above all
    domain: ClassVar[float] = 1.0  # of a domain in the question that no other project has

    coverage: ClassVar[float] = 0.95  # probability that the projects that are searched hold the answer
    most: ClassVar[int] = 3  # of them, however low the probability is
    margin: ClassVar[float] = 0.1  # how much nearer another project's best passage must be for that to be searched too

    # Weights that follow from the answers in use. Chosen by hand; a simulation holds that routing improves with them
    # and settles, that one judgement moves little, and that wrong edges sink: tests/domains/routing/test_simulation.py.
    half_life: ClassVar[float] = 60.0  # days in which a judgement loses half of its mass
    prior: ClassVar[float] = 12.0  # judgements that the base weight counts as: more make weights move less
    lowest: ClassVar[float] = 0.25  # least factor on the base weight
    highest: ClassVar[float] = 2.0  # greatest factor on the base weight
    position: ClassVar[float] = 0.5  # how fast attention falls with the rank: rank^-position; 0 corrects nothing
    correction: ClassVar[float] = 3.0  # the most that a judgement at a low rank counts
    kept: ClassVar[int] = 200  # judgements that an edge keeps, the newest ones


class PassagesAlone(RoutingSettings):
    """Settings by which passages are all the evidence: without the graph."""

    summary: ClassVar[float] = math.inf
    relation: ClassVar[float] = 0.0
    own: ClassVar[float] = 0.0
    name: ClassVar[float] = 0.0
    known: ClassVar[float] = 0.0
    domain: ClassVar[float] = 0.0
