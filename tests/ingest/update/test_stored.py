"""Spools: batches in a temporary file, read as often as wanted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.update.stored import Spool


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=6))
def test_batches_come_back_as_they_were_as_often_as_wanted(batches: list[list[str]]) -> None:
    with Spool[str]() as spool:
        for batch in batches:
            spool.append(batch)

        assert list(spool.batches()) == list(spool.batches()) == batches
        assert list(spool) == [item for batch in batches for item in batch]
        assert spool.count == sum(map(len, batches))


def test_what_is_added_between_readings_is_read_next() -> None:
    with Spool[int]() as spool:
        spool.append([1])
        reading = spool.batches()
        assert next(reading) == [1]
        spool.append([2, 3])

        assert list(spool) == [1, 2, 3]


def test_a_spool_that_is_closed_holds_nothing() -> None:
    with Spool[int]() as spool:
        spool.append([1])

    with pytest.raises(ValueError, match="closed"):
        list(spool)
