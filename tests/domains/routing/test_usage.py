"""Judgements on answers on a live graph: what is kept, the weights that follow, and how they are undone."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.domains.routing.learn import usage
from pipeline.domains.routing.learn.usage import explain, forget, record_use, refresh
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import EdgeKey, Project, Relation, RelationType
from pipeline.errors import GraphError, HopRankError, InputError, QuestionError
from pipeline.knowledge import KnowledgeEdge

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
USES, LEARNS, SIBLING = RelationType.USES, RelationType.LEARNS_FROM, RelationType.SIBLING
DOJO, SDL = EdgeKey("patina", "dojo", USES), EdgeKey("patina", "SDL", USES)


@pytest.fixture
def graph(hoprank: HopRank) -> Iterator[ProjectGraph]:
    made = ProjectGraph.open(hoprank, f"routes-{uuid.uuid4().hex[:12]}")
    for name in ("patina", "dojo", "SDL", "opencode"):
        made.add_node(Project(name))
    made.add_edge(Relation("patina", "dojo", USES, 0.8, evidence="it imports dojo"))
    made.add_edge(Relation("patina", "dojo", LEARNS, 0.5))
    made.add_edge(Relation("patina", "SDL", USES, 0.6))
    made.add_edge(Relation("opencode", "patina", SIBLING, 0.4))
    yield made
    made.graph.drop()


def stored(graph: ProjectGraph) -> dict[str, KnowledgeEdge]:
    return {edge.id: edge for edge in graph.graph.edges()}


def weights(graph: ProjectGraph) -> dict[EdgeKey, float]:
    return {EdgeKey.of(one): one.weight for one in graph.get_edges() if one.type is not RelationType.DOMAIN}


def use(
    graph: ProjectGraph,
    query: str = "world storage",
    project: str = "dojo",
    rank: int = 1,
    now: datetime = NOW,
    source: str = "patina",
    **options: Any,
) -> None:
    record_use(graph, query, source, project, rank, now, **{"type": USES, **options})


@pytest.mark.parametrize(
    ("judged", "rises", "falls"),
    [
        ({}, {DOJO}, set()),
        ({"useful": False}, set(), {DOJO}),
        ({"project": "SDL", "rank": 2}, {SDL}, set()),  # what was found beside it learns nothing
        ({"type": None}, {DOJO, EdgeKey("patina", "dojo", LEARNS)}, set()),
        ({"project": "opencode", "type": None}, {EdgeKey("opencode", "patina", SIBLING)}, set()),
        ({"source": "opencode", "project": "patina", "type": None}, {EdgeKey("opencode", "patina", SIBLING)}, set()),
    ],
)
def test_a_judgement_moves_the_relations_over_which_the_answer_came(
    graph: ProjectGraph, judged: dict[str, Any], rises: set[EdgeKey], falls: set[EdgeKey]
) -> None:
    before, relation = weights(graph), graph.get_edge("patina", "dojo", USES)

    use(graph, **judged)

    after = weights(graph)
    assert {key for key in after if after[key] > before[key]} == rises
    assert {key for key in after if after[key] < before[key]} == falls
    assert relation
    assert graph.get_edge("patina", "dojo", USES) == replace(relation, weight=after[DOJO])


def test_an_explanation_gives_the_weight_and_what_it_follows_from(graph: ProjectGraph) -> None:
    use(graph, "first", now=NOW - 60 * DAY)
    use(graph, "third", useful=False)
    use(graph, "second", rank=4, now=NOW - timedelta(seconds=1))

    learned = explain(graph, DOJO, NOW)

    assert learned.base == 0.8
    assert learned.useful == pytest.approx(0.5 + 2)
    assert learned.useless == pytest.approx(1)
    assert learned.weight == pytest.approx(learned.base * learned.factor)
    assert learned.weight == pytest.approx(weights(graph)[DOJO])
    assert [event.query for event in learned.events] == ["third", "second", "first"]


def test_forgetting_everything_equals_never_having_recorded(graph: ProjectGraph) -> None:
    before = stored(graph)
    assert forget(graph, NOW) == []
    for number in range(5):
        use(graph, f"q{number}", rank=number + 1, type=None, useful=number % 2 == 0)

    forgotten = forget(graph, NOW)

    assert stored(graph) == before
    assert {one.edge for one in forgotten} == {DOJO, EdgeKey("patina", "dojo", LEARNS)}


def test_forgetting_since_a_time_equals_not_having_recorded_since(graph: ProjectGraph) -> None:
    use(graph, "early", now=NOW - DAY)
    refresh(graph, NOW)
    before = stored(graph)
    use(graph, "late")

    forget(graph, NOW, since=NOW)

    assert stored(graph) == before


def test_stored_weights_follow_the_time_when_they_are_refreshed(graph: ProjectGraph) -> None:
    use(graph)
    fresh = weights(graph)[DOJO]

    refresh(graph, NOW + 3650 * DAY)

    assert weights(graph)[DOJO] < fresh
    assert weights(graph)[DOJO] == pytest.approx(0.8)


def test_a_weight_that_somebody_sets_becomes_the_base_and_the_same_one_keeps_what_was_learnt(
    graph: ProjectGraph,
) -> None:
    use(graph)
    graph.add_edge(Relation("patina", "dojo", USES, weights(graph)[DOJO], evidence="more of it"))
    assert len(explain(graph, DOJO, NOW).events) == 1

    graph.add_edge(Relation("patina", "dojo", USES, 0.3))
    use(graph, "another")

    assert explain(graph, DOJO, NOW).base == 0.3
    forget(graph, NOW)
    assert weights(graph)[DOJO] == 0.3


def test_only_the_newest_judgements_are_kept(graph: ProjectGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "KEPT", 3)
    for number in range(6):
        use(graph, f"q{number}", now=NOW + number * DAY)

    assert [event.query for event in explain(graph, DOJO, NOW).events] == ["q5", "q4", "q3"]


@pytest.mark.parametrize(
    ("judged", "error", "said"),
    [
        ({"project": "doju"}, GraphError, "no project 'doju'"),
        ({"source": "SDL", "type": None}, GraphError, "hoprank route link SDL USES dojo"),
        ({"source": "SDL", "project": "SDL", "type": None}, GraphError, "SDL has no relation to"),
        ({"rank": 0}, InputError, "rank"),
        ({"query": " "}, QuestionError, "empty"),
    ],
)
def test_what_cannot_be_recorded_is_named_and_teaches_nothing(
    graph: ProjectGraph, judged: dict[str, Any], error: type[HopRankError], said: str
) -> None:
    before = stored(graph)

    with pytest.raises(error, match=said):
        use(graph, **judged)

    assert stored(graph) == before


def test_an_unknown_relation_is_named(graph: ProjectGraph) -> None:
    with pytest.raises(GraphError, match="no relation dojo USES SDL"):
        explain(graph, EdgeKey("dojo", "SDL", USES), NOW)
    with pytest.raises(GraphError, match="learnt_from"):
        EdgeKey.parse("patina", "learnt_from", "dojo")


def test_a_use_is_recorded_and_forgotten_by_commands(graph: ProjectGraph) -> None:
    def run(*arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, ["route", *arguments, "--graph", graph.graph.name], env={"COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    use(graph, project="SDL")
    used = run("used", "world storage", "--from", "patina", "--project", "dojo", "--rank", "8", "--type", "USES")
    (event,) = explain(graph, DOJO, NOW).events
    learned = weights(graph)

    assert "patina USES dojo" in used.stdout
    assert (event.query, event.rank, event.useful) == ("world storage", 8, True)
    run("forget-usage", code=2)  # nobody is there to confirm it
    run("forget-usage", "--since", "2090-01-01")
    assert weights(graph) == learned
    run("forget-usage", "--edge", "patina", "Uses", "dojo")
    assert weights(graph) == learned | {DOJO: 0.8}
    run("forget-usage", "--yes")
    assert weights(graph)[SDL] == 0.6
