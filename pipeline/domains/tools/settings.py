"""The section ``tools`` of the settings."""

from pydantic import Field

from pipeline.settings import Section


class Conversion(Section):
    """A rule: the type ``source`` fits ``target``, through the converter if one is named; never with confidence 0."""

    source: str = Field(min_length=1)
    target: str = Field(min_length=1)
    confidence: float = Field(ge=0, le=1)
    converter: str = ""


class ToolSettings(Section):
    """The edges of a tool graph, and the limits of chains."""

    flow: float = Field(ge=0, le=1)
    similar: float = Field(ge=-1, le=1)
    neighbours: int = Field(ge=0)
    longest: int = Field(ge=1, le=8)
    chains: int = Field(ge=1)
    conversions: tuple[Conversion, ...] = ()
