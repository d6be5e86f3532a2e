"""A reranker in the search: its score is a feature of the candidates that it reads, beside the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.embedding.reranker import Reranker
from pipeline.errors import ConfigurationError
from pipeline.retrieve.legs import Leg
from pipeline.settings import ScorerSettings
from pipeline.text.outline import in_context
from tests.conftest import LIBRARY

QUESTION = "Who taught the woman that met Charles Babbage?"
NOTHING: dict[str, Any] = {"unnamed": {}, "confident": {}, "named": {}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.tiny_rerankers import cross_encoder

    return cross_encoder(tmp_path_factory.mktemp("model") / "cross")


def with_reranker(
    hoprank: HopRank, name: str, reranked: int = 50, weight: float | None = None, scorer: ScorerSettings | None = None
) -> HopRank:
    """Return the same with a reranker; its ``weight`` is the scorer's only one, if it is given."""
    retrieve = hoprank.settings.retrieve.model_copy(update={"reranker": name, "reranked": reranked})
    embed = hoprank.settings.embed.model_copy(update={"device": "cpu"})
    scorer = scorer or hoprank.settings.weights.scorer
    if weight is not None:
        alone = {"reranker": weight}
        scorer = ScorerSettings.model_validate({**NOTHING, "unnamed": alone, "named": alone})
    changed = {"retrieve": retrieve, "embed": embed, "weights": replace(hoprank.settings.weights, scorer=scorer)}
    return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update=changed))


def ids(hoprank: HopRank, corpus: str, **options: Any) -> list[str]:
    return [item.metadata["document"] for item in hoprank.search(QUESTION, corpus=corpus, top_k=50, **options).items]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What rerankers read, question by question."""
    seen: list[Sequence[str]] = []
    scores = Reranker.scores

    def noted(self: Reranker, question: str, passages: Sequence[str]) -> list[float]:
        seen.append(passages)
        return scores(self, question, passages)

    monkeypatch.setattr(Reranker, "scores", noted)
    return seen


def test_its_weight_alone_gives_the_scorer_its_order(hoprank: HopRank, library: str, folder: str) -> None:
    by_model = with_reranker(hoprank, folder, weight=1.0)

    found = by_model.search(QUESTION, corpus=library, leg=Leg.SCORER, top_k=50).items

    texts = [in_context(one.metadata["title"], one.metadata["heading"], one.content) for one in found]
    scores = Reranker(folder, device="cpu").scores(QUESTION, texts)
    assert len(found) > 5
    assert scores == sorted(scores, reverse=True)
    assert ids(by_model, library, leg=Leg.SCORER) != ids(hoprank, library, leg=Leg.SCORER)


def test_the_more_it_weighs_the_higher_stands_what_it_prefers(hoprank: HopRank, library: str, folder: str) -> None:
    preferred = ids(with_reranker(hoprank, folder, weight=1.0), library, leg=Leg.SCORER)[0]
    places = []
    for weight in (0.0, 0.45, 1_000.0):
        shipped = hoprank.settings.weights.scorer
        tables = {name: {**getattr(shipped, name), "reranker": weight} for name in ("unnamed", "named")}
        weighing = with_reranker(hoprank, folder, scorer=shipped.model_copy(update=tables))
        places.append(ids(weighing, library).index(preferred))

    assert places == sorted(places, reverse=True)
    assert places[0] > places[-1] == 0


def test_without_one_no_model_is_read_and_its_feature_adds_nothing(
    hoprank: HopRank, library: str, read: list[Sequence[str]]
) -> None:
    found = hoprank.search(QUESTION, corpus=library, explain=True).items

    assert not read
    assert {item.metadata["features"]["reranker"] for item in found} == {0.0}


def test_it_reads_the_first_by_the_scorer_as_they_are_embedded(
    hoprank: HopRank, library: str, folder: str, read: list[Sequence[str]]
) -> None:
    before = hoprank.search(QUESTION, corpus=library, leg=Leg.SCORER, top_k=3).items

    found = with_reranker(hoprank, folder, reranked=3).search(QUESTION, corpus=library, explain=True, top_k=50)

    (texts,) = read
    assert list(texts) == [in_context(one.metadata["title"], one.metadata["heading"], one.content) for one in before]
    added = {item.metadata["id"]: item.metadata["features"]["reranker"] for item in found.items}
    read_ids = {item.metadata["id"] for item in before}
    lowest = min(added[id_] for id_ in read_ids)
    assert len(added) > 3
    assert {added[id_] for id_ in added.keys() - read_ids} == {lowest}


def test_a_filter_bounds_what_it_reads(hoprank: HopRank, library: str, folder: str, read: list[Sequence[str]]) -> None:
    found = ids(with_reranker(hoprank, folder), library, filters={"document": {"$in": ["ada", "bread"]}})

    assert sorted(found) == ["ada", "bread"]
    ((one, other),) = read
    assert {one, other} == {"\n".join(LIBRARY[key]) for key in ("ada", "bread")}


def test_a_vector_alone_is_no_question_that_it_could_read(
    hoprank: HopRank, library: str, folder: str, read: list[Sequence[str]]
) -> None:
    vector = hoprank.embedder.embed_query(QUESTION)

    assert with_reranker(hoprank, folder).search(query_vector=vector, corpus=library).items
    assert not read


@pytest.mark.parametrize("leg", [Leg.HYBRID, Leg.VECTOR, Leg.GRAPH])
def test_legs_without_the_scorer_do_without_it(hoprank: HopRank, library: str, folder: str, leg: Leg) -> None:
    assert ids(with_reranker(hoprank, folder), library, leg=leg) == ids(hoprank, library, leg=leg)


def test_one_that_is_not_there_is_an_error_and_no_fallback(hoprank: HopRank, library: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"The reranker .* can't be loaded"):
        with_reranker(hoprank, str(tmp_path / "nowhere")).search(QUESTION, corpus=library)


def test_corpora_share_one(
    hoprank: HopRank, library: str, folder: str, corpus_name: str, jsonl: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tests.tiny_rerankers import noted_loads  # imports PyTorch

    loads = noted_loads(monkeypatch)
    hoprank.ingest(jsonl([{"id": "otter", "text": "The otter swims."}]), corpus=corpus_name)
    reranking = with_reranker(hoprank, folder)

    for corpus in (library, corpus_name):
        assert reranking.search(QUESTION, corpus=corpus).items

    assert loads == [folder]
