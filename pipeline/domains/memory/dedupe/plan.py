"""Plans of merges: which entities become one, by what evidence, and what is left for a person to decide."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipeline.domains.memory.dedupe import candidates as steps
from pipeline.domains.memory.dedupe.candidates import Candidate, Pair, Place, Subject
from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.schema import MEMORY, relation_types, schema_of
from pipeline.domains.memory.settings import MemorySettings
from pipeline.embedding.everyday import BUNDLED, Scale
from pipeline.errors import GraphError
from pipeline.files import Guard, read_json
from pipeline.files.limits import LARGE_LIMITS
from pipeline.grouping import grouped
from pipeline.ids import digest
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph
from pipeline.temporary import replacing


@dataclass(frozen=True, slots=True)
class Group:
    """Entities that become one: the losers go into the survivor. ``evidence`` are the candidates that join them."""

    survivor: str
    losers: tuple[str, ...]
    evidence: tuple[Candidate, ...]

    @property
    def members(self) -> tuple[str, ...]:
        """The ids of all of them, the survivor's first."""
        return self.survivor, *self.losers


@dataclass(frozen=True)
class Plan:
    """A plan of merges: plain data, which can be read, written, and applied later.

    ``groups`` are merged when the plan is applied; ``review`` are candidates that are not, for a person to judge.
    ``entities`` are the ids of all of them, the best survivor first, each with a hash by which a stale plan is known.
    """

    graph: str
    groups: tuple[Group, ...]
    review: tuple[Candidate, ...]
    entities: tuple[tuple[str, str], ...]

    @cached_property
    def id(self) -> str:
        """A hash of the plan."""
        return digest("plan", json.dumps(asdict(self), sort_keys=True))

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {"id": self.id, **_PLANS.dump_python(self, mode="json")}

    @classmethod
    def from_json(cls, mapping: Mapping[str, Any]) -> "Plan":
        """Return the plan of a mapping that :meth:`to_json` made; raises GraphError if malformed or changed since."""
        try:
            plan = _PLANS.validate_python(mapping)
        except ValidationError as error:
            wrong = error.errors()[0]
            place = ".".join(map(str, wrong["loc"]))
            message = f"This is no plan of merges{f': {place}: ' + wrong['msg'] if place else ''}."
            raise GraphError(message, "hoprank memory dedupe plan makes one.") from None
        if plan.id != mapping.get("id"):
            raise GraphError("The plan of merges was edited.", "Make it anew, and choose groups as it is applied.")
        return plan

    def write(self, path: Path) -> None:
        """Write the plan to a file as JSON, atomically."""
        with replacing(path) as file:
            file.write_text(json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> "Plan":
        """Read a plan from a file; raises GraphError if it holds none."""
        return cls.from_json(read_json(path, Guard(GraphError, "hoprank memory dedupe plan makes one.", LARGE_LIMITS)))


_PLANS = TypeAdapter(Plan)


def plan(graph: KnowledgeGraph, settings: MemorySettings, scale: Scale = BUNDLED) -> Plan:
    """Return the plan of merges of a memory's graph, from its entities and the facts that hold now.

    ``scale`` is that of its model's cosines.
    """
    schema = schema_of(settings)
    nodes = [node for kind in schema.nodes if kind != MEMORY for node in graph.find_nodes_by_type(kind)]
    edges = [edge for kind in relation_types(schema) for edge in graph.get_edges_by_type(kind)]
    vectors = {node.id: node.embedding for node in nodes if node.embedding is not None}
    return make_plan(graph.name, [Entity.of(node) for node in nodes], vectors, edges, settings, scale)


def make_plan(
    graph: str,
    entities: Iterable[Entity],
    vectors: Mapping[str, Sequence[float]],
    edges: Iterable[KnowledgeEdge],
    settings: MemorySettings,
    scale: Scale = BUNDLED,
) -> Plan:
    """Return the plan of merges of entities, whatever their order.

    ``vectors`` are the embeddings by id, of that ``scale``, ``edges`` the facts among the entities.
    """
    subjects = {subject.id: subject for subject in map(Subject.read, entities)}
    places, facts = _places(edges)
    candidates = steps.find_candidates(list(subjects.values()), vectors, places, settings, scale)

    @cache
    def compared(first: str, second: str) -> str:
        return steps.contradiction(subjects[first], subjects[second], settings.dedupe_identity)

    def survival(id_: str) -> tuple[int, int, str, str]:
        """Return the key by which the best survivor is first: most mentions, most facts, longest-lived."""
        entity = subjects[id_].entity
        return -entity.mention_count, -facts[id_], entity.created_at or "", id_

    joined, review = steps.group_candidates(candidates, lambda *pair: compared(*sorted(pair)))
    ranked = sorted({id_ for candidate in candidates for id_ in candidate.pair}, key=survival)
    left = tuple(sorted(review, key=lambda candidate: candidate.pair))
    made = Plan(graph, (), left, tuple((id_, entity_digest(subjects[id_].entity)) for id_ in ranked))
    pairs = {candidate.pair for candidate in review}
    return replace(made, groups=_groups(made, joined, [one for one in candidates if one.pair not in pairs]))


def entity_digest(entity: Entity) -> str:
    """Return a hash of what an entity is: its names, description and metadata, without counts and times."""
    content = [*entity.key, entity.description, sorted(entity.aliases), dict(entity.metadata)]
    return digest("entity", json.dumps(content, sort_keys=True))


def accepted(made: Plan, pairs: Iterable[Pair]) -> Plan:
    """Return a plan whose only groups are these candidates of its review, decided by a person.

    Pairs that share an entity make one group. Raises GraphError if a pair isn't up for review.
    """
    offered = {candidate.pair: candidate for candidate in made.review}
    chosen = []
    for first, second in pairs:
        pair = (first, second) if first < second else (second, first)
        if pair not in offered:
            raise GraphError(f"The pair {first[:60]!r} and {second[:60]!r} isn't up for review.", "See the plan.")
        chosen.append(replace(offered[pair], against=(), automatic=True))
    joined, _ = steps.group_candidates(chosen, lambda *_: "")
    return replace(made, groups=_groups(made, joined, [offered[candidate.pair] for candidate in chosen]), review=())


def _places(edges: Iterable[KnowledgeEdge]) -> tuple[dict[str, frozenset[Place]], Counter[str]]:
    """Return the places of each entity in the graph, and its number of facts, by id."""
    places: dict[str, set[Place]] = defaultdict(set)
    facts: Counter[str] = Counter()
    for edge in edges:
        places[edge.source].add((edge.type, True, edge.target))
        places[edge.target].add((edge.type, False, edge.source))
        facts.update({edge.source, edge.target})
    return {id_: frozenset(own) for id_, own in places.items()}, facts


def _groups(made: Plan, joined: Iterable[tuple[str, ...]], evidence: Iterable[Candidate]) -> tuple[Group, ...]:
    rank = {id_: place for place, (id_, _) in enumerate(made.entities)}
    in_order = sorted(evidence, key=lambda candidate: candidate.pair)
    by_member = grouped((candidate.first, candidate) for candidate in in_order)
    groups = []
    for members in joined:
        survivor, *losers = sorted(members, key=rank.__getitem__)
        groups.append(Group(survivor, tuple(losers), tuple(one for id_ in members for one in by_member[id_])))
    return tuple(groups)
