"""How close times are to the dates of questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.domains.memory.search.dates import TimeHint, closeness, time_hints

NOW = datetime(2024, 3, 15, 10, tzinfo=UTC)
TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(TIMES, st.timedeltas(timedelta(minutes=1), timedelta(days=4000)), TIMES)
def test_closeness_is_one_inside_and_between_nothing_and_one_outside(
    start: datetime, length: timedelta, time: datetime
) -> None:
    hint = TimeHint("x", start.isoformat(), (start + length).isoformat(), "on", length.total_seconds())

    close = closeness(time.isoformat(), hint)

    assert 0 < close <= 1
    assert (close == 1) >= (start <= time <= start + length)


@given(TIMES, st.floats(0, 2e9), st.floats(0, 2e9), st.booleans())
def test_closeness_falls_with_the_distance(start: datetime, near: float, far: float, later: bool) -> None:
    hint = TimeHint("x", start.isoformat(), start.isoformat(), "on", 86400.0)
    sign = 1 if later else -1
    near, far = sorted((near, far))
    assume(far - near > 1)

    close, closer = (
        closeness((start + timedelta(seconds=sign * distance)).isoformat(), hint) for distance in (far, near)
    )

    assert 0 < close < closer <= 1


def test_closeness_is_relative_to_the_length_of_the_date() -> None:
    (day,), (year,) = time_hints("on 7 May 2023", NOW), time_hints("in 2023", NOW)

    assert closeness("2023-05-09T00:00:00+00:00", day) == pytest.approx(0.5)
    assert closeness("2024-12-31T00:00:00+00:00", year) == pytest.approx(0.5, abs=0.01)


def test_closeness_to_an_open_period() -> None:
    (before,), (since,) = time_hints("before 2020", NOW), time_hints("since 2020", NOW)

    assert closeness("1950-01-01T00:00:00+00:00", before) == 1 == closeness("2090-01-01T00:00:00+00:00", since)
    assert closeness("2023-01-01T00:00:00+00:00", before) < 0.2 > closeness("2017-01-01T00:00:00+00:00", since)
