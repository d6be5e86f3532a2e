"""The everyday messages: their vectors, kept for a model, and the scale of its cosines."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.skills.settings import SkillSettings
from pipeline.embedding.embedder import Embedder
from pipeline.embedding.everyday import BUNDLED, Everyday, Scale, background, everyday_messages
from pipeline.records import Fingerprint, Vector
from pipeline.settings import load_settings

COSINES = st.floats(-1, 1)


def test_the_messages_are_many_and_different() -> None:
    assert len(set(everyday_messages())) == len(everyday_messages()) == 40


class Counting(Embedder):
    """An embedder of two dimensions that counts what it embeds."""

    name, dimension, max_tokens, identity = "counting", 2, 10, Fingerprint("counting@1/2")
    asked = 0

    def encode(self, texts: Sequence[str], *_: object, **__: object) -> Vector:
        self.asked += len(texts)
        return np.array([[1.0, 0.0]] * len(texts), dtype=np.float32)

    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        self.asked += bool(text)
        return [0.6, 0.8]


def test_the_vectors_are_made_once_for_a_model_as_questions_and_as_passages(tmp_path: Path) -> None:
    embedder = Counting()
    first, again = (Everyday(embedder, tmp_path / "new") for _ in range(2))

    assert np.array_equal(first.questions, again.questions)
    assert first.questions.shape == (40, 2)
    assert first.scale == again.scale == Scale(0.99), "passages that are all alike"
    assert embedder.asked == 80


@pytest.mark.parametrize("kept", [0, 100])
def test_vectors_that_were_damaged_on_disk_are_embedded_anew(tmp_path: Path, kept: int) -> None:
    embedder = Counting()
    _ = Everyday(embedder, tmp_path).questions
    (file,) = (tmp_path / "everyday").iterdir()
    file.write_bytes(file.read_bytes()[:kept])

    assert Everyday(embedder, tmp_path).questions.shape == (40, 2)
    assert embedder.asked == 80


def test_where_nothing_can_be_kept_the_messages_are_embedded_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "everyday").touch()

    assert Everyday(Counting(), tmp_path).questions.shape == (40, 2)


def test_the_bundled_model_has_the_scale_that_all_numbers_are_written_in(embedder: Embedder, tmp_path: Path) -> None:
    assert Everyday(embedder, tmp_path).scale == BUNDLED == Scale(background(embedder.encode(everyday_messages())))


@given(COSINES)
def test_the_cosines_of_the_bundled_model_stay_as_they_are(cosine: float) -> None:
    assert BUNDLED.bundled(cosine) == cosine
    assert BUNDLED.cosine(cosine) == cosine


def test_settings_in_another_scale_are_changed_in_the_cosines_that_are_named() -> None:
    settings = load_settings().section(SkillSettings)
    applied = Scale(0.7).applied(settings, "similar")

    assert applied.similar == pytest.approx(Scale(0.7).cosine(settings.similar))
    assert applied.model_copy(update={"similar": settings.similar}) == settings
    assert BUNDLED.applied(settings, "similar", "near_meaning") == settings


@given(st.floats(0, 0.99), COSINES)
def test_a_scale_leads_forth_and_back_and_keeps_background_and_1(value: float, cosine: float) -> None:
    scale = Scale(value)

    assert scale.bundled(scale.cosine(cosine)) == pytest.approx(cosine, abs=1e-9)
    assert scale.bundled(value) == pytest.approx(BUNDLED.background)
    assert scale.bundled(1.0) == pytest.approx(1.0)


@given(st.integers(2, 8), st.integers(2, 5), st.integers(0, 1000))
def test_the_background_is_the_mean_cosine_of_different_vectors(count: int, dimension: int, seed: int) -> None:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = np.mean([float(a @ b) for i, a in enumerate(vectors) for b in vectors[:i]])

    assert background(vectors) == pytest.approx(min(max(mean, 0.0), 0.99), abs=0.0051)
