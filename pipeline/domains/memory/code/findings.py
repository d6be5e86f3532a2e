"""Records of a scan: entities, facts and their strengths."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from pipeline.domains.memory.records import Entity, EntityKey, Fact
from pipeline.domains.memory.versions import Triple

ROOT = "."
"""The name of the module at the root: the repository itself."""

_LONGEST = 1000  # characters of a name; a longer one is generated or hostile


class Strength(NamedTuple):
    """The weight and confidence of a fact."""

    weight: float
    confidence: float


# Those of contains, imports and calls have the weights of the design that the memory follows; the others were chosen
# between them by hand: not measured. What a parser reads is certain (1), and what is resolved by rules is nearly so.
STRENGTHS: Mapping[str, Strength] = {
    "contains": Strength(1.0, 1.0),
    "imports": Strength(0.8, 0.9),
    "calls": Strength(0.7, 0.9),
    "depends_on": Strength(0.9, 1.0),
    "configured_by": Strength(0.7, 0.9),
    "authored_by": Strength(0.6, 1.0),
    "owned_by": Strength(0.8, 1.0),
}
"""The strengths of facts by type."""

CALLS_BY_NAME = Strength(0.7, 0.5)
"""A call whose target is the only definition of that name within reach: a guess, as likely right as wrong."""

DEVELOPMENT = Strength(0.5, 1.0)
"""A dependency for tests, documentation and development alone: weaker than others, by hand; not measured."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The contents of a repository or folder, or of the commits of its history.

    ``commit`` is the id of the last commit, None for a plain folder, and ``time`` the time of that state. Entities are
    all that occurred, sorted by id, with their latest descriptions; facts are sorted by triple and time: each holds for
    a maximal period of one strength. ``evidence`` names the commit, or the folder. ``remarks`` say what of the
    repository couldn't be read, or is read otherwise than it stands there.
    """

    repository: str
    commit: str | None
    time: str
    evidence: str
    entities: tuple[Entity, ...]
    facts: tuple[Fact, ...]
    remarks: tuple[str, ...] = ()


@lru_cache(maxsize=100_000)  # of a large tree's definitions, which every call of them names; chosen by hand
def _id_of(scope: str, kind: str, name: str) -> str:
    return EntityKey(scope, kind, name).id


@lru_cache(maxsize=100_000)  # as many: nearly all definitions of a file are those of the commit before
def _entity(scope: str, kind: str, name: str, description: str, aliases: tuple[str, ...]) -> Entity:
    others = tuple(alias for alias in dict.fromkeys(aliases) if alias != name)
    return Entity(name, kind, scope, description, others, confidence=1.0)


@dataclass(slots=True)
class Findings:
    """Collects entities and facts of one file. A name of over 1,000 characters is left out, with its facts."""

    scope: str
    entities: dict[EntityKey, Entity] = field(default_factory=dict)
    facts: dict[Triple, Strength] = field(default_factory=dict)

    def entity(
        self, kind: str, name: str, description: str = "", aliases: Iterable[str] = (), metadata: Mapping[str, str] = {}
    ) -> str:
        """Add an entity and return its id; empty if its name can't be stored."""
        if not (id_ := self.id_of(kind, name)):
            return ""
        key = EntityKey(self.scope, kind, name)
        if key not in self.entities or description:
            entity = _entity(self.scope, kind, name, description, tuple(aliases))
            self.entities[key] = replace(entity, metadata=metadata) if metadata else entity
        return id_

    def id_of(self, kind: str, name: str) -> str:
        """Return the id of an entity that another file's findings hold; empty if its name can't be stored."""
        return _id_of(self.scope, kind, name) if 0 < len(name) <= _LONGEST else ""

    def fact(self, source: str, kind: str, target: str, strength: Strength | None = None) -> None:
        """Add a fact unless one of its ends is missing; the stronger of two equal ones counts."""
        if source and target:
            triple, strength = (source, kind, target), strength or STRENGTHS[kind]
            self.facts[triple] = max(strength, self.facts.get(triple, strength))
