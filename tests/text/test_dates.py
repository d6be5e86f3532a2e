"""Dates in questions: what is one and what isn't, the intervals and relations, and how close times are to them."""

from __future__ import annotations

import subprocess
import sys
import timeit
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.text.dates import TimeHint, closeness, time_hints

NOW = datetime(2024, 3, 15, 10, tzinfo=UTC)
"""A Friday."""

TIMES = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


def spans(question: str, now: datetime = NOW) -> list[tuple[str, str, str]]:
    """Start, end and relation of the hints; days only, where the time is midnight."""
    return [
        (
            (hint.start or "").removesuffix("T00:00:00+00:00"),
            (hint.end or "").removesuffix("T00:00:00+00:00"),
            hint.relation,
        )
        for hint in time_hints(question, now)
    ]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        # days
        ("What was decided on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What was decided on May 7, 2023?", "2023-05-07", "2023-05-08"),
        ("the 7th of May 2023", "2023-05-07", "2023-05-08"),
        ("on may 7 2023", "2023-05-07", "2023-05-08"),
        ("What did we say on 2024-02-29?", "2024-02-29", "2024-03-01"),
        ("on 2023/05/07", "2023-05-07", "2023-05-08"),
        ("on 25/07/2023", "2023-07-25", "2023-07-26"),
        ("on 7.5.2023", "2023-05-07", "2023-05-08"),
        ("What did we discuss on January 5?", "2024-01-05", "2024-01-06"),
        ("What happened on December 25?", "2023-12-25", "2023-12-26"),
        ("who came on the 2nd of may?", "2023-05-02", "2023-05-03"),
        ("What did I say yesterday?", "2024-03-14", "2024-03-15"),
        ("the day before yesterday", "2024-03-13", "2024-03-14"),
        ("who calls tomorrow?", "2024-03-16", "2024-03-17"),
        ("What broke last night?", "2024-03-14", "2024-03-15"),
        ("What broke this morning?", "2024-03-15", "2024-03-16"),
        ("What is today's plan?", "2024-03-15", "2024-03-16"),
        ("3 days ago", "2024-03-12", "2024-03-13"),
        ("an hour ago", "2024-03-15", "2024-03-16"),
        ("What did she buy on Monday?", "2024-03-11", "2024-03-12"),
        ("What did she buy last Friday?", "2024-03-08", "2024-03-09"),
        ("What is planned for next Tuesday?", "2024-03-19", "2024-03-20"),
        ("the Tuesday before last", "2024-03-05", "2024-03-06"),
        ("the Friday before 15 July 2023", "2023-07-14", "2023-07-15"),
        ("the day after 15 July 2023", "2023-07-16", "2023-07-17"),
        ("the weekend before 17 July 2023", "2023-07-15", "2023-07-17"),
        ("1 January 1965", "1965-01-01", "1965-01-02"),
        # weeks
        ("What broke last week?", "2024-03-04", "2024-03-11"),
        ("What broke this week?", "2024-03-11", "2024-03-18"),
        ("the week before last", "2024-02-26", "2024-03-04"),
        ("last weekend", "2024-03-09", "2024-03-11"),
        ("Who called two weeks ago?", "2024-02-27", "2024-03-05"),
        ("the week before 9 June 2023", "2023-06-02", "2023-06-09"),
        ("two weeks after 9 June 2023", "2023-06-17", "2023-06-24"),
        ("in the second week of November 2022", "2022-11-08", "2022-11-15"),
        ("in the last week of May", "2023-05-25", "2023-06-01"),
        ("in the first half of September 2022", "2022-09-01", "2022-09-16"),
        ("on the last weekend before April 10, 2023", "2023-04-08", "2023-04-10"),
        ("What came on December 1,2023?", "2023-12-01", "2023-12-02"),
        # months and seasons
        ("What happened last May?", "2023-05-01", "2023-06-01"),
        ("What happened last March?", "2023-03-01", "2023-04-01"),
        ("What happened this March?", "2024-03-01", "2024-04-01"),
        ("Where was Ann in May?", "2023-05-01", "2023-06-01"),
        ("Where was Ann in may?", "2023-05-01", "2023-06-01"),
        ("in February", "2024-02-01", "2024-03-01"),
        ("What happened in Sept. 2021?", "2021-09-01", "2021-10-01"),
        ("in 2021-09", "2021-09-01", "2021-10-01"),
        ("last month", "2024-02-01", "2024-03-01"),
        ("the month before last", "2024-01-01", "2024-02-01"),
        ("in mid-June 2021", "2021-06-11", "2021-06-21"),
        ("in Q3 2023", "2023-07-01", "2023-10-01"),
        ("in Q4", "2023-10-01", "2024-01-01"),
        ("in the first quarter of 2022", "2022-01-01", "2022-04-01"),
        ("plans for this summer", "2024-06-01", "2024-09-01"),
        ("What did they do last summer?", "2023-06-01", "2023-09-01"),
        ("during the summer", "2023-06-01", "2023-09-01"),
        ("last winter", "2023-12-01", "2024-03-01"),
        ("in the summer of 2022", "2022-06-01", "2022-09-01"),
        ("in fall 2022", "2022-09-01", "2022-12-01"),
        # years
        ("What did we do in 2022?", "2022-01-01", "2023-01-01"),
        ("last year", "2023-01-01", "2024-01-01"),
        ("this year", "2024-01-01", "2025-01-01"),
        ("the year before last", "2022-01-01", "2023-01-01"),
        ("in the 90s", "1990-01-01", "2000-01-01"),
        ("in the '60s", "1960-01-01", "1970-01-01"),
        ("in the 1850s", "1850-01-01", "1860-01-01"),
        ("in the nineties", "1990-01-01", "2000-01-01"),
        ("in the 20s", "2020-01-01", "2030-01-01"),
        ("the photo from 1931", "1931-01-01", "1932-01-01"),
    ],
)  # fmt: skip
def test_a_date_gives_its_interval(question: str, start: str, end: str) -> None:
    assert spans(question) == [(start, end, "on")]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did we use before 2020?", ("", "2020-01-01", "before")),
        ("What did we use prior to May 2020?", ("", "2020-05-01", "before")),
        ("What did we use until March 2023?", ("", "2023-04-01", "before")),
        ("What must be done by 7 May 2023?", ("", "2023-05-08", "before")),
        ("What did we use after 2020?", ("2021-01-01", "", "after")),
        ("Who has worked here since 2019?", ("2019-01-01", "", "after")),
        ("since last May", ("2023-05-01", "", "after")),
        ("from 2020 onwards", ("2020-01-01", "", "after")),
        ("What changed between March and June 2023?", ("2023-03-01", "2023-07-01", "between")),
        ("What changed between March and June 2024?", ("2024-03-01", "2024-07-01", "between")),
        ("between November and February 2023", ("2022-11-01", "2023-03-01", "between")),
        ("from 2020 to 2022", ("2020-01-01", "2023-01-01", "between")),
        ("the revenue of 2020-2022", ("2020-01-01", "2023-01-01", "between")),
        ("between 3 May 2023 and 5 May 2023", ("2023-05-03", "2023-05-06", "between")),
    ],
)
def test_words_around_a_date_relate_to_it(question: str, expected: tuple[str, str, str]) -> None:
    assert spans(question) == [expected]


@pytest.mark.parametrize(
    "question",
    ["What did she do last Friday on 23 January, 2022?", "What failed last Friday, as told on 23 January 2022?"],
)
def test_a_relative_date_may_be_relative_to_the_date_after_it(question: str) -> None:
    assert spans(question) == [("2022-01-21", "2022-01-22", "on"), ("2022-01-23", "2022-01-24", "on")]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("in the last three months", "2023-12-16T10:00:00+00:00", "2024-03-15T10:00:00+00:00"),
        ("within the last year", "2023-03-16T10:00:00+00:00", "2024-03-15T10:00:00+00:00"),
        ("over the past 2 weeks", "2024-03-01T10:00:00+00:00", "2024-03-15T10:00:00+00:00"),
    ],
)
def test_the_last_months_end_now(question: str, start: str, end: str) -> None:
    assert [(hint.start, hint.end) for hint in time_hints(question, NOW)] == [(start, end)]


@pytest.mark.parametrize("unit", ["days", "weeks", "months", "years"])
def test_vague_counts_are_wider_than_numbers(unit: str) -> None:
    (two,), (few,) = time_hints(f"2 {unit} ago", NOW), time_hints(f"a few {unit} ago", NOW)

    assert str(few.start) < str(two.start) < str(two.end) <= str(few.end)


def test_a_date_of_numbers_with_two_readings_gives_both() -> None:
    assert spans("on 05/07/2023") == [("2023-05-07", "2023-05-08", "on"), ("2023-07-05", "2023-07-06", "on")]


def test_several_dates_come_in_order() -> None:
    assert [hint.phrase for hint in time_hints("Was it in May 2023, in 2021 or two weeks ago?", NOW)] == [
        "May 2023",
        "2021",
        "two weeks ago",
    ]


@pytest.mark.parametrize(
    "question",
    """
    May I ask what she may do?
    We may 2 times march
    May 2 people join the call?
    march 10 miles
    Is the sun out?
    Who ate 2 apples?
    Does it run on Python 3.11 and version 2.0.1?
    What became of issue 2022 or #2023?
    open report_2023-05-07.txt
    Who wrote 2023-05-07.log?
    Who wrote notes/2020/05/a.md?
    a second thought, wait a second
    in 2000 rows
    after 2020 requests
    on port 2020
    $2020 and 2020% and 2020px
    v2023.05 or 3.5.2021.1
    This may be wrong, and the next may be too
    What was the protest march this march?
    Does the spring leak?
    Does Spring Boot work in Spring?
    Why this Spring Boot app?
    He left in fall of Rome
    April likes June
    Who did Will and May meet?
    Mark and August went
    the last day, the next day, this day
    In the next week of the story
    Which is the next function to call, and the last message?
    the past tense
    Mondays are hard
    Q4 of the form
    today.py and yesterday_2.py
    Who is the last in line?
    on 2023-02-29
    on 31/31/2023
    the range 2022 - 1500
    on 31 June 2023
    999 decades ago
    Who scored in the 40-60 range?
    mar 3 and dec
    the top 10s
    call me at 555-2020-1999
    """.strip().splitlines(),
)
def test_other_words_and_numbers_are_no_dates(question: str) -> None:
    assert time_hints(question.strip(), NOW) == ()


def test_days_are_those_of_the_zone_of_now() -> None:
    now = datetime(2024, 3, 15, 1, tzinfo=ZoneInfo("Asia/Tokyo"))

    assert time_hints("yesterday", now)[0][1:3] == ("2024-03-13T15:00:00+00:00", "2024-03-14T15:00:00+00:00")
    assert time_hints("at 2024-03-01T23:30:00-05:00", now)[0].start == "2024-03-02T04:30:00+00:00"


def test_days_of_summer_time_have_its_offset() -> None:
    now = datetime(2024, 3, 15, 1, tzinfo=ZoneInfo("Europe/Berlin"))

    hint = time_hints("on 31 March 2024", now)[0]

    assert (hint.start, hint.end) == ("2024-03-30T23:00:00+00:00", "2024-03-31T22:00:00+00:00")


def test_now_needs_an_offset() -> None:
    with pytest.raises(ValueError, match="offset"):
        time_hints("yesterday", datetime(2024, 1, 1))  # noqa: DTZ001


QUESTIONS = (
    "last May;two weeks ago;in the 90s;on Monday;last winter;between March and June;the week before last;last decade"
)


@given(
    st.sampled_from(QUESTIONS.split(";")),
    st.datetimes(datetime(1905, 1, 1), datetime(2100, 1, 1)),  # noqa: DTZ001
    st.sampled_from(["UTC", "America/New_York", "Pacific/Apia"]),
)
def test_past_dates_have_begun_by_now(question: str, moment: datetime, zone: str) -> None:
    now = moment.replace(tzinfo=ZoneInfo(zone))

    (hint,) = time_hints(question, now)

    assert str(hint.start) < str(hint.end)
    assert str(hint.start) <= now.astimezone(UTC).isoformat()


WORDS = (
    "last this next the may in 2022 between and march before after until 31 february monday week weekend of two a few "
    "weeks ago years 90s early end 9999 1500 Q1 yesterday on 05/07/2023 0001-01-01 9999-12-31 2023-05-07T10:00 from to "
    "decades 999 past half summer winter since 2020-2022 first second"
).split()


@given(
    st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join),
    st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_any_words_give_periods_that_begin_before_they_end(question: str, now: datetime) -> None:
    for hint in time_hints(question, now):
        assert hint.start or hint.end
        assert not (hint.start and hint.end) or hint.start < hint.end


def test_a_question_without_a_date_is_cheap() -> None:
    question = "Which database does the billing service use for its invoices, and who decided to use it and why?"
    assert time_hints(question, NOW) == ()

    best = min(timeit.repeat(lambda: time_hints(question, NOW), number=200, repeat=10)) / 200

    assert best < 0.0001


def test_a_question_with_dates_takes_milliseconds() -> None:
    question = "What did we do two weeks ago, on 7 May 2023, and last summer?"
    time_hints(question, NOW)

    assert min(timeit.repeat(lambda: time_hints(question, NOW), number=1, repeat=10)) < 0.02


def test_dateparser_is_imported_for_dates_alone() -> None:
    script = (
        "import sys, datetime as d; from pipeline.text.dates import time_hints as t\n"
        "t('Who owns billing?', d.datetime.now(d.UTC)); assert 'dateparser' not in sys.modules\n"
        "t('Who came on Monday?', d.datetime.now(d.UTC)); assert 'dateparser' in sys.modules"
    )

    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


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
