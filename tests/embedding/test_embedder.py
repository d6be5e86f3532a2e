"""An embedder of somebody's own: what it must write, and what it gets."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from pipeline import Embedder, HopRank
from pipeline.records import Fingerprint, Precision, Vector


class ByWords(Embedder):
    """Hashes the words of a text into 64 numbers."""

    name = "words"
    dimension = 64
    max_tokens = 100
    identity = Fingerprint("words@1/64", "sum")

    def encode(
        self,
        texts: Sequence[str],
        done: Callable[[int], None] | None = None,
        *,
        precision: Precision | None = None,  # noqa: ARG002 - there is one
    ) -> Vector:
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()):
                row[zlib.crc32(word.encode()) % self.dimension] += 1
        if done:
            done(len(texts))
        unit: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self.encode([text])[0].tolist()
        return vector

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[found.span() for found in re.finditer(r"\w+", text)] for text in texts]


def test_the_rest_follows_from_what_it_must_write() -> None:
    own = ByWords()

    assert own.count_tokens("one two three") == 3
    assert own.fingerprint == own.fingerprint_beside("") == "words@1/64/sum/float32"
    assert Fingerprint.of(own.fingerprint).is_comparable(own.identity)
    assert np.array_equal(own.embed_passages(["one"]), own.encode(["one"]))


def test_one_that_lacks_a_member_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="token_offsets"):
        type("Half", (ByWords,), {"token_offsets": Embedder.token_offsets})()


def test_a_corpus_is_ingested_and_searched_by_it(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> None:
    own = HopRank(hoprank.client, ByWords(), hoprank.settings)
    (tmp_path / "owl.txt").write_text("The owl hunts mice at night.")
    (tmp_path / "tide.txt").write_text("The drum of the gauge is changed on Monday.")

    own.ingest(str(tmp_path), corpus=corpus_name)

    assert own.search("owl night", corpus=corpus_name, leg="vector").items[0].metadata["document"] == "owl.txt"
