"""Cosine links, exact and approximate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.embedding.embedder import Embedder
from pipeline.embedding.nearest import nearest
from pipeline.examples import example_corpus
from pipeline.ingest.links import similar
from pipeline.ingest.links.similar import _INDEX_BATCH, SimilarPair, similar_pairs
from pipeline.records import Vector

SEVERAL = 20_500
"""More vectors than are added to an index at once. Poorer settings lose as many links of these as of 50,500."""


def random_vectors(count: int, dimension: int = 32, seed: int = 0) -> Vector:
    """Unit vectors around a few centres, so that some are near each other."""
    generator = np.random.default_rng(seed)
    centres = generator.normal(size=(max(1, count // 20), dimension))
    vectors = centres[generator.integers(len(centres), size=count)] + 0.7 * generator.normal(size=(count, dimension))
    return unit(vectors)


def unit(vectors: npt.NDArray[np.float64]) -> Vector:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / lengths, dtype=np.float32)


def linked(
    vectors: Vector, top_k: int = 5, threshold: float = 0.0, degree_limit: int = 1000, exact: bool = True
) -> list[SimilarPair]:
    exact_up_to = len(vectors) if exact else 0
    near = similar_pairs(vectors, top_k=top_k, threshold=threshold, degree_limit=degree_limit, exact_up_to=exact_up_to)
    return [one for one in near if one.linked]


def by_hand(vectors: Vector, top_k: int, threshold: float) -> set[tuple[int, int]]:
    exact = vectors.astype(np.float64)
    scores = np.round(np.minimum(exact @ exact.T, 1.0), 4)
    np.fill_diagonal(scores, -np.inf)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top_k]
    pairs = [(row, int(other)) for row in range(len(vectors)) for other in best[row] if scores[row, other] >= threshold]
    return {(min(pair), max(pair)) for pair in pairs}


def pairs(links: list[SimilarPair]) -> set[tuple[int, int]]:
    return {(min(link.source, link.target), max(link.source, link.target)) for link in links}


def degrees(links: list[SimilarPair]) -> dict[int, int]:
    ends = [end for link in links for end in (link.source, link.target)]
    return {end: ends.count(end) for end in ends}


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(1, 70), st.floats(-1, 1), st.integers(0, 1000))
def test_exact_links_are_those_found_by_hand(count: int, top_k: int, threshold: float, seed: int) -> None:
    vectors = random_vectors(count, seed=seed)

    assert pairs(linked(vectors, top_k, threshold)) == by_hand(vectors, top_k, threshold)


def test_blocks_change_nothing() -> None:
    vectors = random_vectors(2100, 16)

    assert pairs(linked(vectors, 3, 0.5)) == by_hand(vectors, 3, 0.5)


@settings(max_examples=30)
@given(st.integers(2, 60), st.integers(1, 9), st.integers(1, 4), st.integers(1, 30), st.integers(0, 1000))
def test_files_by_runs_of_rows_change_nothing(count: int, top_k: int, limit: int, run: int, seed: int) -> None:
    vectors = random_vectors(count, seed=seed)
    whole = list(similar_pairs(vectors, top_k=top_k, threshold=0.2, degree_limit=limit))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar, "_RUN", run)
        by_runs = list(similar_pairs(vectors, top_k=top_k, threshold=0.2, degree_limit=limit))

    assert by_runs == whole


def test_several_indexes_give_the_neighbours_that_one_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(1500, seed=3)
    exact = pairs(linked(vectors))

    monkeypatch.setattr(similar, "_INDEX_ROWS", 400)
    approximate = pairs(linked(vectors, exact=False))

    assert len(exact & approximate) >= 0.99 * len(exact)
    assert len(approximate) <= 1.01 * len(exact)


@pytest.mark.parametrize("exact", [True, False])
def test_a_pair_is_linked_once_from_the_one_that_lists_the_other_with_its_cosine(exact: bool) -> None:
    vectors = random_vectors(300)
    links = linked(vectors, exact=exact)

    assert len(links) == len(pairs(links))
    assert all(link.source < link.target for link in links if link.mutual)
    assert {link.mutual for link in links} == {True, False}
    for link in links:
        assert link.score == pytest.approx(float(vectors[link.source] @ vectors[link.target]), abs=1e-4)


@pytest.fixture(scope="module")
def like_real_ones(embedder: Embedder) -> Vector:
    """Mixtures of a text's vector and another's, with real deviations."""
    texts = [text for page in sorted(example_corpus().rglob("*.md")) for text in page.read_text().split("\n\n")]
    real = embedder.encode([text for text in texts if len(text) > 80][:80])
    draw = np.random.default_rng(0)
    mixed = real[draw.integers(len(real), size=SEVERAL)] + 0.6 * real[draw.integers(len(real), size=SEVERAL)]
    deviations = draw.normal(size=(SEVERAL, len(real))) @ (real - real.mean(axis=0)) / np.sqrt(len(real))
    return unit(mixed + 0.9 * deviations)


@pytest.mark.slow
def test_approximate_links_are_nearly_all_of_the_exact_ones(like_real_ones: Vector) -> None:
    approximate = pairs(linked(like_real_ones, 10, 0.5, degree_limit=SEVERAL, exact=False))
    rows = np.arange(0, SEVERAL, 40)
    near = nearest(like_real_ones, rows, 10, 0.5)
    exact = {
        (min(row, other), max(row, other)) for row, other in zip(near.row.tolist(), near.other.tolist(), strict=True)
    }

    assert like_real_ones.shape == (SEVERAL, 384)
    assert SEVERAL > _INDEX_BATCH
    assert len(exact) > 5 * len(rows)
    assert len(exact & approximate) >= 0.99 * len(exact)
    assert len(approximate) <= 10 * SEVERAL


@pytest.mark.parametrize("exact", [True, False])
def test_no_row_has_more_links_than_the_cap(exact: bool) -> None:
    generator = np.random.default_rng(1)
    hub = np.ones((1, 32))
    around = hub + 0.8 * generator.normal(size=(200, 32))
    vectors = unit(np.concatenate([hub, around]))

    assert degrees(linked(vectors, 5, exact=exact))[0] > 50
    assert 0 < max(degrees(linked(vectors, 5, degree_limit=7, exact=exact)).values()) <= 7


def test_a_pair_is_linked_if_it_is_among_the_best_of_both() -> None:
    angles = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)

    assert pairs(linked(vectors, 4, degree_limit=1)) == {(0, 1)}
    assert pairs(linked(vectors, 4, degree_limit=2)) == {(0, 1), (1, 2), (2, 3), (3, 4)}


@pytest.mark.parametrize("exact", [True, False])
def test_equal_vectors_are_linked_to_each_other_and_not_to_themselves(exact: bool) -> None:
    vectors = np.repeat(random_vectors(1), 4, axis=0)

    links = linked(vectors, 3, 0.9, exact=exact)

    assert pairs(links) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    assert all(link.score <= 1 for link in links)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("count", "top_k"), [(0, 5), (1, 5), (20, 0)])
def test_too_few_rows_or_no_neighbours_give_no_links(count: int, top_k: int, exact: bool) -> None:
    assert linked(random_vectors(20)[:count], top_k, -1.0, exact=exact) == []


@pytest.mark.parametrize("exact", [True, False])
def test_a_threshold_counts_what_reaches_it(exact: bool) -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)

    assert pairs(linked(vectors, 2, 1.0, exact=exact)) == {(0, 1)}
    assert pairs(linked(vectors, 2, 0.0, exact=exact)) == {(0, 1), (0, 2), (1, 2)}
