"""Spools: batches in a temporary file, read as often as wanted."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.update.stored import Spool
from pipeline.records import Block, BlockKind, Document, Link, SuppliedChunk


@given(st.lists(st.lists(st.text(max_size=5), max_size=4), max_size=6))
def test_batches_come_back_as_they_were_as_often_as_wanted(batches: list[list[str]]) -> None:
    with Spool[str]() as spool:
        for batch in batches:
            spool.append(batch)

        assert list(spool.batches()) == list(spool.batches()) == batches
        assert list(spool) == [item for batch in batches for item in batch]
        assert spool.count == sum(map(len, batches))


SPANS = st.tuples(st.integers(0, 99), st.integers(0, 99))
DOCUMENTS = st.builds(
    Document,
    st.text(),
    st.text(),
    st.text(),
    blocks=st.lists(st.builds(Block, st.sampled_from(BlockKind), st.integers(), st.integers())).map(tuple),
    links=st.lists(st.builds(Link, st.text(), st.integers(), st.integers(), context=st.text())).map(tuple),
    metadata=st.dictionaries(st.text(), st.integers() | st.text()),
    summary=SPANS,
    prechunked=st.lists(st.builds(SuppliedChunk, st.integers(), st.integers(), st.just((0.5, 1.0)))).map(tuple),
    apart=st.booleans(),
)


@given(st.lists(DOCUMENTS, max_size=3))
def test_documents_come_back_equal_and_frozen(documents: list[Document]) -> None:
    with Spool[Document]() as spool:
        spool.append(documents)

        again = list(spool)

    assert again == documents
    assert [*map(repr, again)] == [*map(repr, documents)]
    for document in again:
        with pytest.raises(FrozenInstanceError):
            document.key = "other"  # type: ignore[misc]


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
