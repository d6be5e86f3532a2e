"""Entities from capitals and from the corpus's own titles; links from texts that name a title."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ingest.entities.extract import ChunkNames, Mention, TitleLink
from pipeline.records import Chunk

EVERYDAY = "the he it what was in by we met and is a of how to planet song here"


def chunk(key: str, text: str, title: str = "", heading: str = "", ordinal: int = 0) -> Chunk:
    return Chunk(f"{key}/{ordinal}", key, ordinal, text, title, heading, 0, len(text), 1, 1, 5)


Extract = Callable[..., tuple[list[ChunkNames], dict[str, str]]]
Names = Callable[..., dict[str, ChunkNames]]
Linked = Callable[..., dict[str, list[str]]]


@pytest.fixture(scope="module")
def names(extract: Extract) -> Names:
    """What each chunk names, by its document; a chunk of everyday words makes sentence starts tell nothing."""

    def find(*chunks: Chunk, shared_by: int = 8) -> dict[str, ChunkNames]:
        found, _ = extract([*chunks, chunk("everyday", EVERYDAY)], shared_by)
        return {named.chunk_id.split("/", 1)[0]: named for named in found}

    return find


@pytest.fixture(scope="module")
def linked(names: Names) -> Linked:
    """The documents that each chunk refers to, of those that do."""

    def find(*chunks: Chunk, shared_by: int = 8) -> dict[str, list[str]]:
        found = names(*chunks, shared_by=shared_by).items()
        return {key: [link.document_key for link in named.titles] for key, named in found if named.titles}

    return find


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


def test_the_longest_title_wins(linked: Linked) -> None:
    assert linked(
        chunk("york", "", "York"),
        chunk("new", "", "New York"),
        chunk("times", "", "New York Times"),
        chunk("a", "in the New York Times"),
        chunk("b", "in New York by the Times"),
        chunk("c", "in New Yorkshire by York"),
    ) == {"a": ["times"], "b": ["new"], "c": ["york"]}


def test_titles_that_touch_are_both_found(linked: Linked) -> None:
    assert linked(chunk("a", "", "Ada"), chunk("b", "", "Babbage"), chunk("c", "by Ada Babbage")) == {"c": ["a", "b"]}


def test_a_disambiguated_title_is_found_by_both_its_forms(linked: Linked) -> None:
    found = linked(
        chunk("planet", "", "Mercury (planet)"),
        chunk("plain", "we met Mercury here"),
        chunk("full", "we met Mercury (planet) here"),
    )

    assert found == {"plain": ["planet"], "full": ["planet"]}


def test_documents_of_one_title_are_all_linked(linked: Linked) -> None:
    assert linked(chunk("a", "", "Smile (song)"), chunk("b", "", "Smile (album)"), chunk("c", "he made Smile")) == {
        "c": ["a", "b"]
    }


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


def test_a_span_within_a_title_is_not_counted_twice(names: Names) -> None:
    assert keys(names(chunk("a", "", "University of Oxford"), chunk("b", "the University of Oxford"))["b"]) == [
        "university of oxford"
    ]


def test_a_span_that_is_longer_than_the_title_in_it_is_a_name_too(names: Names) -> None:
    assert keys(names(chunk("a", "", "Oxford"), chunk("b", "the Oxford English Dictionary"))["b"]) == [
        "oxford",
        "oxford english dictionary",
    ]


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
