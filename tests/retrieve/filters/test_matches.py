"""Filters on the real graph: every leg gives what is admitted and nothing else, exactly or by asking for more."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import neo4j
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline import HopRank, RetrieverResult
from pipeline.flows.search import Retriever
from pipeline.retrieve.filters.matches import Matches
from pipeline.retrieve.filters.search import filtered_fulltext_search, filtered_vector_search
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from tests.retrieve.filters.test_parse import oracle

Cypher = Callable[..., list[neo4j.Record]]

QUESTION = "Which ship carried the tide gauge of Amsel to Skelda?"
SHIPS = ("Candlewick", "Curlew", "Concertina", "Patient Agnes", "Five Aunts")
PORTS = ("Skelda", "Halvey", "Ostrey", "Vind")


def documents() -> list[dict[str, Any]]:
    """Sixty voyages; every fifth has no year, every fourth a list of tags."""
    rows = []
    for number in range(60):
        ship, port = SHIPS[number % 5], PORTS[number % 4]
        metadata: dict[str, Any] = {"ship": ship, "secret": number % 2 == 0, "from": {"port": port}}
        if number % 5:
            metadata["year"] = 1900 + number
        if number % 4 == 0:
            metadata["tags"] = ["tides", f"t{number % 3}"]
        text = f"The {ship} carried a tide gauge by Amsel to {port} on voyage {number}. The crew of the {ship} slept."
        rows.append({"id": f"v{number}", "title": f"Voyage {number}", "text": text, "metadata": metadata})
    return rows


@pytest.fixture(scope="module")
def voyages(hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path: Path = tmp_path_factory.mktemp("voyages") / "voyages.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in documents()), encoding="utf-8")
    with new_corpus() as name:
        hoprank.ingest(path, corpus=name)
        yield name


def found(result: RetrieverResult) -> list[str]:
    return list(dict.fromkeys(item.metadata["document"] for item in result.items))


def those(wanted: Callable[[Mapping[str, Any]], bool]) -> set[str]:
    return {row["id"] for row in documents() if wanted(row["metadata"])}


FILTERS: list[tuple[dict[str, Any], set[str]]] = [
    ({"year": {"$gte": 1950}}, those(lambda m: m.get("year", 0) >= 1950)),
    ({"year": {"$between": [1910, 1919]}}, those(lambda m: 1910 <= m.get("year", 0) <= 1919)),
    ({"year": {"$ne": 1911}}, those(lambda m: m.get("year", 1911) != 1911)),
    ({"secret": False}, those(lambda m: not m["secret"])),
    ({"ship": {"$in": ["Curlew", "Five Aunts"]}}, those(lambda m: m["ship"] in ("Curlew", "Five Aunts"))),
    ({"ship": {"$nin": ["Curlew", "Five Aunts"]}}, those(lambda m: m["ship"] not in ("Curlew", "Five Aunts"))),
    ({"ship": {"$ilike": "c%"}}, those(lambda m: m["ship"].startswith("C"))),
    ({"tags": "t0"}, those(lambda m: "t0" in m.get("tags", ()))),
    ({"from.port": "Vind", "secret": False}, those(lambda m: m["from"]["port"] == "Vind" and not m["secret"])),
    ({"$or": [{"year": {"$lt": 1905}}, {"tags": "tides"}]}, those(lambda m: m.get("year", 9999) < 1905 or "tags" in m)),
    ({"document": {"$in": ["v3", "v4"]}}, {"v3", "v4"}),
    ({"title": {"$like": "Voyage 5"}}, {"v5", *(f"v5{n}" for n in range(10))}),
    ({"metadata.ship": "Curlew", "ordinal": 0}, those(lambda m: m["ship"] == "Curlew")),
    ({"ordinal": {"$gt": 0}}, set()),
    ({}, {row["id"] for row in documents()}),
]


@pytest.mark.parametrize("leg", list(Leg))
@pytest.mark.parametrize(("filters", "expected"), FILTERS, ids=[json.dumps(one) for one, _ in FILTERS])
def test_every_leg_gives_what_is_admitted_and_nothing_else(
    hoprank: HopRank, voyages: str, leg: Leg, filters: dict[str, Any], expected: set[str]
) -> None:
    result = hoprank.search(QUESTION, corpus=voyages, leg=leg, top_k=100, filters=filters, explain=leg is Leg.WHOLE)

    assert set(found(result)) <= expected
    assert result.metadata["engine"] == ("local" if leg in (Leg.GRAPH, Leg.SCORER, Leg.WHOLE) else "")
    if leg in (Leg.VECTOR, Leg.FULLTEXT, Leg.BM25, Leg.HYBRID, Leg.WHOLE):
        assert set(found(result)) == expected
    told = result.metadata["filter"]
    assert {**told, "evaluated": 0} == {"admitted": len(expected), "chunks": 60, "unknown_fields": [], "evaluated": 0}
    assert all(one["by"] == "streamed" for one in told.get("evaluated", ()))
    hidden = {row["title"] for row in documents() if row["id"] not in expected}
    for item in result.items:
        assert hidden.isdisjoint(step["name"] for step in item.metadata.get("evidence", ()))


@pytest.mark.parametrize("leg", [Leg.VECTOR, Leg.FULLTEXT, Leg.BM25])
def test_a_filter_changes_no_score_and_no_order(hoprank: HopRank, voyages: str, leg: Leg) -> None:
    every = hoprank.search(QUESTION, corpus=voyages, leg=leg, top_k=100)
    some = hoprank.search(QUESTION, corpus=voyages, leg=leg, top_k=100, filters={"ship": "Curlew"})

    expected = {
        one.metadata["id"]: one.metadata["score"]
        for one in every.items
        if one.metadata["document_metadata"]["ship"] == "Curlew"
    }
    assert [one.metadata["id"] for one in some.items] == list(expected)
    assert [one.metadata["score"] for one in some.items] == pytest.approx(list(expected.values()), abs=1e-6)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_over_fetching_gives_what_scoring_one_by_one_does(hoprank: HopRank, voyages: str, data: st.DataObject) -> None:
    retriever = hoprank.retriever(voyages)
    reader = CorpusReader(retriever.corpus, hoprank.settings)
    keys = data.draw(st.sets(st.sampled_from([row["id"] for row in documents()]), min_size=1))
    few = retriever.match({"document": {"$in": sorted(keys)}})
    many = Matches(few.corpus, few.plan, few.total)
    limit = data.draw(st.integers(1, 70))
    vector = hoprank.embedder.embed_query(QUESTION)
    assert few.ids is not None

    by_vector = [filtered_vector_search(reader, one, vector, limit) for one in (few, many)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.retrieve.filters.search.FETCHED_AT_MOST", 0)
        exact = filtered_fulltext_search(reader, few, QUESTION, limit)
    by_words = [exact, filtered_fulltext_search(reader, many, QUESTION, limit)]

    for exact, fetched in (by_vector, by_words):
        # Of chunks that tie at the end of the list, the index may give others.
        assert list(exact.scores.values()) == pytest.approx(list(fetched.scores.values()), abs=1e-6)
        assert few.ids.issuperset(fetched.scores)
        assert few.ids.issuperset(exact.scores)
        assert len(exact.scores) == min(limit, few.count())


def test_a_field_that_nothing_has_is_named(hoprank: HopRank, voyages: str) -> None:
    result = hoprank.search(QUESTION, corpus=voyages, filters={"$or": [{"yaer": 1950}, {"year": 1951}]})

    assert found(result) == ["v51"]
    assert result.metadata["filter"]["unknown_fields"] == ["yaer"]


def test_what_the_graph_itself_keeps_is_no_metadata(hoprank: HopRank, voyages: str) -> None:
    for field in ("hash", "corpus", "id", "since", "embedding"):
        result = hoprank.search(QUESTION, corpus=voyages, filters={field: {"$ne": ""}})

        assert not result.items
        assert result.metadata["filter"]["unknown_fields"] == [field]


def test_text_of_a_filter_never_becomes_cypher(hoprank: HopRank, voyages: str) -> None:
    for text in ("x'] OR true //", "ship`}) DETACH DELETE n //", "a $corpus", "\\", "*:*"):
        for filters in ({text: 1}, {"ship": text}, {"ship": {"$like": text}}, {"ship": {"$in": [text]}}):
            assert not hoprank.search(QUESTION, corpus=voyages, filters=filters).items


def test_a_filter_sees_what_was_ingested_since(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> None:
    def ingest(year: int) -> None:
        rows = [{"id": key, "text": f"The gauge of {key}.", "metadata": {"year": year}} for key in ("amsel", "orme")]
        hoprank.ingest(jsonl(rows[: 1 if year == 1901 else 2]), corpus=corpus_name)

    def search(year: int) -> set[str]:
        return set(found(hoprank.search("gauge", corpus=corpus_name, filters={"year": year})))

    ingest(1901)
    assert search(1901) == {"amsel"}
    ingest(1902)
    assert (search(1901), search(1902)) == (set(), {"amsel", "orme"})


def test_a_vector_alone_is_filtered_too(hoprank: HopRank, voyages: str) -> None:
    vector = np.asarray(hoprank.embedder.embed_query(QUESTION)).tolist()

    for leg in (Leg.VECTOR, Leg.WHOLE):
        result = hoprank.search(query_vector=vector, corpus=voyages, leg=leg, filters={"year": 1951})
        assert found(result) == ["v51"]


@pytest.mark.slow
def test_a_filtered_question_still_follows_names_and_links_among_what_is_admitted(
    hoprank: HopRank, library: str
) -> None:
    question = "Who taught the woman that met Charles Babbage?"
    filters = {"document": {"$in": ["ada", "babbage", "somerville", "moon"]}}

    found = hoprank.search(question, corpus=library, filters=filters, explain=True)

    assert found.metadata["names"] == ["charles babbage"]
    assert any({"graph", "scorer"} <= item.metadata["legs"].keys() for item in found.items)
    assert {item.metadata["document"] for item in found.items} <= {"ada", "babbage", "somerville", "moon"}
    steps = [step["by"] for item in found.items for step in item.metadata["evidence"]]
    assert "MENTIONS" in steps


SPOKEN: dict[str, Any] = {"lang": ["da", "en", 1, True], "page": [1, 2, 2.5, "2"], "tags": [["a", "b"], ["b"], []]}


def drawn(random: Random) -> dict[str, Any]:
    return {name: random.choice(values) for name, values in SPOKEN.items() if random.random() < 0.5}


@pytest.fixture(scope="module")
def pages(hoprank: HopRank, new_corpus: Callable[[], Any]) -> Iterator[tuple[str, str, dict[str, dict[str, Any]]]]:
    """Two equal corpora whose documents and chunks both have metadata, and what each chunk has in all, by its text.

    The second one declares all fields but one.
    """
    random = Random(7)  # noqa: S311 - not a secret
    rows: list[dict[str, Any]] = []
    have: dict[str, dict[str, Any]] = {}
    for number in range(20):
        of_document, chunks = drawn(random), []
        for place in range(3):
            own = drawn(random)
            before = f"Voyage {(number + 1) % 20}"
            text = f"The {SHIPS[place]} of voyage {number} reached {PORTS[number % 4]} after {before}."
            chunks.append({"text": text, "embedding": [random.random() for _ in range(384)], "metadata": own})
            have[text] = {**of_document, **own}
        rows.append({"id": f"p{number}", "title": f"Voyage {number}", "chunks": chunks, "metadata": of_document})
    with new_corpus() as name, new_corpus() as declared:
        hoprank.add(rows, corpus=name)
        hoprank.add(rows, corpus=declared, filterable=["lang", "tags"])
        yield name, declared, have


_VALUES = st.sampled_from([value for values in SPOKEN.values() for value in values if not isinstance(value, list)])
_CONDITIONS = st.tuples(
    st.sampled_from(["lang", "page", "tags", "metadata.page"]),
    _VALUES
    | st.tuples(st.sampled_from(["$eq", "$ne"]), _VALUES | st.just("b")).map(lambda pair: dict([pair]))
    | st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(_VALUES)).map(lambda pair: dict([pair]))
    | st.tuples(st.sampled_from(["$lt", "$gte"]), st.sampled_from([2, 2.0, "en"])).map(lambda pair: dict([pair])),
).map(lambda pair: dict([pair]))
_FILTERS = _CONDITIONS | st.tuples(st.sampled_from(["$and", "$or"]), st.lists(_CONDITIONS, min_size=1)).map(
    lambda pair: dict([pair])
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters=_FILTERS)
@example(filters={"tags": "b", "lang": "da"})
@example(filters={"lang": {"$in": [1, True, "en"]}, "page": {"$gte": 2}})
@example(filters={"$or": [{"tags": "a"}, {"lang": {"$ne": "da"}}]})
def test_filters_in_the_indexes_and_streamed_ones_admit_what_the_plain_model_does(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]], filters: dict[str, Any]
) -> None:
    names, have = pages[:2], pages[2]
    asked = json.loads(json.dumps(filters).replace("metadata.", ""))
    expected = {text for text, metadata in have.items() if oracle(asked, metadata)}
    vector = [1.0, *[0.0] * 383]

    for leg in (Leg.FULLTEXT, Leg.VECTOR, Leg.HYBRID):
        scores = []
        for name in names:
            found = hoprank.search("voyage", vector, corpus=name, top_k=60, leg=leg, filters=filters)
            assert {item.content for item in found.items} == expected
            scores.append({item.content: item.metadata["score"] for item in found.items})
        # Where chunks tie, fusion ranks them by their ids, and those of two corpora differ.
        assert leg == Leg.HYBRID or scores[1] == pytest.approx(scores[0], abs=1e-6)
    assert [hoprank.retriever(name).match(filters).count() for name in names] == [len(expected)] * 2


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(filters=_FILTERS)
@example(filters={"lang": "en"})
@example(filters={"lang": {"$gte": 1}, "tags": "b"})
def test_an_expansion_within_the_boxes_gives_what_one_compared_afterwards_does(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]], filters: dict[str, Any]
) -> None:
    question, name = "Which ship reached Vind after Voyage 7 of the Curlew?", pages[1]

    def search() -> list[dict[str, Any]]:
        # A new one, which knows nothing of the filter yet.
        retriever = Retriever(hoprank.retriever(name).corpus, hoprank.embedder.embed_query, hoprank.settings)
        return [
            {**item.metadata, "content": item.content}
            for leg in (Leg.GRAPH, Leg.WHOLE)
            for item in retriever.search(question, top_k=60, leg=leg, filters=filters, explain=True).items
        ]

    within = search()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.retrieve.filters.plan._boxes", lambda *_: (None, []))
        compared = search()

    assert within == compared


@pytest.mark.parametrize("declared", [False, True], ids=["streamed", "declared"])
@pytest.mark.parametrize("leg", list(Leg))
def test_every_leg_keeps_to_the_metadata_of_chunks(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]], leg: Leg, declared: bool
) -> None:
    plain, own, have = pages
    name = own if declared else plain
    filters = {"page": {"$gte": 2}, "lang": {"$ne": "da"}}

    result = hoprank.search("Which voyage of the Curlew reached Vind?", corpus=name, leg=leg, top_k=60, filters=filters)

    assert result.items
    assert {item.content for item in result.items} <= {text for text in have if oracle(filters, have[text])}


def test_declared_fields_leave_a_search_without_a_filter_as_it_was(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]]
) -> None:
    question = "Which voyage of the Curlew reached Vind?"
    plain, declared = (hoprank.search(question, corpus=name, top_k=60).hits for name in pages[:2])

    assert [hit.text for hit in declared] == [hit.text for hit in plain]
    assert [hit.score for hit in declared] == pytest.approx([hit.score for hit in plain])


def test_a_term_of_a_filter_matches_no_question(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]]
) -> None:
    term_of_da = hoprank.retriever(pages[1]).match({"lang": "da"}).plan.terms.removeprefix("filterable:")

    assert not hoprank.search(term_of_da, corpus=pages[1], leg=Leg.FULLTEXT).items


def test_a_filter_on_a_declared_field_takes_a_query_for_both_indexes_and_one_more_at_its_first_use(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]], asked: list[str], cypher: Cypher
) -> None:
    def search() -> tuple[list[str], list[str]]:
        asked.clear()
        result = hoprank.search("Which voyage?", corpus=pages[1], filters={"lang": "en"}, leg=Leg.HYBRID)
        return [item.metadata["id"] for item in result.items], list(asked)

    hoprank.search("Which voyage?", corpus=pages[1], top_k=60, leg=Leg.HYBRID)
    first, again = search(), search()
    cypher("MATCH (c:HopRankCorpus {name: $name}) SET c.staging = c.generation + 1", name=pages[1])
    try:
        during_a_write = search()
    finally:
        cypher("MATCH (c:HopRankCorpus {name: $name}) REMOVE c.staging", name=pages[1])

    assert again[1] == ["filtered_vector_1", "explore"]
    assert first[1] == ["filter_facts", *again[1]]
    assert during_a_write[1] == ["filtered_vector_1", "filtered_vector_1", "filtered_fulltext", "explore"]
    assert first[0] == again[0] == during_a_write[0] != []


def test_the_explanation_says_how_each_condition_was_evaluated(
    hoprank: HopRank, pages: tuple[str, str, dict[str, dict[str, Any]]]
) -> None:
    filters = {"lang": "da", "page": 1, "tags": {"$ne": "a"}}

    found = hoprank.search("voyage", corpus=pages[1], filters=filters, explain=True)

    told = {one["field"]: one["by"] for one in found.metadata["filter"]["evaluated"]}
    assert told == {"lang": "index", "page": "streamed", "tags": "full-text index"}
