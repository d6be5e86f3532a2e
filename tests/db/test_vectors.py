"""Vectors as bytes: what is stored comes back bit by bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pipeline.db.vectors import from_bytes, to_bytes
from pipeline.records import Vector


@given(arrays(np.float32, st.integers(0, 8), elements=st.floats(allow_nan=False, width=32)))
def test_a_vector_comes_back_as_it_was(vector: Vector) -> None:
    stored = to_bytes(vector)

    assert len(stored) == 4 * len(vector)
    assert from_bytes(stored).tolist() == vector.tolist()
