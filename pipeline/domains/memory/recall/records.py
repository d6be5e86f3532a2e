"""Records of recall: what is found, and which level found it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from pipeline.domains.memory.patterns import Related
from pipeline.domains.memory.records import Entity
from pipeline.records import Hit


class Level(StrEnum):
    """A level of retrieval."""

    TEXTS = "texts"
    """the memories themselves, by words, vectors and walk"""
    LOW = "low"
    """the entities that a question is about, and their facts"""
    HIGH = "high"
    """themes: entities of thematic types and the communities that they are in"""


@dataclass(frozen=True, slots=True)
class LevelRank:
    """The rank of an item in a level, from 1, and its share of the item's score, 0 to 1."""

    rank: int
    share: float


Levels: TypeAlias = Mapping[Level, LevelRank]


@dataclass(frozen=True, slots=True)
class FoundText:
    """A memory that answers: its passage, and when and by whom it was said."""

    hit: Hit
    score: float
    levels: Levels

    @property
    def key(self) -> str:
        """The key of the memory."""
        return self.hit.document

    @property
    def time(self) -> str:
        """When it was said."""
        return str(self.hit.document_metadata.get("time", ""))

    @property
    def speaker(self) -> str:
        """The speaker, empty if there is none."""
        return str(self.hit.document_metadata.get("speaker", ""))


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity that answers, with its heaviest facts."""

    entity: Entity
    facts: tuple[Related, ...]
    score: float
    levels: Levels


Found: TypeAlias = FoundText | FoundEntity


@dataclass(frozen=True, slots=True)
class Theme:
    """A community that a question is about: its entities, those that fit best first, and the facts that join them."""

    entities: tuple[Entity, ...]
    facts: tuple[Related, ...]
    score: float


@dataclass(frozen=True, slots=True)
class Period:
    """A period that the question speaks of: in its words, and from when until when; None leaves it open."""

    phrase: str
    start: str | None
    end: str | None


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question: items best first, themes, and the periods that the question speaks of.

    ``answered`` is the level that the first item owes most to; None if nothing was found.
    """

    items: tuple[Found, ...]
    themes: tuple[Theme, ...]
    periods: tuple[Period, ...]
    answered: Level | None
