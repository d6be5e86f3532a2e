"""Judgements on answers on a live graph: what is kept, the weights that follow, and how they are undone."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.domains.routing.learn.usage import UsedAnswer, explain, forget, record_use, refresh
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import EdgeKey, Project, Relation, RelationType
from pipeline.domains.routing.settings import RoutingSettings
from pipeline.errors import GraphError, InputError, QuestionError
from pipeline.knowledge import KnowledgeEdge
from pipeline.settings import load_settings

Run = Callable[..., Result]

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
SETTINGS = load_settings().section(RoutingSettings)
USES, LEARNS, SIBLING = RelationType.USES, RelationType.LEARNS_FROM, RelationType.SIBLING
DOJO = EdgeKey("patina", "dojo", USES)


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
    type: RelationType | None = USES,  # noqa: A002
    *,
    useful: bool = True,
) -> None:
    record_use(graph, query, "patina", UsedAnswer(project, rank, useful, type), SETTINGS, now)


def test_an_answer_that_was_used_strengthens_its_relation_alone(graph: ProjectGraph) -> None:
    before = weights(graph)

    use(graph)

    after = weights(graph)
    assert after.pop(DOJO) > before.pop(DOJO)
    assert after == before


def test_a_useless_answer_weakens_its_relation(graph: ProjectGraph) -> None:
    use(graph, useful=False)

    assert weights(graph)[DOJO] < 0.8


def test_answers_found_beside_the_used_one_change_nothing(graph: ProjectGraph) -> None:
    before = weights(graph)

    use(graph, project="SDL", rank=2)  # only the second of three answers was used

    changed = {key for key, weight in weights(graph).items() if weight != before[key]}
    assert changed == {EdgeKey("patina", "SDL", USES)}


def test_without_a_type_every_relation_between_the_projects_learns(graph: ProjectGraph) -> None:
    use(graph, type=None)

    assert weights(graph)[DOJO] > 0.8
    assert weights(graph)[EdgeKey("patina", "dojo", LEARNS)] > 0.5


def test_a_sibling_learns_in_both_directions(graph: ProjectGraph) -> None:
    use(graph, project="opencode", type=None)
    once = weights(graph)[EdgeKey("opencode", "patina", SIBLING)]
    record_use(graph, "another", "opencode", UsedAnswer("patina", 1), SETTINGS, NOW)

    assert 0.4 < once < weights(graph)[EdgeKey("opencode", "patina", SIBLING)]


def test_a_relation_keeps_its_evidence_and_its_creation(graph: ProjectGraph) -> None:
    before = graph.get_edge("patina", "dojo", USES)

    use(graph)

    after = graph.get_edge("patina", "dojo", USES)
    assert before is not None
    assert after is not None
    assert replace(after, weight=before.weight) == before


def test_an_explanation_gives_the_weight_and_what_it_follows_from(graph: ProjectGraph) -> None:
    use(graph, "first", now=NOW - 60 * DAY)
    use(graph, "third", useful=False)
    use(graph, "second", rank=4, now=NOW - timedelta(seconds=1))

    learned = explain(graph, DOJO, SETTINGS, NOW)

    assert learned.base == 0.8
    assert learned.useful == pytest.approx(0.5 + 2)
    assert learned.useless == pytest.approx(1)
    assert learned.weight == pytest.approx(learned.base * learned.factor)
    assert learned.weight == pytest.approx(weights(graph)[DOJO])
    assert [event.query for event in learned.events] == ["third", "second", "first"]


def test_forgetting_everything_equals_never_having_recorded(graph: ProjectGraph) -> None:
    before = stored(graph)
    for number in range(5):
        use(graph, f"q{number}", rank=number + 1, type=None, useful=number % 2 == 0)

    forgotten = forget(graph, SETTINGS, NOW)

    assert stored(graph) == before
    assert {one.edge for one in forgotten} == {DOJO, EdgeKey("patina", "dojo", LEARNS)}


def test_forgetting_since_a_time_equals_not_having_recorded_since(graph: ProjectGraph) -> None:
    use(graph, "early", now=NOW - DAY)
    refresh(graph, SETTINGS, NOW)
    before = stored(graph)
    use(graph, "late")

    forget(graph, SETTINGS, NOW, since=NOW)

    assert stored(graph) == before


def test_forgetting_one_relation_leaves_the_others(graph: ProjectGraph) -> None:
    use(graph)
    use(graph, project="SDL")

    forget(graph, SETTINGS, NOW, key=DOJO)

    assert weights(graph)[DOJO] == 0.8
    assert weights(graph)[EdgeKey("patina", "SDL", USES)] > 0.6


def test_forgetting_nothing_writes_nothing(graph: ProjectGraph) -> None:
    assert forget(graph, SETTINGS, NOW) == []
    assert forget(graph, SETTINGS, NOW, key=DOJO, since=NOW) == []


def test_stored_weights_follow_the_time_when_they_are_refreshed(graph: ProjectGraph) -> None:
    use(graph)
    fresh = weights(graph)[DOJO]

    refresh(graph, SETTINGS, NOW + 3650 * DAY)

    assert weights(graph)[DOJO] < fresh
    assert weights(graph)[DOJO] == pytest.approx(0.8)


def test_a_weight_that_somebody_sets_becomes_the_base(graph: ProjectGraph) -> None:
    use(graph)

    graph.add_edge(Relation("patina", "dojo", USES, 0.3))
    use(graph, "another")

    assert explain(graph, DOJO, SETTINGS, NOW).base == 0.3
    forget(graph, SETTINGS, NOW)
    assert weights(graph)[DOJO] == 0.3


def test_linking_again_with_the_same_weight_keeps_what_was_learnt(graph: ProjectGraph) -> None:
    use(graph)
    learned = weights(graph)[DOJO]

    graph.add_edge(Relation("patina", "dojo", USES, learned, evidence="more of it"))

    assert len(explain(graph, DOJO, SETTINGS, NOW).events) == 1


def test_only_the_newest_judgements_are_kept(graph: ProjectGraph) -> None:
    few = SETTINGS.model_copy(update={"kept": 3})
    for number in range(6):
        answer = UsedAnswer("dojo", 1, type=USES)
        record_use(graph, f"q{number}", "patina", answer, few, NOW + number * DAY)

    assert [event.query for event in explain(graph, DOJO, few, NOW).events] == ["q5", "q4", "q3"]


def test_answers_of_the_asking_project_and_of_unrelated_ones_teach_nothing(graph: ProjectGraph) -> None:
    before = stored(graph)

    for project in ("SDL", "dojo"):
        with pytest.raises(GraphError, match="SDL has no relation to"):
            record_use(graph, "q", "SDL", UsedAnswer(project, 1), SETTINGS, NOW)

    assert stored(graph) == before


def test_what_cannot_be_recorded_is_named(graph: ProjectGraph) -> None:
    with pytest.raises(GraphError, match="no project 'doju'"):
        use(graph, project="doju")
    with pytest.raises(GraphError, match="hoprank route link SDL USES dojo"):
        record_use(graph, "q", "SDL", UsedAnswer("dojo", 1), SETTINGS, NOW)
    with pytest.raises(InputError, match="rank"):
        use(graph, rank=0)
    with pytest.raises(QuestionError, match="empty"):
        use(graph, query=" ")
    with pytest.raises(GraphError, match="no relation dojo USES SDL"):
        explain(graph, EdgeKey("dojo", "SDL", USES), SETTINGS, NOW)
    with pytest.raises(GraphError, match="learnt_from"):
        EdgeKey.parse("patina", "learnt_from", "dojo")


@pytest.fixture
def run(graph: ProjectGraph, server_environment: dict[str, str]) -> Run:
    """Run a command on the graph."""

    def command(*arguments: str, code: int = 0) -> Result:
        given = ["route", *arguments, "--graph", graph.graph.name]
        result = CliRunner().invoke(app, given, env={**server_environment, "COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    return command


def test_a_use_is_recorded_explained_and_forgotten_by_commands(run: Run, graph: ProjectGraph) -> None:
    used = run("used", "world storage", "--from", "patina", "--project", "dojo", "--rank", "8", "--type", "USES")
    shown = run("explain", "patina", "uses", "dojo")
    document: dict[str, Any] = json.loads(run("explain", "patina", "USES", "dojo", "--json").stdout)
    run("forget-usage", "--edge", "patina", "Uses", "dojo")

    assert "patina USES dojo" in used.stdout
    assert "world storage" in shown.stdout
    assert document["base"] == 0.8
    assert document["weight"] > 0.8
    assert document["events"][0]["rank"] == 8
    assert weights(graph)[DOJO] == 0.8


def test_everything_is_forgotten_only_when_it_is_confirmed(run: Run, graph: ProjectGraph) -> None:
    use(graph)
    learned = weights(graph)

    run("forget-usage", code=2)
    kept = weights(graph)
    run("forget-usage", "--since", "2030-01-01")
    later = weights(graph)
    run("forget-usage", "--yes")

    assert kept == later == learned
    assert weights(graph)[DOJO] == 0.8
