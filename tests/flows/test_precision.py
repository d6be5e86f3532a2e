"""A corpus has vectors of one precision: an update keeps to it, and no other corpus lends it vectors of another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import FingerprintError
from pipeline.records import Fingerprint, Precision, Vector

Jsonl = Callable[[Iterable[Mapping[str, Any]]], Path]

DOCUMENTS = [
    {"id": "heron", "title": "Heron", "text": "The heron stands in rivers and eats fish."},
    {"id": "owl", "title": "Owl", "text": "The owl hunts mice at night."},
]
LATER = {"id": "stork", "title": "Stork", "text": "The stork stands in meadows and eats frogs."}


@pytest.fixture
def by(hoprank: HopRank) -> Callable[[str], HopRank]:
    """The same connection with a precision of embedding."""
    return lambda precision: HopRank(hoprank.client, SentenceTransformerEmbedder(precision=precision), hoprank.settings)


@pytest.mark.slow
@pytest.mark.parametrize("made", list(Precision))
def test_an_update_keeps_to_the_precision_of_the_corpus(
    by: Callable[[str], HopRank], made: Precision, corpus_name: str, jsonl: Jsonl, cypher: Callable[..., list[Any]]
) -> None:
    by(made).ingest(jsonl(DOCUMENTS), corpus=corpus_name)
    by("auto").sync(jsonl([*DOCUMENTS, LATER]), corpus=corpus_name)

    corpus = get_corpus(by("auto").client, corpus_name)
    assert Fingerprint.of(corpus.fingerprint).precision == made
    rows = cypher(f"MATCH (c:{corpus.label}) RETURN c.title AS title, c.text AS text, c.embedding AS vector")
    texts = [f"{row['title']}\n{row['text']}" for row in rows]
    stored: Vector = np.array([row["vector"] for row in rows], dtype=np.float32)
    distances = {
        precision: np.abs(SentenceTransformerEmbedder(precision=precision).encode(texts) - stored).max()
        for precision in Precision
    }
    assert len(texts) == 3
    assert distances.pop(made) < 1e-5
    assert min(distances.values()) > 1e-4, "the precisions would be alike"


def test_a_corpus_of_another_precision_lends_no_vectors(
    by: Callable[[str], HopRank], new_corpus: Callable[[], Any], jsonl: Jsonl
) -> None:
    text = [{"id": "only", "title": "Only", "text": "A text of this test alone, in two corpora."}]
    with new_corpus() as exact, new_corpus() as fast:
        by("float32").ingest(jsonl(text), corpus=exact)
        plan = by("bfloat16").sync(jsonl(text), corpus=fast, dry_run=True).plan

        assert plan.chunks_to_embed == 1
        assert by("float32").sync(jsonl(text), corpus=fast, dry_run=True).plan.chunks_to_embed == 0


def test_a_precision_that_the_settings_name_is_refused_by_a_corpus_of_another(
    by: Callable[[str], HopRank], corpus_name: str, jsonl: Jsonl
) -> None:
    by("float32").ingest(jsonl(DOCUMENTS), corpus=corpus_name)

    with pytest.raises(FingerprintError, match="in float32, not in bfloat16") as caught:
        by("bfloat16").ingest(jsonl([LATER]), corpus=corpus_name)
    assert f"hoprank reembed {corpus_name}" in caught.value.fix
    assert by("bfloat16").search("What eats fish?", corpus=corpus_name).items, "a question may be of either"
