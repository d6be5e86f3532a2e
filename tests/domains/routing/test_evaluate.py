"""The three-way comparison on a live server: the example projects, and a folder that brings its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import list_corpora, list_graphs
from pipeline.domains.routing.compare import Failure, RoutingReport
from pipeline.domains.routing.evaluate import evaluate
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Relation, RelationType
from pipeline.errors import GraphError, QuerySetError
from pipeline.flows import maintain
from tests.domains.routing.town import EXAMPLES, Town

MODES = ("all", "oracle", "graph")
MEASURES = ("mrr", "recall@10", "source_recall", "waste", "searched")


@pytest.fixture(scope="module")
def report(hoprank: HopRank, town: Town) -> RoutingReport:
    return evaluate(hoprank, EXAMPLES / "queryset.json", graph=town.graph)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of three projects, one of which imports another."""
    path: Path = tmp_path_factory.mktemp("dataset")
    texts = {
        "me/tides:tides/water.py": 'import moon\n\ndef high_water():\n    """Return the hour of high water."""\n',
        "me/tides:pyproject.toml": '[project]\nname = "tides"\ndependencies = ["moon"]\n',
        "you/moon:moon/__init__.py": 'def phase(day):\n    """Return the phase of the moon."""\n',
        "you/moon:README.md": "# Moon\n\nTables of the phases of the moon for each day of the year.\n",
        "bread:dough.md": "The dough of a bread rests for an hour.",
        "bread:../../escape.md": "A key that leads out of its folder.",
    }
    rows = [{"id": id_, "title": id_, "text": text, "repo": id_.partition(":")[0]} for id_, text in texts.items()]
    queries = [
        {"id": "1", "query": "how long does the dough rest", "repo": "bread"},
        {"id": "2", "query": "the phase of the moon", "repo": "you/moon", "source_project": "me/tides"},
    ]
    for name, lines in (("corpus", rows), ("queries", queries)):
        (path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines), encoding="utf-8")
    qrels = "query_id\tdoc_id\trelevance\n1\tbread:dough.md\t1\n2\tyou/moon:moon/__init__.py\t1\n"
    (path / "qrels.tsv").write_text(qrels, encoding="utf-8")
    return path


@pytest.fixture
def kept(hoprank: HopRank, folder: Path) -> Iterator[tuple[str, RoutingReport]]:
    """The name under which the graph and the corpora of the folder are kept, and the report."""
    name = f"kept-{folder.name}-{hash(folder):x}"
    yield name, evaluate(hoprank, folder, keep=name)
    drop(hoprank, name)


def drop(hoprank: HopRank, name: str) -> None:
    hoprank.graph(name).drop()
    for corpus in list_corpora(hoprank.client):
        if corpus.name.startswith(f"{name}/"):
            maintain.drop(hoprank.client, corpus.name)


@pytest.mark.slow
def test_the_report_has_the_measures_of_each_mode(report: RoutingReport) -> None:
    document = report.to_json()

    assert tuple(document["modes"]) == MODES
    assert all(tuple(values) == MEASURES for values in document["modes"].values())
    assert json.loads(json.dumps(document)) is not None
    assert (document["queries"], document["projects"]) == (8, 7)


def test_the_ceiling_searches_the_expected_projects_alone(report: RoutingReport) -> None:
    assert report.modes["oracle"] == {"mrr": 1, "recall@10": 1, "source_recall": 1, "waste": 0, "searched": 1}
    assert report.modes["all"]["searched"] == 7
    assert report.modes["graph"]["searched"] <= 3


def test_the_figures_of_the_example_are_as_they_were(report: RoutingReport) -> None:
    found = {mode: [report.modes[mode][name] for name in ("mrr", "recall@10")] for mode in MODES}

    assert found == {
        "all": pytest.approx([0.619, 1.0], abs=0.02),
        "oracle": pytest.approx([1.0, 1.0], abs=0.02),
        "graph": pytest.approx([0.479, 0.625], abs=0.02),
    }


def test_documents_that_no_project_has_are_an_error(hoprank: HopRank, town: Town, tmp_path: Path) -> None:
    query = {"id": "1", "query": "orders", "expected_repos": ["ledger"], "expected_docs": ["nowhere.md"]}
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"queries": [query]}), encoding="utf-8")

    with pytest.raises(QuerySetError, match="no expected project has any of the documents"):
        evaluate(hoprank, path, graph=town.graph)


def test_the_example_queries_fail_in_each_of_the_four_ways(report: RoutingReport) -> None:
    failed = {(one.mode, one.query): one.category for one in report.failures}

    assert failed["graph", "stored"] is Failure.MISSING_PROJECT
    assert failed["all", "stored"] is Failure.WRONG_DOMAIN
    assert failed["graph", "undo"] is Failure.NOISE
    assert failed["all", "faults"] is Failure.SCATTERED
    assert not {query for _, query in failed} & {"right", "uses"}


@pytest.mark.slow
def test_the_edges_that_the_analysis_names_mend_failures(hoprank: HopRank, town: Town, report: RoutingReport) -> None:
    graph = ProjectGraph.open(hoprank, town.graph)
    mends = {tuple(one.mend.split()) for one in report.failures if one.mode == "graph"}
    assert len(mends) >= 3
    relations = [Relation(source, target, RelationType(kind.lower())) for source, kind, target in mends]
    try:
        for relation in relations:
            graph.add_edge(relation)
        mended = evaluate(hoprank, EXAMPLES / "queryset.json", graph=town.graph)
    finally:
        for relation in relations:
            graph.remove_edge(relation.source, relation.target, relation.type)

    assert mended.modes["graph"]["mrr"] > report.modes["graph"]["mrr"]
    assert mended.modes["graph"]["source_recall"] > report.modes["graph"]["source_recall"]
    assert len([one for one in mended.failures if one.mode == "graph"]) < len(
        [one for one in report.failures if one.mode == "graph"]
    )


@pytest.mark.slow
def test_a_folder_is_measured_and_cleared_away(hoprank: HopRank, folder: Path) -> None:
    before = [graph.name for graph, _ in list_graphs(hoprank.client)], list_corpora(hoprank.client)

    report = evaluate(hoprank, folder)

    assert report.modes["graph"]["mrr"] == report.modes["oracle"]["mrr"] == 1
    assert ([graph.name for graph, _ in list_graphs(hoprank.client)], list_corpora(hoprank.client)) == before


@pytest.mark.slow
def test_the_registry_and_the_edges_of_a_folder_come_from_its_files(
    hoprank: HopRank, kept: tuple[str, RoutingReport]
) -> None:
    graph = ProjectGraph.open(hoprank, kept[0])

    moon = graph.get_node("you/moon")
    assert moon
    assert (moon.summary, moon.domains) == ("Tables of the phases of the moon for each day of the year.", ("python",))
    assert moon.aliases == ("moon",)
    uses = graph.get_edge("me/tides", "you/moon", RelationType.USES)
    assert uses
    assert "pyproject.toml" in uses.evidence
    assert not (Path.cwd().parent / "escape.md").exists()


@pytest.mark.slow
def test_kept_projects_are_used_again(hoprank: HopRank, folder: Path, kept: tuple[str, RoutingReport]) -> None:
    generations = {corpus.name: corpus.generation for corpus in list_corpora(hoprank.client)}

    again = evaluate(hoprank, folder, keep=kept[0])

    assert again.modes == kept[1].modes
    assert {corpus.name: corpus.generation for corpus in list_corpora(hoprank.client)} == generations


def test_a_folder_is_not_kept_among_projects_of_ones_own(hoprank: HopRank, town: Town, folder: Path) -> None:
    before = {one.id: one.path for one in ProjectGraph.open(hoprank, town.graph).list_nodes()}

    with pytest.raises(GraphError, match="holds the project 'almanac', which isn't of the folder"):
        evaluate(hoprank, folder, keep=town.graph)

    assert {one.id: one.path for one in ProjectGraph.open(hoprank, town.graph).list_nodes()} == before


def test_a_query_of_an_unknown_project_is_refused(hoprank: HopRank, town: Town, tmp_path: Path) -> None:
    query = {"id": "1", "query": "?", "expected_repos": ["nobody"], "expected_docs": ["a"]}
    path = tmp_path / "q.json"
    path.write_text(json.dumps({"queries": [query]}), encoding="utf-8")

    with pytest.raises(QuerySetError, match="'1' names an unknown project 'nobody'"):
        evaluate(hoprank, path, graph=town.graph)
