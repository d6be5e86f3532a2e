"""Names that mean one: initials however they are set, aliases, acronyms; homonyms told apart; identifiers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pipeline.ingest.entities.extract import TitleLink
from tests.ingest.conftest import Linked, Names, chunk

Mentioned = Callable[..., dict[str, list[str]]]


@pytest.fixture(scope="module")
def mentioned(names: Names) -> Mentioned:
    """The keys of the entities in each chunk."""
    return lambda *chunks: {key: [one.key for one in named.mentions] for key, named in names(*chunks).items()}


def test_initials_are_one_name_however_they_are_set(mentioned: Mentioned, linked: Linked) -> None:
    tolkien = chunk("t", "", "J. R. R. Tolkien")
    texts = ["by J. R. R. Tolkien", "by J.R.R. Tolkien", "by JRR Tolkien", "by J R R Tolkien"]

    found = linked(tolkien, *(chunk(str(number), text) for number, text in enumerate(texts)))
    assert found == {number: ["t"] for number in "0123"}
    assert "jrr tolkien" in mentioned(tolkien, chunk("other", "by J.R.R. Tolkien"))["other"]


def test_a_country_before_a_name_is_no_initials(mentioned: Mentioned) -> None:
    assert mentioned(chunk("a", "the U.S. Senator Ada Lovelace"))["a"] == ["senator ada lovelace", "us"]


def test_a_name_with_middle_initials_is_also_the_one_without(mentioned: Mentioned, linked: Linked) -> None:
    doyle = chunk("d", "", "Arthur C. Doyle")

    assert mentioned(doyle, chunk("a", "by Arthur C. Doyle"))["a"] == ["arthur c doyle", "arthur doyle"]
    assert linked(doyle, chunk("b", "by Arthur Doyle")) == {"b": ["d"]}
    assert mentioned(chunk("c", "by George H. W. Bush"))["c"] == ["george bush", "george hw bush"]


def test_names_that_a_text_defines_are_found_under_each_other(names: Names) -> None:
    who = chunk("who", "", "World Health Organization")
    found = names(
        who,
        chunk("defining", "by the World Health Organization (WHO)"),
        chunk("short", "he met the WHO, who met it"),
        chunk("long", "he met the World Health Organization"),
        chunk("other", "he is who met it"),
    )

    both = ["who", "world health organization"]
    assert {key: [one.key for one in found[key].mentions] for key in ("short", "long", "other")} == {
        "short": both,
        "long": both,
        "other": [],
    }
    assert found["short"].titles == (TitleLink("who", 1, 11),)
    assert {one.key for one in found["who"].mentions if one.about} == set(both)


def test_what_an_acronym_stands_for_is_found_in_lower_case_and_in_the_plural(mentioned: Mentioned) -> None:
    found = mentioned(chunk("a", "by a neural net (NN)"), chunk("b", "the neural nets"), chunk("c", "two NNs"))

    assert found["b"] == ["neural net", "neural nets", "nn"]
    assert found["c"] == ["neural net", "nn", "nns"]


def test_an_acronym_of_two_meanings_is_neither(mentioned: Mentioned) -> None:
    found = mentioned(chunk("a", "a neural net (NN)"), chunk("b", "a nearest neighbour (NN)"), chunk("c", "the NN"))

    assert found["c"] == ["nn"]


def test_homonyms_are_told_apart_by_their_disambiguations(names: Names) -> None:
    found = names(
        chunk("planet", "", "Mercury (planet)"),
        chunk("metal", "", "Mercury (element)"),
        chunk("venus", "", "Venus (planet)"),
        chunk("plain", "by Mercury"),
        chunk("full", "by Mercury (element)"),
    )

    assert {one.key for one in found["planet"].mentions if one.about} == {"mercury", "mercury planet"}
    assert {one.key for one in found["venus"].mentions if one.about} == {"venus"}
    assert [link.document_key for link in found["plain"].titles] == ["metal", "planet"]
    assert [link.document_key for link in found["full"].titles] == ["metal"]


def test_identifiers_are_names_in_prose_but_not_in_a_block_of_code(mentioned: Mentioned) -> None:
    text = "set max_tokens by --dry-run, and `retry`:\n\n```\nrun.max_tokens = getSize(2)\n```"

    assert mentioned(chunk("a", text))["a"] == ["dry run", "max tokens", "retry"]
