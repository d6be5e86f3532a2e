"""Querysets of routing: JSON over registered projects, and folders that bring their documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.routing.compare import Answer, measure_answer
from pipeline.domains.routing.querysets import RoutingQuery, read_folder, read_queryset
from pipeline.errors import QuerySetError

QUERY = {
    "id": "xp_001",
    "query": "how does dojo handle ECS components",
    "source_project": "patina",
    "expected_repos": ["dojo"],
    "expected_docs": ["crates/dojo-core/src/world.cairo"],
    "derivation": "session 20251203 mentioned dojo ECS",
}


def queryset(folder: Path, *queries: dict[str, Any]) -> Path:
    path = folder / "queryset.json"
    path.write_text(json.dumps({"name": "cross-project-v1", "queries": queries}), encoding="utf-8")
    return path


def dataset(folder: Path, documents: list[dict[str, Any]], queries: list[dict[str, Any]], qrels: str) -> Path:
    for name, rows in (("corpus", documents), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text(f"query_id\tdoc_id\trelevance\n{qrels}", encoding="utf-8")
    return folder


def test_a_queryset_of_the_document_is_read(tmp_path: Path) -> None:
    found = read_queryset(queryset(tmp_path, QUERY))

    assert found.name == "cross-project-v1"
    assert found.queries == (
        RoutingQuery(
            "xp_001",
            "how does dojo handle ECS components",
            "patina",
            ("dojo",),
            frozenset({("", "crates/dojo-core/src/world.cairo")}),
            "session 20251203 mentioned dojo ECS",
        ),
    )


def test_a_document_may_name_its_project(tmp_path: Path) -> None:
    query = {**QUERY, "expected_repos": ["dojo", "sdl"], "expected_docs": ["sdl:src/power.c", "C:/notes.md"]}

    found = read_queryset(queryset(tmp_path, query)).queries[0]

    assert found.documents == {("sdl", "src/power.c"), ("", "C:/notes.md")}
    assert found.judged("dojo", "C:/notes.md") in found.documents
    assert found.judged("dojo", "src/power.c") not in found.documents
    assert found.judged("stray", "C:/notes.md") not in found.documents


def queries(*changes: dict[str, Any]) -> bytes:
    return json.dumps({"queries": [{**QUERY, **change} for change in changes]}).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (queries({"expected_repos": []}), "queries.0.expected_repos"),
        (queries({"expected_docs": None}), "queries.0.expected_docs"),
        (queries({"query": ""}), "queries.0.query"),
        (queries({"id": [7]}), "queries.0.id"),
        (queries({}, {}), "'xp_001' was used before"),
        *((content, r"q\.json") for content in (b"", b"[]", b"{", b'{"queries": []}', b"\xff\xfe")),
        (None, r"q\.json can't be read"),
    ],
)
def test_a_malformed_queryset_is_named(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "q.json"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(QuerySetError, match=said):
        read_queryset(path)


def test_a_query_without_a_text_costs_no_other(tmp_path: Path) -> None:
    found = read_queryset(queryset(tmp_path, {**QUERY, "id": "a", "query": " \u00ad"}, {**QUERY, "id": 7}))

    assert [query.id for query in found.queries] == ["7"]
    assert found.remarks == ("1 query without a text can't be asked ('a').",)


def test_a_folder_names_the_project_of_each_document(tmp_path: Path) -> None:
    documents: list[dict[str, Any]] = [
        {"id": "a:x", "text": "x", "repo": "a"},
        {"id": "b:y", "text": "y", "metadata": {"repo": "b"}},
    ]
    queries: list[dict[str, Any]] = [
        {"id": "1", "query": "x?", "repo": "a"},
        {"id": "2", "query": "y?", "source_project": "a"},
    ]

    found, projects = read_folder(dataset(tmp_path, documents, queries, "1\ta:x\t1\n2\tb:y\t1\n2\ta:x\t1\n"))

    assert projects == {"a:x": "a", "b:y": "b"}
    assert [(query.source, query.projects) for query in found.queries] == [("", ("a",)), ("a", ("a", "b"))]
    assert found.queries[1].documents == {("a", "a:x"), ("b", "b:y")}


@pytest.mark.parametrize(
    ("document", "query", "said"),
    [({}, {}, r"corpus\.jsonl, line 1 names no repo"), ({"repo": "a"}, {"repo": "z"}, "'1' expects 'z'")],
)
def test_a_folder_of_no_or_unknown_projects_is_refused(
    tmp_path: Path, document: dict[str, str], query: dict[str, str], said: str
) -> None:
    folder = dataset(
        tmp_path, [{"id": "x", "text": "x", **document}], [{"id": "1", "query": "x?", **query}], "1\tx\t1\n"
    )

    with pytest.raises(QuerySetError, match=said):
        read_folder(folder)


def test_the_measures_are_those_of_the_document() -> None:
    query = RoutingQuery("1", "?", "", ("a", "b"), frozenset({("a", "x"), ("", "y")}))
    answer = Answer((("c", "x"), ("b", "y"), ("a", "z")), ("a", "c", "d"))

    assert measure_answer(query, answer) == {
        "mrr": 0.5,
        "recall@10": 0.5,
        "source_recall": 0.5,
        "waste": pytest.approx(2 / 3),
        "searched": 3.0,
    }
