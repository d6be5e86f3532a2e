"""Times of messages and questions: forms, time zones, changes of clocks, times before 1970."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.memory.times import read_time, time_of, zone_named
from pipeline.errors import ConfigurationError, InputError, SourceError

BERLIN = "Europe/Berlin"
ZONES = ("UTC", BERLIN, "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Australia/Lord_Howe")


@pytest.mark.parametrize(
    ("value", "local", "expected"),
    [
        ("2024-01-31T12:00:00Z", "UTC", "2024-01-31T12:00:00+00:00"),
        ("2024-01-31T12:00:00+01:00", "UTC", "2024-01-31T11:00:00+00:00"),
        ("2024-01-31T12:00:00+01:00", "Asia/Tokyo", "2024-01-31T11:00:00+00:00"),
        ("2024-01-31T12:00:00", BERLIN, "2024-01-31T11:00:00+00:00"),
        ("2024-07-31 12:00", BERLIN, "2024-07-31T10:00:00+00:00"),
        ("2024-07-31", BERLIN, "2024-07-30T22:00:00+00:00"),
        ("20240731", "UTC", "2024-07-31T00:00:00+00:00"),
        (" 2024-07-31 ", "UTC", "2024-07-31T00:00:00+00:00"),
        ("2024-01-31T12:00:00.25Z", "UTC", "2024-01-31T12:00:00.250000+00:00"),
        ("2024-03-31T02:30:00", BERLIN, "2024-03-31T01:30:00+00:00"),  # never occurred: read as 03:30 summer time
        ("2024-10-27T02:30:00", BERLIN, "2024-10-27T00:30:00+00:00"),  # occurred twice: the first
        ("2024-10-27T02:30:00+01:00", BERLIN, "2024-10-27T01:30:00+00:00"),
        ("1965-06-01T08:00:00", "America/New_York", "1965-06-01T12:00:00+00:00"),
        ("0999-01-01T00:00:00Z", "UTC", "0999-01-01T00:00:00+00:00"),
        (0, BERLIN, "1970-01-01T00:00:00+00:00"),
        (1706702400, BERLIN, "2024-01-31T12:00:00+00:00"),
        (1706702400.5, "UTC", "2024-01-31T12:00:00.500000+00:00"),
        (1706702400000, "UTC", "2024-01-31T12:00:00+00:00"),
        ("1706702400", "UTC", "2024-01-31T12:00:00+00:00"),
        ("1706702400000", "UTC", "2024-01-31T12:00:00+00:00"),
        (157766400000, "UTC", "1975-01-01T00:00:00+00:00"),
        (-157766400, "UTC", "1965-01-01T00:00:00+00:00"),
        (-2208988800, "UTC", "1900-01-01T00:00:00+00:00"),
    ],
)
def test_a_time_becomes_canonical(value: object, local: str, expected: str) -> None:
    assert time_of(value, zone_named(local), "chat.json") == expected


NO_TIMES: list[object] = ["yesterday", "", "2024-13-01", "2024-02-30", "31.01.2024", True, [], {}, None]
BEYOND: list[object] = ["0001-01-01T00:00:00", "9999-12-31T23:59:59-05:00", 9e14, 1e300]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        *((value, "no time") for value in (*NO_TIMES, float("nan"), float("inf"))),
        *((value, "out of range") for value in BEYOND),
    ],
)
def test_what_is_no_time_is_refused_with_its_place(value: object, problem: str) -> None:
    with pytest.raises(SourceError, match=rf"chat\.json, turn 3: its date .*{problem}"):
        time_of(value, zone_named("Asia/Tokyo"), "chat.json, turn 3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [("yesterday", "no time"), ("1706702400", "no time"), ("9999-12-31T23:59-05:00", "out of range")],
)
def test_a_time_that_a_person_gives_is_iso_8601(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=f"^--since: '{text}' is {problem}"):
        read_time(text, zone_named("UTC"), "--since")


@pytest.mark.parametrize("name", ["Mars/Base", "", "../etc/passwd", "/etc/localtime", "Europe", ".", "a\x00b"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="is no time zone"):
        zone_named(name)


@given(
    st.datetimes(datetime(1901, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001
    st.sampled_from(ZONES),
)
def test_a_time_with_an_offset_is_the_same_instant_in_every_zone(moment: datetime, name: str) -> None:
    aware = moment.replace(tzinfo=UTC)
    written = aware.astimezone(zone_named(name)).isoformat()

    assert time_of(written, zone_named("Asia/Tokyo"), "x") == time_of(aware.isoformat(), zone_named(name), "x")


@given(
    st.datetimes(datetime(1901, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001
    st.sampled_from(ZONES),
)
def test_a_local_time_reads_back_unless_clocks_skipped_it(moment: datetime, name: str) -> None:
    read = datetime.fromisoformat(time_of(moment.isoformat(), zone_named(name), "x")).astimezone(zone_named(name))

    difference = abs(read.replace(tzinfo=None) - moment)
    assert difference == timedelta(0) or difference <= timedelta(days=1)
    assert difference == timedelta(0) or read.utcoffset() != moment.replace(tzinfo=zone_named(name)).utcoffset()


@given(st.floats(-6e10, 9.9e10))
def test_canonical_times_sort_as_instants(seconds: float) -> None:
    first, second = (time_of(value, zone_named("UTC"), "x") for value in (seconds, seconds + 1))

    assert first < second
