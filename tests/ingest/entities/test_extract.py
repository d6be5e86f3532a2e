"""Entities from capitals and from the corpus's own titles; links from texts that name a title."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.entities.extract import ChunkNames, Mention, TitleLink
from pipeline.records import Chunk
from tests.ingest.conftest import Extract, Linked, Names, chunk


def keys(named: ChunkNames) -> list[str]:
    return [mention.key for mention in named.mentions]


def test_a_mention_has_its_count_and_first_position(names: Names) -> None:
    text = "He met Ada Lovelace. Ada Lovelace's notes, by Babbage"

    assert names(chunk("a", text))["a"].mentions == (
        Mention("ada lovelace", 2, 7, about=False),
        Mention("babbage", 1, 46, about=False),
    )


def test_a_chunk_is_about_its_title_and_its_last_heading_named_in_it_or_not(names: Names) -> None:
    named = names(chunk("a", "by 1833 we met", "Ada Lovelace (writer)", "Life > Later life"))["a"]

    assert named.mentions == (
        Mention("1833", 1, 3, about=False),
        Mention("ada lovelace", 1, 0, about=True),
        Mention("later life", 1, 0, about=True),
    )


def test_a_text_that_names_a_title_links_to_its_document_but_not_to_its_own(names: Names) -> None:
    ada = chunk("ada", "Ada Lovelace met Charles Babbage. Charles Babbage's engine", "Ada Lovelace")
    charles = chunk("charles", "we met Ada Lovelace", "Charles Babbage")

    assert names(ada, charles)["ada"].titles == (TitleLink("charles", 2, 17),)
    assert names(ada, charles)["charles"].titles == (TitleLink("ada", 1, 7),)


@pytest.mark.parametrize(
    ("titles", "texts", "found"),
    [
        pytest.param(
            {"york": "York", "new": "New York", "times": "New York Times"},
            {"a": "in the New York Times", "b": "in New York by the Times", "c": "in New Yorkshire by York"},
            {"a": ["times"], "b": ["new"], "c": ["york"]},
            id="the longest wins",
        ),
        pytest.param({"a": "Ada", "b": "Babbage"}, {"c": "by Ada Babbage"}, {"c": ["a", "b"]}, id="touching"),
        pytest.param(
            {"planet": "Mercury (planet)"},
            {"plain": "we met Mercury here", "full": "we met Mercury (planet) here"},
            {"plain": ["planet"], "full": ["planet"]},
            id="disambiguated",
        ),
        pytest.param(
            {"a": "Smile (song)", "b": "Smile (album)"}, {"c": "he made Smile"}, {"c": ["a", "b"]}, id="of one name"
        ),
    ],
)
def test_titles_in_texts_lead_to_their_documents(
    linked: Linked, titles: dict[str, str], texts: dict[str, str], found: dict[str, list[str]]
) -> None:
    chunks = [chunk(key, "", title) for key, title in titles.items()]

    assert linked(*chunks, *(chunk(key, text) for key, text in texts.items())) == found


@pytest.mark.parametrize(("sharers", "expected"), [(3, {"z": ["d0", "d1", "d2"]}), (4, {})])
def test_a_title_that_too_many_documents_share_names_nothing(
    linked: Linked, sharers: int, expected: dict[str, list[str]]
) -> None:
    shared = [chunk(f"d{number}", "", "Release Notes") for number in range(sharers)]

    assert linked(*shared, chunk("z", "in the Release Notes"), shared_by=3) == expected


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("Ada Lovelace", "by ADA LOVELACE", True),
        ("Ada Lovelace", "by ada lovelace", False),
        ("How to boil eggs", "we know how to boil eggs", True),
        ("How to boil eggs", "How to boil eggs is known", True),
        ("Songs", "the songs", False),
        ("São Paulo", "in Sao Paulo", True),
        ("The Beatles", "by the Beatles", True),
        ("The Beatles", "by Beatles' fans", True),
        ("AT&T", "by AT&T", True),
        ("Apollo 11", "the Apollo 11 crew", True),
        ("1984", "he read 1984", True),
        ("A", "by A", False),
        (" ".join(["Long"] * 13), " ".join(["Long"] * 13), False),
    ],
)
def test_a_title_counts_where_it_is_written_as_a_name(linked: Linked, title: str, text: str, found: bool) -> None:
    assert bool(linked(chunk("a", "", title), chunk("b", text))) is found


def test_a_heading_of_several_words_is_a_name_but_links_to_no_document(names: Names) -> None:
    found = names(
        chunk("guide", "here", "Guide", "Setup > Getting started"),
        chunk("other", "see getting started, and setup"),
    )

    assert keys(found["other"]) == ["getting started"]
    assert found["other"].titles == ()


@pytest.mark.parametrize(
    ("title", "text", "found"),
    [
        ("University of Oxford", "the University of Oxford", ["university of oxford"]),
        ("Oxford", "the Oxford English Dictionary", ["oxford", "oxford english dictionary"]),
    ],
)
def test_a_span_within_a_title_is_not_counted_but_a_longer_one_is(
    names: Names, title: str, text: str, found: list[str]
) -> None:
    assert keys(names(chunk("a", "", title), chunk("b", text))["b"]) == found


def test_an_entity_is_spelled_as_it_mostly_is(extract: Extract) -> None:
    texts = ["by Sao Paulo", "in São Paulo", "he met SÃO PAULO", "we met São Paulo"]
    _, spellings = extract([chunk(str(number), text) for number, text in enumerate(texts)])

    assert spellings == {"sao paulo": "São Paulo"}


def test_every_mention_has_a_spelling_and_every_spelling_a_mention(extract: Extract) -> None:
    named, spellings = extract([chunk("a", "He met Ada in 1833", "Notes", "Notes > On it"), chunk("b", "", "")])

    assert {key for one in named for key in keys(one)} == spellings.keys()


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param("```python\nby Grace Hopper\n```", id="code"),
        pytest.param("| by |\n|---|\n| Grace Hopper |", id="a table"),
        pytest.param('<a title="by Grace Hopper">', id="an attribute of a tag"),
        pytest.param("<!-- by Grace Hopper -->", id="a comment"),
        pytest.param('!!! note "by Grace Hopper"', id="the title of an admonition"),
    ],
)
def test_names_come_from_prose_only(names: Names, linked: Linked, markup: str) -> None:
    hopper = chunk("hopper", "", "Grace Hopper")
    marked = chunk("a", f"by Ada Lovelace\n\n{markup}\n\nin 1833")
    written = chunk("b", f"{markup}\n\nby Grace Hopper")

    assert keys(names(marked)["a"]) == ["1833", "ada lovelace"]
    assert names(written)["b"].mentions == (Mention("grace hopper", 1, len(markup) + 5, about=False),)
    assert linked(hopper, marked, written) == {"b": ["hopper"]}


def test_an_alias_is_defined_in_prose_only(names: Names) -> None:
    definition = "by the Grand Old Engine (GOE)"

    assert keys(names(chunk("a", f"| {definition} |"), chunk("b", "by GOE"))["b"]) == ["goe"]
    assert keys(names(chunk("a", definition), chunk("b", "by GOE"))["b"]) == ["goe", "grand old engine"]


def test_no_chunks_have_no_names(extract: Extract) -> None:
    assert extract([]) == ([], {})


POOL = [
    chunk("a", "Ada met Charles Babbage in Turin. Turin was cold", "Ada Lovelace"),
    chunk("b", "charles met Ada Lovelace. Engines", "Charles Babbage", "On engines"),
    chunk("c", "it was cold in turin, on engines. Ada", "Turin (city)"),
    chunk("c", "The Turin of Ada", "Turin (city)", "The old town", 1),
    chunk("d", "TURIN. charles babbage's The Old Town", ""),
]


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(POOL), unique=True))
def test_the_order_of_chunks_changes_nothing(extract: Extract, shuffler: random.Random, chunks: list[Chunk]) -> None:
    before, spellings_before = extract(chunks)
    shuffled = list(chunks)
    shuffler.shuffle(shuffled)
    after, spellings_after = extract(shuffled)

    assert set(after) == set(before)
    assert [named.chunk_id for named in after] == [one.id for one in shuffled]
    assert spellings_after == spellings_before
