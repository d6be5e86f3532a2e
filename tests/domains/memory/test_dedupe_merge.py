"""Merges over records, on a model of a graph: what is merged and unmerged is as it was, and nothing gets lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline import KnowledgeEdge, KnowledgeNode
from pipeline.domains.memory.dedupe.merge import Rewrite, merge, merged_node, unmerge
from pipeline.domains.memory.dedupe.plan import Group
from pipeline.domains.memory.records import Entity, Fact
from pipeline.knowledge.edit import Edits

NOW = "2026-06-01T00:00:00+00:00"
TIMES = [f"2026-0{month}-01T00:00:00+00:00" for month in range(1, 6)]


@dataclass
class Model:
    """A graph in plain Python."""

    nodes: dict[str, KnowledgeNode]
    edges: dict[str, KnowledgeEdge]

    def touching(self, ids: Sequence[str]) -> list[KnowledgeEdge]:
        return [edge for edge in self.edges.values() if {edge.source, edge.target} & set(ids)]

    def edited(self, edits: Edits) -> Model:
        gone = set(edits.removed_nodes)
        nodes = {id_: node for id_, node in self.nodes.items() if id_ not in gone}
        nodes |= {node.id: node for node in edits.nodes}
        kept = {
            id_: edge
            for id_, edge in self.edges.items()
            if id_ not in edits.removed_edges and not {edge.source, edge.target} & gone
        }
        edges = kept | {edge.id: edge for edge in edits.edges}
        assert all(end in nodes for edge in edges.values() for end in (edge.source, edge.target))
        assert len({edge.id for edge in edits.edges}) == len(edits.edges)
        return Model(nodes, edges)


ENTITIES = st.lists(
    st.builds(
        Entity,
        name=st.sampled_from("abcdefgh"),
        type=st.just("concept"),
        description=st.sampled_from(["", "short", "a longer text"]),
        aliases=st.sampled_from([(), ("x",), ("a", "y")]),
        mention_count=st.integers(1, 5),
        metadata=st.dictionaries(st.sampled_from(["m", "n"]), st.sampled_from([1, "", ["p"], ["q"]]), max_size=2),
        created_at=st.sampled_from(TIMES),
        updated_at=st.sampled_from(TIMES),
    ),
    unique_by=lambda entity: entity.id,
    min_size=2,
    max_size=8,
)


@st.composite
def models(draw: st.DrawFn) -> tuple[Model, list[Group]]:
    entities = draw(ENTITIES)
    vector = st.sampled_from([None, [1.0, 0.0], [0.6, 0.8]])
    nodes = {entity.id: entity.to_node(draw(vector)) for entity in entities}
    ids = sorted(nodes)
    edges: dict[str, KnowledgeEdge] = {}
    for _ in range(draw(st.integers(0, 14))):
        source, target = draw(st.sampled_from(ids)), draw(st.sampled_from(ids))
        edge = draw(_edges(source, target))
        edges[edge.id] = edge
    order, groups = draw(st.permutations(ids)), []
    while len(order) > 1 and draw(st.booleans()):
        size = draw(st.integers(2, len(order)))
        groups.append(Group(order[0], tuple(order[1:size]), ()))
        order = order[size:]
    return Model(nodes, edges), groups


@st.composite
def _edges(draw: st.DrawFn, source: str, target: str) -> KnowledgeEdge:
    kind, created = draw(st.sampled_from(["depends_on", "mentions", "own"])), draw(st.sampled_from(TIMES[:2]))
    expired = draw(st.sampled_from([None, TIMES[3]]))
    if kind == "mentions":
        return KnowledgeEdge(source, target, kind, created_at=created)
    evidence = draw(st.sampled_from([(), ("e",), ("f",)]))
    edge = Fact(
        source,
        "depends_on",
        target,
        valid_at=draw(st.sampled_from([None, TIMES[0]])),
        weight=draw(st.sampled_from([0.5, 0.9])),
        confidence=draw(st.sampled_from([0.5, 0.7])),
        evidence=evidence,
        created_at=created,
        expired_at=expired,
    ).to_edge()
    return edge if kind == "depends_on" else replace(edge, id=f"own {source} {target}")


def rewritten(model: Model, groups: list[Group]) -> Rewrite:
    return merge(groups, model.nodes, model.touching([id_ for group in groups for id_ in group.members]), NOW)


@settings(max_examples=100)
@given(models())
def test_what_is_unmerged_is_as_it_was(made: tuple[Model, list[Group]]) -> None:
    before, groups = made
    rewrite = rewritten(before, groups)

    after = before.edited(rewrite.edits())
    undone = unmerge(
        rewrite, {id_: after.nodes[id_] for id_ in rewrite.survivors}, after.touching(list(rewrite.members))
    )

    assert undone.notes == ()
    assert after.edited(undone.edits) == before


@settings(max_examples=100)
@given(models())
def test_nothing_gets_lost_in_a_merge(made: tuple[Model, list[Group]]) -> None:
    before, groups = made
    survivor_of = {id_: group.survivor for group in groups for id_ in group.members}
    rewrite = rewritten(before, groups)

    after = before.edited(rewrite.edits())

    assert after.nodes.keys() == {survivor_of.get(id_, id_) for id_ in before.nodes}
    counted = [
        sum(int(str(node.properties["mention_count"])) for node in one.nodes.values()) for one in (before, after)
    ]
    assert counted[0] == counted[1]
    for edge in before.edges.values():
        source, target = survivor_of.get(edge.source, edge.source), survivor_of.get(edge.target, edge.target)
        if source == target and edge.source != edge.target:
            continue
        times = (edge.valid_at, edge.invalid_at, edge.expired_at)
        same = [
            found
            for found in after.edges.values()
            if (found.source, found.target, found.type) == (source, target, edge.type)
            and (found.valid_at, found.invalid_at, found.expired_at) == times
        ]
        known = [found for found in same if (found.created_at or "") <= (edge.created_at or "")]
        assert any(_holds(found, edge) for found in known)
    names = {name for node in after.nodes.values() for name in (Entity.of(node).name, *Entity.of(node).aliases)}
    assert {Entity.of(node).name for node in before.nodes.values()} <= names


def _holds(found: KnowledgeEdge, edge: KnowledgeEdge) -> bool:
    evidence = set(Fact.of(edge).evidence) <= set(Fact.of(found).evidence)
    return evidence and found.weight >= edge.weight and Fact.of(found).confidence >= Fact.of(edge).confidence


@settings(max_examples=100)
@given(models(), st.data())
def test_what_changes_after_a_merge_outlives_its_undoing(made: tuple[Model, list[Group]], data: st.DataObject) -> None:
    before, groups = made
    rewrite = rewritten(before, groups)
    after = before.edited(rewrite.edits())
    ids = sorted(after.nodes)
    new = Fact(data.draw(st.sampled_from(ids)), "calls", data.draw(st.sampled_from(ids)), created_at=NOW).to_edge()
    gone = [edge.id for edge in after.edges.values() if data.draw(st.booleans())]
    changed = [replace(edge, expired_at=NOW) for edge in after.edges.values() if data.draw(st.booleans())]
    later = after.edited(Edits(edges=[*changed, new], removed_edges=gone))
    later = later.edited(Edits(removed_edges=gone))

    nodes = {id_: node for id_, node in later.nodes.items() if id_ in rewrite.members}
    undone = later.edited(unmerge(rewrite, nodes, later.touching(list(rewrite.members))).edits)

    assert undone.nodes == before.nodes
    assert undone.edges[new.id] == new
    came_from = rewrite.sources or {}
    for edge in after.edges.values():
        for id_ in came_from.get(edge.id, (edge.id,)):
            if edge.id in gone:
                assert id_ not in undone.edges
            elif edge.id in {one.id for one in changed}:
                assert undone.edges[id_] == replace(before.edges[id_], expired_at=NOW)
            else:
                assert undone.edges[id_] == before.edges[id_]


def test_a_survivor_keeps_its_embedding_or_gets_the_first() -> None:
    first, second = Entity("a", "concept"), Entity("b", "concept", description="more")

    assert merged_node([first.to_node([1, 0]), second.to_node([0, 1])], NOW).embedding == (1, 0)
    assert merged_node([first.to_node(), second.to_node([0, 1])], NOW).embedding == (0, 1)
    assert merged_node([first.to_node(), second.to_node()], NOW).embedding is None


def test_what_changed_of_a_survivor_stays_but_not_what_the_merge_brought() -> None:
    one, other = Entity("a", "concept", aliases=("x",), metadata={"m": 1}), Entity("b", "concept", description="more")
    nodes = {one.id: one.to_node([1, 0]), other.id: other.to_node([0, 1])}
    rewrite = merge([Group(one.id, (other.id,), ())], nodes, [], NOW)
    (merged,) = rewrite.after_nodes
    held = Entity.of(merged)
    now = replace(held, aliases=(*held.aliases, "z"), metadata={"m": 2, "k": 3}, mention_count=held.mention_count + 4)

    edits = unmerge(rewrite, {one.id: replace(now.to_node([0, 1]), updated_at=TIMES[0])}, []).edits

    survivor, loser = edits.nodes
    assert Entity.of(survivor) == replace(
        one, aliases=("x", "z"), metadata={"k": 3, "m": 2}, mention_count=5, updated_at=TIMES[0]
    )
    assert survivor.embedding == (1, 0)
    assert loser == nodes[other.id]
