"""Originals: what frameworks write comes back equal, whatever it is; what isn't theirs is another's."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import InputError
from pipeline.files import well_formed
from pipeline.serve.adapters.originals import _decoded, _encoded

ZONES = st.none() | st.just(UTC) | st.just(timezone(timedelta(hours=-3, minutes=-30)))
TEXTS = st.text(st.characters(exclude_categories=[]))
LEAVES = (
    st.none()
    | st.just({"hoprank:date": "no date"})
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | TEXTS
    | st.dates()
)
VALUES = st.recursive(
    LEAVES
    | st.datetimes(timezones=ZONES).map(lambda one: one.replace(fold=0))
    | st.times().map(lambda one: one.replace(fold=0)),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS | st.just("hoprank:date"), inner),
    max_leaves=20,
)


@given(VALUES)
def test_a_value_comes_back_equal_and_can_be_stored(value: Any) -> None:
    text = _encoded("id", value, "haystack")

    assert repr(_decoded(text, "haystack")) == repr(value)
    assert well_formed(text) == text


@pytest.mark.parametrize("text", ["", "A note.", '{"llamaindex": {}}', '{"haystacks": {}}', "{"])
def test_what_another_wrote_is_no_original(text: str) -> None:
    assert _decoded(text, "haystack") is None


def test_what_json_can_not_hold_is_refused() -> None:
    circle: list[Any] = []
    circle.append(circle)

    for value in ({1, 2}, b"x", object(), circle, {("a", "b"): 1}):
        with pytest.raises(InputError, match="The document 'id' has a value that JSON can't hold"):
            _encoded("id", value, "haystack")
