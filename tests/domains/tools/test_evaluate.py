"""The evaluation of found tools: its measures by hand, its report, and the graph that it leaves behind."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank, KnowledgeGraph, KnowledgeNode
from pipeline.db.catalogue import list_graphs
from pipeline.domains.tools.catalogue import Built
from pipeline.domains.tools.evaluate import evaluate, measure
from pipeline.domains.tools.index import IndexedTool, ToolIndex
from pipeline.errors import QuerySetError, SourceError
from pipeline.evaluate.datasets import Dataset, Query
from pipeline.progress import Progress
from pipeline.records import Vector
from tests.domains.tools.sixty import SIXTY, THIRTY

MEASURES = ["recall@5", "recall@10", "ndcg@10", "perfect@10"]
CORPUS: list[dict[str, Any]] = [
    {"id": "milk", "title": "milk", "text": "Milks a cow.", "depends_on": ["gate"]},
    {"id": "gate", "title": "gate", "text": "Opens a barn."},
    {"id": "sheep", "title": "sheep", "text": "Counts the flock."},
]
FARM = [IndexedTool(row["id"], row["title"], "", row["text"], needs=tuple(row.get("depends_on", ()))) for row in CORPUS]
AXES = {"cow": 0, "barn": 1, "flock": 2}


def embed(texts: Sequence[str]) -> Vector:
    """Embed by three words, each an axis."""
    vectors = np.full((len(texts), 3), 0.01, dtype=np.float32)
    for row, text in enumerate(texts):
        for word, axis in AXES.items():
            vectors[row, axis] += word in text
    return vectors


def write(folder: Path, **files: Sequence[object] | str) -> Path:
    for name, content in files.items():
        text = content if isinstance(content, str) else "".join(f"{json.dumps(row)}\n" for row in content)
        (folder / f"{name}.{'tsv' if name == 'qrels' else 'jsonl'}").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    queries = [
        {"id": "q", "query": "Milk a cow for me", "main_tool": "sheep", "gold_tool_names": ["sheep"], "type": "sheep"},
        {"id": "r", "query": "How large is the flock?"},
    ]
    qrels = "query\ttool\trelevance\nq\tmilk\t2\nq\tgate\t1\nr\tsheep\t1\n"
    return write(tmp_path, corpus=CORPUS, queries=queries, qrels=qrels)


def build(open_graph: Callable[[], KnowledgeGraph], paths: Sequence[Path]) -> Built:
    """Make a graph of nothing but the tools."""
    graph = open_graph()
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    nodes = [
        KnowledgeNode(
            row["id"],
            "tool",
            properties={"name": row["title"], "description": row["text"], "needs": row.get("depends_on", [])},
        )
        for row in rows
    ]
    graph.sync(nodes, [], graph.embed({row["id"]: row["text"] for row in rows}))
    return Built({"tool": len(nodes)}, {}, (), (), len(nodes), len(nodes))


def test_measures_are_those_computed_by_hand() -> None:
    # Ten tools fit "barn" as well as gate does, and come before it by id: gate is the eleventh.
    barns = [IndexedTool(f"a{number}", f"a{number}", "", "A barn.") for number in range(10)]
    tools = [*FARM, *barns]
    index = ToolIndex.of(tools, (), {tool.id: embed([tool.description])[0] for tool in tools})
    queries = (Query("q", "cow", {"milk": 2.0, "gate": 1.0}), Query("r", "barn", {"gate": 1.0}))

    report = measure(index, Dataset("farm", queries), embed, Progress())

    half_found = {"recall@5": 0.5, "recall@10": 0.5, "ndcg@10": 2 / (2 + 1 / math.log2(3)), "perfect@10": 0.0}
    baseline = {name: pytest.approx(value / 2) for name, value in half_found.items()}
    assert report.metrics == {
        "vector": baseline,
        "bm25": baseline,
        "hybrid": baseline,
        "hoprank": dict.fromkeys(MEASURES, pytest.approx(1 / 2)),
    }
    assert (report.queries, report.tools) == (2, 13)


def test_bm25_ranks_only_tools_that_share_a_word() -> None:
    index = ToolIndex.of(FARM, (), {tool.id: embed([tool.description])[0] for tool in FARM})

    report = measure(index, Dataset("farm", (Query("q", "cow", {"sheep": 1.0}),)), embed, Progress())

    assert {name: of["recall@10"] for name, of in report.metrics.items()} == {
        "vector": 1.0,
        "bm25": 0.0,
        "hybrid": 1.0,
        "hoprank": 1.0,
    }


def test_a_task_longer_than_is_read_ends_no_evaluation() -> None:
    index = ToolIndex.of(FARM, (), {tool.id: embed([tool.description])[0] for tool in FARM})
    dataset = Dataset("farm", (Query("q", "cow " * 5_000, {"milk": 1.0}),)).as_read()

    report = measure(index, dataset, embed, Progress())

    assert report.metrics["hoprank"]["recall@5"] == 1.0
    assert report.remarks == ("1 query is longer than 10,000 characters, and asked as far as that ('q').",)


def test_a_report_is_plain_json() -> None:
    index = ToolIndex.of(FARM, (), {tool.id: embed([tool.description])[0] for tool in FARM})

    report = measure(index, Dataset("farm", (Query("q", "cow", {"milk": 1.0}),)), embed, Progress())
    read = json.loads(json.dumps(report.to_json()))

    assert list(read) == ["metrics", "queries", "tools", "latency_ms", "remarks"]
    assert list(read["metrics"]) == ["vector", "bm25", "hybrid", "hoprank"]
    assert all(list(values) == MEASURES for values in read["metrics"].values())
    assert 0 < read["latency_ms"]["p50"] <= read["latency_ms"]["p95"]


def test_a_folder_is_measured_on_a_graph_of_its_own(hoprank: HopRank, folder: Path) -> None:
    before = {graph.name for graph, _ in list_graphs(hoprank.client)}

    report = evaluate(build, hoprank, folder)

    assert report.metrics["hoprank"] == dict.fromkeys(MEASURES, 1.0)
    assert (report.queries, report.tools) == (2, 3)
    assert {graph.name for graph, _ in list_graphs(hoprank.client)} == before


def test_a_build_that_fails_leaves_no_graph(hoprank: HopRank, folder: Path) -> None:
    def failing(open_graph: Callable[[], KnowledgeGraph], paths: Sequence[Path]) -> Built:
        build(open_graph, paths)
        raise SourceError("No.", "Try again.")

    before = {graph.name for graph, _ in list_graphs(hoprank.client)}

    with pytest.raises(SourceError):
        evaluate(failing, hoprank, folder)

    assert {graph.name for graph, _ in list_graphs(hoprank.client)} == before


def test_a_folder_without_tools_is_refused(hoprank: HopRank, folder: Path) -> None:
    (folder / "corpus.jsonl").unlink()

    with pytest.raises(QuerySetError, match=r"no corpus\.jsonl"):
        evaluate(build, hoprank, folder)


def test_judgements_of_unknown_tools_count_as_not_found_and_are_named(hoprank: HopRank, folder: Path) -> None:
    write(folder, corpus=CORPUS[:2])

    report = evaluate(build, hoprank, folder)

    assert report.metrics["hoprank"]["recall@5"] == 0.5
    assert report.remarks == (
        "Not in the corpus, so that they count as not found: 1 of 3 relevant documents ('sheep').",
    )


@pytest.mark.slow
def test_the_figures_of_sixty_tools_are_as_they_were(hoprank: HopRank, tmp_path: Path) -> None:
    corpus = [{"id": tool.id, "title": tool.name, "text": tool.description} for tool in SIXTY.tools]
    of = {tool.name: tool.id for tool in SIXTY.tools}
    tasks = [one for one in THIRTY if one.task]
    queries = [{"id": str(at), "query": one.task} for at, one in enumerate(tasks)]
    judged = [f"{at}\t{of[name]}\t1\n" for at, one in enumerate(tasks) for name in one.tools.split()]
    write(tmp_path, corpus=corpus, queries=queries, qrels="query\ttool\trelevance\n" + "".join(judged))

    report = evaluate(build, hoprank, tmp_path)

    assert {name: [of[key] for key in ("recall@5", "ndcg@10")] for name, of in report.metrics.items()} == {
        "vector": pytest.approx([0.902, 0.918], abs=0.02),
        "bm25": pytest.approx([0.97, 0.987], abs=0.02),
        "hybrid": pytest.approx([0.955, 0.953], abs=0.02),
        "hoprank": pytest.approx([1.0, 0.958], abs=0.02),
    }
