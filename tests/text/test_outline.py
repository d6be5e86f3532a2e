"""Chunks that overlap, joined to the text that they were cut from."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.outline import join_chunks


def test_what_two_chunks_share_stands_once() -> None:
    assert join_chunks([(0, 11, "one two thr"), (8, 13, "three")]) == "one two three"


def test_a_gap_becomes_an_empty_line() -> None:
    assert join_chunks([(0, 3, "one"), (9, 12, "two")]) == "one\n\ntwo"


@given(st.text(st.characters(categories=["L"]), min_size=1), st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3))))
def test_overlapping_chunks_make_their_text_again(text: str, cuts: list[tuple[int, int]]) -> None:
    chunks, end = [], 0
    for length, overlap in [*cuts, (len(text), 1)]:
        start = max(0, end - max(1, overlap)) if end else 0
        end = min(len(text), max(end, start + length))
        chunks.append((start, end, text[start:end]))

    assert join_chunks(chunks) == text
