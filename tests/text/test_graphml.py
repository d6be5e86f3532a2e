"""The elements of GraphML that both exports write."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from pipeline.text.graphml import add_data, element, is_legal, kind_of, text_of, without_forbidden


@given(st.text())
def test_text_without_forbidden_characters_is_legal_and_can_be_written(text: str) -> None:
    node = element("node")
    add_data(node, "d0", without_forbidden(text))

    assert is_legal(without_forbidden(text))
    assert is_legal(text) == (without_forbidden(text) == text)
    assert (etree.fromstring(etree.tostring(node))[0].text or "") == without_forbidden(text)


@given(st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()))
def test_values_come_back_by_their_kind(value: object) -> None:
    readers: dict[str, Callable[[str], object]] = {"boolean": "true".__eq__, "long": int, "double": float}

    assert readers.get(kind_of(value), str)(text_of(value)) == value
