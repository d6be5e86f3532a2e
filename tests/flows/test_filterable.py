"""Declared fields: kept from an ingest through every change of a corpus, and changed by a relink."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.db.indexes import vector_index_name
from pipeline.embedding.embedder import Embedder
from pipeline.errors import FingerprintError, InputError
from pipeline.flows import maintain
from pipeline.progress import Progress

ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "Amsel", "text": "The gauge of Amsel.", "metadata": {"year": 1901, "lang": "da"}},
    {"id": "b", "title": "Orme", "text": "The gauge of Orme.", "metadata": {"year": 1902, "tags": ["x", "y"]}},
    {"id": "c", "title": "Vind", "text": "The gauge of Vind."},
]


def changed(key: str, metadata: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """The rows with other metadata of one."""
    return [{**row, "metadata": metadata or {}} if row["id"] == key else row for row in ROWS]


def found(hoprank: HopRank, corpus: str, filters: Mapping[str, Any], leg: str = "hoprank") -> set[str]:
    result = hoprank.search("gauge", corpus=corpus, filters=filters, leg=leg, explain=True)
    return {hit.document for hit in result.hits}


def by(hoprank: HopRank, corpus: str, filters: Mapping[str, Any]) -> list[str]:
    result = hoprank.search("gauge", corpus=corpus, filters=filters, explain=True)
    return [one["by"] for one in result.metadata["filter"]["evaluated"]]


@pytest.fixture(scope="module")
def kept(hoprank: HopRank, new_corpus: Callable[[], Any]) -> Iterator[str]:
    with new_corpus() as name:
        hoprank.add(ROWS, name, filterable=["year", "lang", "tags"])
        yield name


@pytest.mark.parametrize("leg", ["hoprank", "vector", "fulltext", "graph"])
def test_a_document_that_changes_its_metadata_alone_changes_in_the_indexes(
    hoprank: HopRank, kept: str, leg: str
) -> None:
    hoprank.replace(ROWS, kept)
    assert found(hoprank, kept, {"year": 1901}, leg) == {"a"}

    hoprank.replace(changed("a", {"year": 1902}), kept)
    assert found(hoprank, kept, {"year": 1901}, leg) == set()
    assert found(hoprank, kept, {"year": {"$gte": 1902}}, leg) == {"a", "b"}
    assert found(hoprank, kept, {"lang": "da"}, leg) == set()

    hoprank.replace(changed("a", None), kept)
    assert found(hoprank, kept, {"year": {"$gt": 0}}, leg) == {"b"}


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [(1, True), (1, "1"), (2**53, 2**53 + 1), ("x", ["x", "z"]), ([], None)])
def test_values_that_look_alike_are_told_apart_after_a_change(
    hoprank: HopRank, kept: str, one: Any, other: Any
) -> None:
    for value, was in ((one, other), (other, one)):
        hoprank.replace(changed("c", {} if value is None else {"year": value}), kept)
        if not isinstance(value, list | None.__class__):
            assert "c" in found(hoprank, kept, {"year": value})
        if not isinstance(was, list | None.__class__) and was != "x":
            assert "c" not in found(hoprank, kept, {"year": was})
    hoprank.replace(changed("c", {"year": ["x", "z"]}), kept)
    assert found(hoprank, kept, {"year": "z"}, "vector") == {"c"}


def test_a_run_that_says_nothing_keeps_the_fields_and_one_that_says_others_is_refused(
    hoprank: HopRank, kept: str
) -> None:
    hoprank.add(ROWS, kept)
    hoprank.add(ROWS, kept, filterable=["tags", "year", "metadata.lang"])
    with pytest.raises(FingerprintError, match="not by year") as caught:
        hoprank.add(ROWS, kept, filterable=["year"])

    assert "relink" in caught.value.fix
    assert get_corpus(hoprank.client, kept).filterable == ("lang", "tags", "year")


def test_what_cannot_be_declared_leaves_no_corpus(hoprank: HopRank, corpus_name: str) -> None:
    for names in (["title"], ["a"] * 1 + [f"f{n}" for n in range(8)], [""]):
        with pytest.raises(InputError):
            hoprank.add(ROWS, corpus_name, filterable=names)

    assert find_corpus(hoprank.client, corpus_name) is None


@pytest.mark.slow
def test_a_relink_changes_the_fields_and_an_export_keeps_them(
    hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path: Path
) -> None:
    with new_corpus() as name, new_corpus() as copy:
        hoprank.add(ROWS, name)
        assert by(hoprank, name, {"year": 1901}) == ["streamed"]

        hoprank.relink(name, filterable=["year"])
        assert by(hoprank, name, {"year": 1901, "lang": "da"}) == ["index", "streamed"]
        assert found(hoprank, name, {"year": 1901}) == {"a"}

        path = tmp_path / "corpus.jsonl"
        maintain.export_corpus(hoprank.client, name, path, progress=Progress())
        maintain.import_corpus(hoprank.client, hoprank.embedder, path, copy, progress=Progress())
        assert get_corpus(hoprank.client, copy).filterable == ("year",)
        assert by(hoprank, copy, {"year": 1901}) == ["index"]
        assert found(hoprank, copy, {"year": 1901}, "vector") == {"a"}

        hoprank.relink(name)
        assert get_corpus(hoprank.client, name).filterable == ("year",)
        hoprank.relink(name, filterable=[])
        assert by(hoprank, name, {"year": 1901}) == ["streamed"]
        assert found(hoprank, name, {"year": 1901}) == {"a"}


MANY: list[dict[str, Any]] = [
    {
        "id": f"n{number}",
        "title": f"Gauge {number}",
        "text": f"The gauge number {number} of Amsel."
        + " The gauge is read by the pilot at noon." * (60 * (number == 7)),
        "metadata": {
            "year": 1900 + number if number % 3 else str(1900 + number),
            "lang": ["da", "de"][: number % 3],
            "tenant": f"{'t' * 61 * (number % 2)}{number % 4}",
            "open": number % 2 == 0,
            "streamed": number % 5,
        },
    }
    for number in range(9)
]
ASKED: list[dict[str, Any]] = [
    {"year": "1900", "open": True},
    {"year": {"$gte": 1904, "$lt": 1907}},
    {"lang": {"$in": ["da", "xx"]}},
    {"tenant": f"{'t' * 61}1"},
    {"$or": [{"open": False, "streamed": 3}, {"tenant": {"$gt": "t"}}]},
]


@pytest.mark.slow
def test_a_rebuilt_corpus_keeps_its_fields_with_an_index_keys_and_terms_and_filters_find_the_same(
    hoprank: HopRank,
    twin: Embedder,
    new_corpus: Callable[[], Any],
    cypher: Callable[..., list[Any]],
) -> None:
    with new_corpus() as name:
        hoprank.add(MANY, name, filterable=["year", "lang", "tenant", "open"])
        old = get_corpus(hoprank.client, name)
        before = state(hoprank, cypher, name)

        maintain.reembed(hoprank.client, twin, hoprank.settings, name, progress=Progress())
        hoprank = HopRank(hoprank.client, twin, hoprank.settings)

        assert get_corpus(hoprank.client, name).id != old.id
        assert state(hoprank, cypher, name) == before

        # What comes later is carried by the new indexes, too.
        hoprank.replace([{**row, "metadata": {"year": 1901}} for row in MANY], name)
        assert found(hoprank, name, {"year": 1901}, "vector") == {row["id"] for row in MANY}


def state(hoprank: HopRank, cypher: Callable[..., list[Any]], name: str) -> Any:
    """What a corpus has for its filters, and what they find by either index."""
    corpus = get_corpus(hoprank.client, name)
    indexed = cypher("SHOW INDEXES YIELD name, properties, state WHERE name = $n RETURN *", n=corpus.vector_index)
    chunks = cypher(f"MATCH (c:{corpus.vector_index}:{corpus.label}) RETURN c.text AS text, properties(c) AS all")
    carried = {
        row["text"]: {key: value for key, value in row["all"].items() if key.startswith(("filter", "declared"))}
        for row in chunks
    }
    assert len(chunks) == corpus.chunks
    assert all(any(key.startswith("filter_") for key in values) for values in carried.values())
    return (
        corpus.filterable,
        [(row["properties"], row["state"]) for row in indexed],
        carried,
        [by(hoprank, name, filters) for filters in ASKED[:1]],
        [[found(hoprank, name, filters, leg) for leg in ("vector", "fulltext")] for filters in ASKED],
    )


def test_vectors_are_reused_between_corpora_with_and_without_fields_in_one_index(
    hoprank: HopRank, kept: str, new_corpus: Callable[[], Any]
) -> None:
    with new_corpus() as name:
        plan = hoprank.replace(ROWS, name, dry_run=True).plan
        hoprank.add(ROWS, name, filterable=["year"])
        own = get_corpus(hoprank.client, name).vector_index

    assert plan.chunks_to_embed == 0
    assert own == vector_index_name(hoprank.embedder.fingerprint)
