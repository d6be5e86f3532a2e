"""Derived ids: stable, and different for different parts."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.ids import digest, document_id, entity_id

PARTS = st.lists(st.text(alphabet="a01\x1e\x1f\x00é", max_size=3), min_size=1, max_size=3)


def test_a_digest_never_changes() -> None:
    # Stored graphs hold it: another value would make every document look new.
    assert digest("corpus", "document", "a.md") == "9cfad8a9fd009935f6adb885245320ff"


@given(PARTS, PARTS)
@example(["a\x1f", "b"], ["a", "\x1fb"])
@example(["ab"], ["a", "b"])
def test_two_digests_are_equal_only_if_their_parts_are(one: list[str], other: list[str]) -> None:
    assert (digest(*one) == digest(*other)) == (one == other)


def test_any_text_has_a_digest() -> None:
    assert len(digest("")) == len(digest("\ud800", "💥")) == 32


def test_ids_tell_corpora_and_kinds_apart() -> None:
    ids = {make(corpus, key) for make in (document_id, entity_id) for corpus in ("c1", "c2") for key in ("a", "b")}

    assert len(ids) == 8


@given(st.lists(st.text(max_size=5), unique=True), st.sampled_from([document_id, entity_id]))
def test_equal_content_has_the_same_order_in_every_corpus(keys: list[str], make: Callable[[str, str], str]) -> None:
    one, other = ({make(corpus, key): key for key in keys} for corpus in ("000000000001", "ffffffffffff"))

    assert [one[id_] for id_ in sorted(one)] == [other[id_] for id_ in sorted(other)]
