"""The section ``routing`` of the settings."""

from pydantic import Field

from pipeline.edges import MOST_HOPS
from pipeline.settings import Section


class RoutingSettings(Section):
    """The graph that is searched, how far its relations lead, which relations are proposed, and the log of use."""

    graph: str = Field(min_length=1)
    depth: int = Field(ge=1, le=MOST_HOPS)
    auto_accept: float = Field(ge=0, le=1)
    proposed: float = Field(ge=0, le=1)
    log: bool
    log_days: float = Field(gt=0)
