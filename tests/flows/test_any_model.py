"""Another model has another scale of cosines: the graph and the rankings don't depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.embedding.embedder import Embedder
from pipeline.examples import example_corpus, example_questions
from pipeline.flows import maintain
from pipeline.progress import Progress
from pipeline.records import Fingerprint, Vector

PRESSED = 0.7


class Pressed(Embedder):
    """The bundled model with cosines between 0.7 and 1: all its vectors share a direction."""

    name = "pressed"

    def __init__(self, model: Embedder) -> None:
        self._model = model

    @property
    def dimension(self) -> int:
        return self._model.dimension + 1

    @property
    def max_tokens(self) -> int:
        return self._model.max_tokens

    @property
    def identity(self) -> Fingerprint:
        return Fingerprint(f"pressed@1/{self.dimension}", "mean")

    def encode(self, texts: Sequence[str], done: Any = None, *, precision: Any = None) -> Vector:
        return self._pressed(self._model.encode(texts, done, precision=precision))

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._pressed(np.array([self._model.embed_query(text)], dtype=np.float32))[0].tolist()
        return vector

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return self._model.token_offsets(texts)

    def _pressed(self, vectors: Vector) -> Vector:
        shared = np.full((len(vectors), 1), PRESSED**0.5, dtype=np.float32)
        pressed: Vector = np.hstack([vectors * np.float32((1 - PRESSED) ** 0.5), shared])
        return pressed


@pytest.fixture(scope="module")
def pressed(hoprank: HopRank) -> HopRank:
    return HopRank(hoprank.client, Pressed(hoprank.embedder), hoprank.settings)


@pytest.fixture(scope="module")
def corpora(hoprank: HopRank, pressed: HopRank, new_corpus: Callable[[], Any]) -> Iterator[tuple[str, str]]:
    with new_corpus() as one, new_corpus() as other:
        hoprank.ingest(example_corpus(), corpus=one)
        pressed.ingest(example_corpus(), corpus=other)
        yield one, other


Links = Callable[[str], dict[frozenset[str], float]]


@pytest.fixture(scope="module")
def links(hoprank: HopRank, cypher: Callable[..., Any]) -> Links:
    """The cosines of a corpus's similarity links; a chunk goes by its document's key and its ordinal."""

    def read(corpus: str) -> dict[frozenset[str], float]:
        rows = cypher(
            "MATCH (d)<-[:PART_OF]-(a:HopRankChunk {corpus: $id})-[r:SIMILAR]->(b)-[:PART_OF]->(e)"
            " RETURN d.key + '#' + a.ordinal AS one, e.key + '#' + b.ordinal AS other, r.score AS score",
            id=get_corpus(hoprank.client, corpus).id,
        )
        return {frozenset((row["one"], row["other"])): row["score"] for row in rows}

    return read


def test_the_threshold_is_that_of_the_model(hoprank: HopRank, pressed: HopRank, corpora: tuple[str, str]) -> None:
    thresholds = [get_corpus(hoprank.client, corpus).links["similar_threshold"] for corpus in corpora]

    assert thresholds == [0.6, pytest.approx(PRESSED + (1 - PRESSED) * 0.6, abs=0.005)]
    assert pressed.ingest(example_corpus(), corpus=corpora[1]).linked_otherwise == ()
    assert pressed.calibrate(corpora[1]).present == thresholds[1]


def test_the_same_passages_are_linked(corpora: tuple[str, str], links: Links) -> None:
    one, other = map(links, corpora)

    assert one
    # A link at the very threshold may be on either side of it, which is rounded.
    certain = {ends for ends, cosine in one.items() if cosine > 0.62}
    assert certain <= other.keys()
    assert {ends for ends, cosine in other.items() if cosine > PRESSED + (1 - PRESSED) * 0.62} <= one.keys()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "gds"])
def test_rankings_are_the_same(hoprank: HopRank, pressed: HopRank, corpora: tuple[str, str], engine: str) -> None:
    if engine == "gds" and not hoprank.client.has_gds:
        pytest.skip("no GDS")
    walk = hoprank.settings.walk.model_copy(update={"engine": engine})
    settings = hoprank.settings.model_copy(update={"walk": walk})
    asked = [
        [
            [item.metadata["document"] for item in each.search(question, corpus=corpus, top_k=5).items]
            for question in example_questions()
        ]
        for each, corpus in zip(
            (HopRank(one.client, one.embedder, settings) for one in (hoprank, pressed)), corpora, strict=True
        )
    ]

    assert asked[0] == asked[1]


def test_relevance_is_the_same(hoprank: HopRank, pressed: HopRank, corpora: tuple[str, str]) -> None:
    for question in (*example_questions()[:3], "How long should I boil an egg?"):
        both = [
            each.search(question, corpus=corpus, top_k=3).items[0].metadata["relevance"]
            for each, corpus in zip((hoprank, pressed), corpora, strict=True)
        ]

        assert both[0] == pytest.approx(both[1], abs=0.02)


@pytest.mark.slow
def test_a_corpus_that_is_embedded_anew_gets_the_threshold_of_its_new_model(
    hoprank: HopRank, pressed: HopRank, corpus_name: str, corpora: tuple[str, str], links: Links
) -> None:
    own = HopRank(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings.model_copy(
            update={"link": hoprank.settings.link.model_copy(update={"similar_threshold": 0.5, "similar_top_k": 3})}
        ),
    )
    own.ingest(example_corpus(), corpus=corpus_name)
    made = maintain.reembed(hoprank.client, pressed.embedder, pressed.settings, corpus_name, progress=Progress())

    assert made.links["similar_threshold"] == get_corpus(hoprank.client, corpora[1]).links["similar_threshold"]
    assert made.links["similar_top_k"] == 3, "what isn't a cosine stays as it was"
    assert own.relink(corpus_name).links["similar_threshold"] == 0.5, "a number means itself, whatever the model"
    assert hoprank.relink(corpus_name).links["similar_threshold"] == 0.5, "another model can't tell: the corpus's own"
    assert pressed.relink(corpus_name).links == get_corpus(hoprank.client, corpora[1]).links
    assert links(corpus_name).keys() == links(corpora[1]).keys()
