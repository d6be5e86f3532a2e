"""The whole on the real graph: how its parts make it up, what names do to it, and how often it asks the server."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank, RetrieverResult
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.settings import ScorerSettings

QUESTION = "Who taught the woman that met Charles Babbage?"
UNNAMED = (
    "Which instrument writes on paper?",
    "What is needed to make a loaf?",
    "How many squares are there to play on?",
)


def with_settings(hoprank: HopRank, section: str, **changed: Any) -> HopRank:
    """Return the same with some settings of one section changed."""
    kept = getattr(hoprank.settings, section)
    return HopRank(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings.model_copy(update={section: kept.model_copy(update=changed)}),
    )


def scores(result: RetrieverResult) -> dict[str, float]:
    return {item.metadata["id"]: item.metadata["score"] for item in result.items}


@pytest.mark.parametrize("engine", ["gds", "local"])
def test_whole_and_its_parts_agree(hoprank: HopRank, library: str, engine: str) -> None:
    walking = with_settings(hoprank, "walk", engine=engine)
    whole = walking.search(QUESTION, corpus=library, top_k=50)
    assert whole.metadata["engine"] == engine

    for leg in (Leg.VECTOR, Leg.FULLTEXT, Leg.HYBRID, Leg.GRAPH, Leg.SCORER):
        alone = {
            item.metadata["id"]: item.metadata
            for item in walking.search(QUESTION, corpus=library, leg=leg, top_k=100).items
        }
        within = {
            item.metadata["id"]: item.metadata["legs"][leg] for item in whole.items if leg in item.metadata["legs"]
        }
        assert within
        assert {id_: found["rank"] for id_, found in within.items()} == {id_: alone[id_]["rank"] for id_ in within}
        assert [found["score"] for found in within.values()] == pytest.approx([alone[id_]["score"] for id_ in within])


def test_the_whole_is_the_fusion_of_hybrid_and_scorer(hoprank: HopRank, library: str) -> None:
    fusing = with_settings(hoprank, "retrieve", fuse_k=7.0, fuse_scorer=3.0)
    expected: dict[str, float] = {}
    for leg, weight in ((Leg.HYBRID, 1.0), (Leg.SCORER, 3.0)):
        for rank, id_ in enumerate(scores(fusing.search(QUESTION, corpus=library, leg=leg, top_k=100)), 1):
            expected[id_] = expected.get(id_, 0.0) + weight / (7.0 + rank)

    assert scores(fusing.search(QUESTION, corpus=library, top_k=100)) == pytest.approx(expected)


@pytest.mark.parametrize("engine", ["gds", "local"])
def test_the_scorer_sees_the_walk_of_the_engine_that_is_set(hoprank: HopRank, library: str, engine: str) -> None:
    retriever = with_settings(hoprank, "walk", engine=engine).retriever(library)

    found, walk = retriever.rank(QUESTION), retriever.rank(QUESTION, Leg.GRAPH).ranking

    assert found.features is not None
    ranks = walk.ranks()
    expected = [1 / (5 + ranks[id_]) if id_ in ranks else 0.0 for id_ in found.features.ids]
    assert found.features.matrix[:, FEATURES.index("walk")] == pytest.approx(np.array(expected))
    assert tuple(found.hits) == found.features.ids


def test_the_names_of_a_question_are_seeds_by_their_confidence(hoprank: HopRank, library: str) -> None:
    found = hoprank.retriever(library).rank(QUESTION)

    assert [name.key for name in found.names] == ["charles babbage"]
    assert found.names[0].capitalised
    assert 0.5 < found.confidence == found.names[0].confidence < 1
    assert found.features is not None
    assert found.features.confidence == found.confidence
    assert 0 < found.features.named_share < found.confidence


@pytest.mark.parametrize("question", UNNAMED)
def test_where_a_question_has_no_names_what_names_weigh_does_not_matter(
    hoprank: HopRank, library: str, question: str
) -> None:
    plain = hoprank.search(question, corpus=library, top_k=20)
    strange = ScorerSettings(
        unnamed=hoprank.settings.weights.scorer.unnamed,
        confident=dict.fromkeys(FEATURES, -1e6),
        named=dict.fromkeys(FEATURES, -1e6),
    )
    walk = hoprank.settings.walk.model_copy(update={"names": 1e6})
    weights = replace(hoprank.settings.weights, scorer=strange)
    changed = hoprank.settings.model_copy(update={"walk": walk, "weights": weights})
    unlike = HopRank(hoprank.client, hoprank.embedder, changed)

    assert plain.metadata["names"] == []
    assert hoprank.retriever(library).rank(question).seeds.entities == {}
    assert unlike.search(question, corpus=library, top_k=20) == plain
    hybrid = hoprank.search(question, corpus=library, leg=Leg.HYBRID, top_k=1)
    assert hybrid.items[0].metadata["id"] == plain.items[0].metadata["id"]


MANUALS = {
    "Web server": "A page that isn't there is answered with 404, one that is with 200.",
    "Job queue": "A job that waits is W, one that runs is R, one that failed is F.",
    "Laser printer": "Two lights blink where paper is jammed, three where the toner is empty.",
    "Washing machine": "E1 says that no water comes in, E2 that none goes out.",
    "Boiler": "L2 stands for no flame, L5 for a pressure that is too low.",
    "Lift": "The display has 07 where a door doesn't close.",
    "Mail relay": "550 refuses a letter for good, 450 for a while.",
    "Modem": "A steady lamp is a line, a blinking one looks for it.",
}
"""What each manual says under the heading "Status codes"."""

FLYERS = {
    "Frequent flyers": "Frequent flyers have a letter on the boarding card that says their tier: G is gold, S silver.",
    "Luggage": "A suitcase of up to 23 kilograms goes free of charge for frequent flyers.",
    "Meals": "Vegetarian meals are ordered a day before the flight leaves.",
}


@pytest.fixture(scope="module")
def manuals(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a corpus in which a phrase that anybody may use heads several sections."""
    folder = tmp_path_factory.mktemp("manuals")
    for title, text in MANUALS.items():
        preface = f"The manual of the {title.lower()} says how it is set up and kept in order. " * 30
        (folder / f"{title}.md").write_text(f"# {title}\n\n{preface}\n\n## Status codes\n\n{text}\n", encoding="utf-8")
    for title, text in FLYERS.items():
        (folder / f"{title}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    hoprank.ingest(folder, corpus=shared_corpus_name)
    return shared_corpus_name


@pytest.mark.slow
@pytest.mark.parametrize(
    "question",
    [
        "Which status codes do flyers of the gold tier have on the boarding card?",
        "what are the status codes of a gold or silver tier",
        "Which status codes have frequent flyers?",
    ],
)
def test_a_heading_that_is_a_common_phrase_does_not_lead(hoprank: HopRank, manuals: str, question: str) -> None:
    sure = {name.key: name.confidence for name in hoprank.retriever(manuals).rank(question).names}
    job = "What are the status codes of a job that failed?"

    assert sure["status codes"] < hoprank.retriever(manuals).rank(job).confidence
    assert first_document(hoprank, manuals, question) == "Frequent flyers.md"
    assert first_document(hoprank, manuals, job) == "Job queue.md"


def first_document(hoprank: HopRank, corpus: str, question: str) -> str:
    found: str = hoprank.search(question, corpus=corpus, top_k=1).items[0].metadata["document"]
    return found


@pytest.mark.parametrize(
    ("leg", "engine", "queries"),
    [
        (Leg.WHOLE, "local", ["explore", "hydrate"]),
        (Leg.WHOLE, "gds", ["explore", "hydrate", "walk"]),
        (Leg.HYBRID, "gds", ["explore", "hydrate"]),
        (Leg.VECTOR, "gds", ["vector_candidates", "hydrate"]),
    ],
)
def test_a_search_takes_two_round_trips_and_one_for_gds(
    hoprank: HopRank, library: str, asked: list[str], leg: Leg, engine: str, queries: list[str]
) -> None:
    fresh = with_settings(hoprank, "walk", engine=engine)
    fresh.retriever(library).prepare()
    fresh.search(QUESTION, corpus=library, leg=Leg.HYBRID, top_k=1)
    asked.clear()

    fresh.search(QUESTION, corpus=library, leg=leg, top_k=10)

    # Beside GDS hits are read in a thread.
    assert sorted(asked) == sorted(queries)


def test_hits_that_the_scorer_did_not_read_are_read_afterwards(
    hoprank: HopRank, library: str, asked: list[str]
) -> None:
    few = with_settings(with_settings(hoprank, "walk", engine="local"), "retrieve", scored=2)
    few.search(QUESTION, corpus=library, leg=Leg.HYBRID, top_k=1)
    asked.clear()

    result = few.search(QUESTION, corpus=library, top_k=10)

    assert asked == ["explore", "hydrate", "hydrate"]
    assert len(result.items) == 10
    assert all(item.content and item.metadata["document"] for item in result.items)
    asked.clear()
    assert few.search(QUESTION, corpus=library, top_k=1).items == result.items[:1]
    assert asked == ["explore"]
