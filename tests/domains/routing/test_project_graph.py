"""The graph of projects: its projects, its relations, and the ways along them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline import HopRank
from pipeline.domains.routing.project_graph import DECLARED, ProjectGraph, relation_id
from pipeline.domains.routing.schema import DOMAIN, REFERENCE, Project, Relation, RelationType
from pipeline.errors import GraphError

USES, LEARNS, TESTS, SIBLING, ABOUT = (
    RelationType.USES,
    RelationType.LEARNS_FROM,
    RelationType.TESTS_WITH,
    RelationType.SIBLING,
    RelationType.DOMAIN,
)

PATINA = Project("patina", path="/code/patina", domains=("rust", "tools"), summary="Context.", aliases=("pt",))
DOJO = Project("dojo", REFERENCE, domains=("cairo", "rust"), corpus="dojo-docs", importance=2.0)


@pytest.fixture
def chain(projects: ProjectGraph) -> ProjectGraph:
    """A uses b, which uses c, which uses a: a cycle; a learns from d, and d and c are siblings."""
    for name in "abcd":
        projects.add_node(Project(name))
    projects.add_edges(
        [
            Relation("a", "b", USES, 0.5),
            Relation("b", "c", USES),
            Relation("c", "a", USES),
            Relation("a", "d", LEARNS, 0.9),
            Relation("d", "c", SIBLING, 0.8),
        ]
    )
    return projects


def domains(graph: ProjectGraph) -> set[str]:
    return {node.id for node in graph.graph.find_nodes_by_type(DOMAIN)}


def test_a_project_reads_back_as_it_was_added(projects: ProjectGraph) -> None:
    projects.add_node(PATINA)
    projects.add_node(DOJO)

    assert projects.get_node("patina") == replace(PATINA, corpus="patina")
    assert projects.list_nodes() == [DOJO, replace(PATINA, corpus="patina")]
    assert projects.get_node("domain:rust") is None
    assert projects.get_node("nothing") is None
    assert domains(projects) == {"domain:rust", "domain:tools", "domain:cairo"}


def test_a_project_is_added_once(projects: ProjectGraph) -> None:
    projects.add_node(PATINA)

    with pytest.raises(GraphError, match="already has the node 'patina'"):
        projects.add_node(replace(PATINA, summary="Another."))

    assert projects.list_nodes()[0].summary == "Context."


@pytest.mark.parametrize(
    ("project", "said"), [(Project("domain:x"), "can't be called"), (Project("x", DOMAIN), "is of the kind 'domain'")]
)
def test_a_project_that_can_t_be_is_refused(projects: ProjectGraph, project: Project, said: str) -> None:
    with pytest.raises(GraphError, match=said):
        projects.add_node(project)


def test_an_update_replaces_fields_and_domains_and_keeps_relations(projects: ProjectGraph) -> None:
    projects.add_node(PATINA)
    projects.add_node(DOJO)
    projects.add_edge(Relation("patina", "dojo", USES))

    projects.update_node(replace(PATINA, kind=REFERENCE, domains=("rust",), summary="", importance=3.0))

    assert projects.get_node("patina") == replace(
        PATINA, kind=REFERENCE, domains=("rust",), summary="", importance=3.0, corpus="patina"
    )
    assert projects.get_edge("patina", "dojo", USES)
    assert "domain:tools" not in domains(projects)
    with pytest.raises(GraphError, match="Did you mean 'patina'"):
        projects.update_node(Project("patinas"))


def test_what_an_index_finds_fills_the_gaps_and_stays_apart(projects: ProjectGraph) -> None:
    projects.add_node(Project("a", aliases=("x",)))

    projects.mark_indexed("a", "Found.", ["x", "y"])

    found = projects.list_nodes()[0]
    assert (found.summary, found.aliases) == ("Found.", ("x", "y"))
    assert found.last_indexed
    projects.update_node(replace(found, importance=2.0))
    projects.mark_indexed("a", "", ["z"])
    assert (projects.list_nodes()[0].summary, projects.list_nodes()[0].aliases) == ("", ("z",))
    projects.update_node(replace(projects.list_nodes()[0], summary="Stated."))
    projects.mark_indexed("a", "Found again.")
    assert projects.list_nodes()[0].summary == "Stated."


def test_a_relation_is_unique_by_its_ends_and_its_type(chain: ProjectGraph) -> None:
    before = chain.get_edge("a", "b", USES)
    assert before
    assert before.created

    chain.add_edge(Relation("a", "b", USES, 0.7, created="2020-01-01", evidence="imports"))
    chain.add_edge(Relation("b", "a", USES))
    chain.add_edge(Relation("a", "b", TESTS))

    assert chain.get_edge("a", "b", USES) == replace(before, weight=0.7, evidence="imports")
    assert len([one for one in chain.get_edges() if "b" in (one.source, one.target)]) == 4
    chain.add_edge(Relation("a", "b", USES, 0.7))
    assert chain.get_edge("a", "b", USES) == replace(before, weight=0.7)


def test_siblings_are_related_once_and_both_ways(chain: ProjectGraph) -> None:
    chain.add_edge(Relation("c", "d", SIBLING, 0.3))

    assert [one.weight for one in chain.get_edges() if one.type is SIBLING] == [0.3]
    assert [(project.id, one.source, one.target) for project, one in chain.get_related("c", [SIBLING])] == [
        ("d", "c", "d")
    ]
    assert [project.id for project, _ in chain.get_related("d")] == ["c"]


def test_a_domain_is_named_or_given_by_its_id(projects: ProjectGraph) -> None:
    projects.add_node(Project("a"))

    projects.add_edge(Relation("a", "cairo", ABOUT))
    projects.add_edge(Relation("a", "domain:cairo", ABOUT, 0.5))

    assert projects.get_node("a") == Project("a", domains=("cairo",), corpus="a")
    assert [(one.target, one.weight) for one in projects.get_edges()] == [("domain:cairo", 0.5)]
    assert projects.get_related("a") == []
    projects.remove_edge("a", "cairo", ABOUT)
    assert domains(projects) == set()


def test_properties_that_others_keep_survive_a_new_weight_but_the_mark_of_the_registry_doesn_t(
    chain: ProjectGraph,
) -> None:
    edge = chain.graph.get_edge(relation_id("a", "b", USES))
    assert edge
    chain.graph.add_edges([replace(edge, properties={**edge.properties, "base": 0.5, DECLARED: {}})], replace=True)

    chain.add_edge(Relation("a", "b", USES, 0.6))

    after = chain.graph.get_edge(edge.id)
    assert after
    assert after.properties == {**edge.properties, "base": 0.5}


@pytest.mark.parametrize(
    ("relation", "said"),
    [
        (Relation("a", "e", USES), "has no project 'e'"),
        (Relation("abc", "a", USES), "has no project 'abc'"),
        (Relation("a", "a", USES), "related to itself"),
        (Relation("a", "b", USES, 0), "weight 0"),
        (Relation("a", "b", USES, -1), "weight is -1"),
        (Relation("a", "domain:x", USES), "has no project 'domain:x'"),
    ],
)
def test_a_relation_that_can_t_be_is_refused(chain: ProjectGraph, relation: Relation, said: str) -> None:
    before = chain.get_edges()

    with pytest.raises(GraphError, match=said):
        chain.add_edge(relation)

    assert chain.get_edges() == before


def test_a_relation_is_removed_alone(chain: ProjectGraph) -> None:
    chain.add_edge(Relation("a", "b", LEARNS))

    chain.remove_edge("a", "b", USES)

    assert chain.get_edge("a", "b", USES) is None
    assert chain.get_edge("a", "b", LEARNS)
    with pytest.raises(GraphError, match="no relation a USES b"):
        chain.remove_edge("a", "b", USES)
    with pytest.raises(GraphError, match="has no project 'x'"):
        chain.remove_edge("a", "x", USES)


def test_related_projects_are_those_that_relations_lead_to_strongest_first(chain: ProjectGraph) -> None:
    assert [(project.id, one.type) for project, one in chain.get_related("a")] == [("d", LEARNS), ("b", USES)]
    assert [project.id for project, _ in chain.get_related("a", [USES])] == ["b"]
    with pytest.raises(GraphError, match="has no project 'x'"):
        chain.get_related("x")


def test_a_walk_visits_each_project_of_a_cycle_once(chain: ProjectGraph) -> None:
    steps = chain.traverse("a", 8)

    assert [(step.project.id, step.hops) for step in steps] == [("d", 1), ("b", 1), ("c", 2)]
    # The sibling d leads to c more strongly than b does.
    assert [(one.source, one.target) for one in steps[-1].relations] == [("a", "d"), ("d", "c")]


@pytest.mark.parametrize(("depth", "reached"), [(0, ""), (1, "b"), (2, "bc"), (3, "bc")])
def test_a_walk_ends_at_its_depth_and_keeps_to_its_types(chain: ProjectGraph, depth: int, reached: str) -> None:
    assert "".join(step.project.id for step in chain.traverse("a", depth, [USES])) == reached


def test_a_walk_from_nowhere_and_of_no_depth_is_refused(chain: ProjectGraph) -> None:
    for start, depth, said in (("x", 1, "no project 'x'"), ("a", -1, "depth is -1")):
        with pytest.raises(GraphError, match=said):
            chain.traverse(start, depth)


@pytest.mark.parametrize("text", ["tests_with", "TESTS_WITH", "Tests-With"])
def test_a_type_is_read_in_any_case(text: str) -> None:
    assert RelationType.parse(text) is TESTS
    for unknown, fix in (("usse", "'uses'"), ("xyz", "USES, LEARNS_FROM")):
        with pytest.raises(GraphError) as raised:
            RelationType.parse(unknown)
        assert fix in raised.value.fix


def test_a_graph_that_is_missing_is_not_made_unless_asked_for(hoprank: HopRank, graph_name: str) -> None:
    with pytest.raises(GraphError, match=graph_name):
        ProjectGraph.open(hoprank, graph_name, create=False)

    ProjectGraph.open(hoprank, graph_name)

    assert ProjectGraph.open(hoprank, graph_name, create=False).list_nodes() == []
