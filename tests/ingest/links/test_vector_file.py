"""Vectors on disk read as the array that they are."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.links.similar import VectorFile, similar_pairs


def numbers(count: int, dimension: int = 8) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.random.default_rng(count).normal(size=(count, dimension)).astype(np.float32)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5), st.data())
def test_it_reads_as_the_array_does(sizes: list[int], data: st.DataObject) -> None:
    parts = [numbers(size) for size in sizes]
    whole = np.concatenate(parts)
    rows = st.integers(0, len(whole) - 1)
    with VectorFile(8) as file:
        for part in parts:
            file.append(part)

        assert file.shape == whole.shape
        assert len(file) == len(whole)
        for asked in (
            slice(None),
            slice(data.draw(rows), data.draw(rows)),
            np.array(data.draw(st.lists(rows)), dtype=np.int64),
            data.draw(st.lists(rows, min_size=1)),
        ):
            assert np.array_equal(file[asked], whole[asked])


def test_one_vector_is_a_row_and_none_is_an_empty_array() -> None:
    with VectorFile(8) as file:
        assert file[:].shape == (0, 8)
        file.append([])
        assert file.shape == (0, 8)
        file.append(numbers(1)[0])

        assert np.array_equal(file[[0]], numbers(1))


def test_near_pairs_are_the_same_from_disk() -> None:
    vectors = numbers(300)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    with VectorFile(8) as file:
        file.append(vectors)
        for exact_up_to in (0, 300):
            here, on_disk = (
                list(similar_pairs(one, top_k=5, threshold=0.3, degree_limit=50, exact_up_to=exact_up_to))
                for one in (vectors, file)
            )
            found = {(one.source, one.target) for one in on_disk}

            # The approximate index is built by several threads, so that it differs a little from time to time.
            assert len(found & {(one.source, one.target) for one in here}) > 0.95 * len(here)
            assert here == on_disk or not exact_up_to
