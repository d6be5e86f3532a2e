"""Names in running text: which runs of words are one, under which key its variants meet, and what is an identifier."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.names import (
    Casing,
    Name,
    folded,
    is_identifier,
    may_hold_identifiers,
    name_key,
    spans,
    without_disambiguation,
    words,
)

EVERYDAY = "the he it what was in by we met bridge river is a"
"""Makes these words common, as they are in any corpus of some size."""


def names(text: str, *corpus: str) -> list[str]:
    """The keys of the names in ``text``, as a part of ``corpus``."""
    casing = Casing([words(one) for one in (text, EVERYDAY, *corpus)])
    return [name.key for name in spans(text, words(text), casing)]


@pytest.mark.parametrize(
    ("variants", "key"),
    [
        (["The Beatles", "Beatles", "the beatles", "Beatles’", "Beatles'", '"The Beatles"'], "beatles"),
        (["Charles Babbage", "CHARLES  BABBAGE", "Charles Babbage's", "Charles Babbage’s"], "charles babbage"),
        (["São Paulo", "Sao Paulo", "SÃO PAULO", "Sa\u0303o Paulo"], "sao paulo"),
        (["King's Cross", "King’s Cross"], "king cross"),
        (["AC/DC", "AC-DC", "ac dc"], "ac dc"),
        (["Straße", "STRASSE"], "strasse"),
        (["A-Team", "The A-Team"], "a team"),
        (["The", "the"], "the"),
        (["", " ", "...", "()"], ""),
    ],
)
def test_variants_of_a_name_meet_under_one_key(variants: list[str], key: str) -> None:
    assert {name_key(variant) for variant in variants} == {key}


@given(st.text(max_size=30))
def test_a_key_is_the_key_of_the_name_composed_and_decomposed(name: str) -> None:
    assert name_key(unicodedata.normalize("NFC", name)) == name_key(unicodedata.normalize("NFD", name))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Mercury (planet)", "Mercury"),
        ("Mercury", "Mercury"),
        ("A (b) (c)", "A (b)"),
        ("(2013)", "(2013)"),
        ("Smile (unfinished", "Smile (unfinished"),
        ("", ""),
    ],
)
def test_a_disambiguation_is_taken_off_unless_nothing_else_is_there(title: str, name: str) -> None:
    assert without_disambiguation(title) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Ada Lovelace's mother do?", ["ada lovelace"]),
        ("King Henry VIII’s wives met Anne Boleyn's", ["king henry viii", "anne boleyn"]),
        ("Ada Lovelace's Babbage", ["ada lovelace", "babbage"]),
        ("J. R. R. Tolkien met C. S. Lewis", ["jrr tolkien", "cs lewis"]),
        ("In it Dr. Watson met Mr Holmes by St. Pancras", ["watson", "holmes", "st pancras"]),
        ("Éric Rohmer was in Besançon", ["eric rohmer", "besancon"]),
        ("He met O'Neill and Jean-Luc Picard", ["o neill", "jean luc picard"]),
        ("the Battle of the Bulge", ["battle of the bulge"]),
        ("Ludwig van Beethoven, Charles de Gaulle", ["ludwig van beethoven", "charles de gaulle"]),
        ("Bishop of the other", ["bishop"]),
        ("Johnson & Johnson", ["johnson johnson"]),
        ("Apollo 11 and Windows 95", ["apollo 11", "windows 95"]),
        ("by 1984 he was 35", ["1984"]),
        ("It was December 1944. It was 1945", ["december 1944", "1945"]),
        ("by 0001 or 2999 or 123456", []),
        ("Marie\nCurie", ["marie curie"]),
        ("Marie, Pierre; Irène", ["marie", "pierre", "irene"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_names_are_runs_of_capitalised_words_and_years(text: str, expected: list[str]) -> None:
    assert names(text) == expected


def test_a_sentence_that_begins_with_a_common_word_begins_no_name() -> None:
    assert names("Bridge and river. The river is Avon", "a bridge") == ["avon"]


def test_a_word_that_is_mostly_capitalised_is_a_name_where_a_sentence_begins_too() -> None:
    assert names("Apple fell", "he met Apple", "by Apple") == ["apple"]
    assert names("Apple fell", "an apple", "the apple") == []


def test_the_casing_of_a_word_is_counted_inside_sentences_only() -> None:
    casing = Casing([words("Rose is a rose. Rose was by Rose")])

    assert not casing.is_common("rose")
    assert Casing([words("Rose. Rose. Rose. a rose")]).is_common("rose")
    assert Casing([words(f"by Rose {'rose ' * 6}")]).is_no_name("rose")
    assert not Casing([words(f"by Rose {'rose ' * 5}")]).is_no_name("rose")


@pytest.mark.parametrize(
    "text",
    [
        "Designed by Ada Lovelace. Speaks to nobody.",
        "Using it. Configuring Ada Lovelace’s loom.",
        "Unfortunately Ada Lovelace left. Connect.",
    ],
)
def test_a_form_of_a_verb_that_opens_sentences_alone_is_no_name(text: str) -> None:
    assert names(text) == ["ada lovelace"]


def test_such_a_form_is_a_name_where_a_sentence_writes_it_so() -> None:
    assert names("Running is a band.", "We met Running and heard Running.") == ["running"]
    assert names("Emily left. Alfred stayed. Viking ships.") == ["emily", "alfred", "viking"]


def test_accents_written_apart_belong_to_their_word() -> None:
    decomposed = unicodedata.normalize("NFD", "in Besançon by Éric")

    assert [word.text for word in words(decomposed)] == ["in", "Besançon", "by", "Éric"]
    assert names(decomposed) == ["besancon", "eric"]


def test_a_long_run_is_cut_into_names_of_eight_words() -> None:
    run = "Alpha Beta Gamma Delta Epsilon Zeta Eta Theta Iota Kappa"

    assert names(run) == ["alpha beta gamma delta epsilon zeta eta theta", "iota kappa"]


def test_words_that_begin_a_sentence_a_line_a_quotation_or_an_item_are_told() -> None:
    text = 'One two. Three "Four" five\nSix: Seven • Eight, Nine'

    assert [word.text for word in words(text) if word.initial] == [
        "One",
        "Three",
        "Four",
        "five",
        "Six",
        "Seven",
        "Eight",
    ]


@given(st.text(alphabet="Ab. ’'-/&\nÉ19of ", max_size=60))
def test_a_name_stands_where_it_says_without_its_possessive(text: str) -> None:
    found = words(text)
    named = list(spans(text, found, Casing([found])))

    assert all(text[word.start : word.end] == word.text for word in found)
    assert all(text[name.start : name.end].startswith(name.text) and name.key == name_key(name.text) for name in named)
    assert all(before.end <= after.start for before, after in pairwise(named))


def test_a_name_is_a_plain_tuple() -> None:
    text = "by Ada’s"
    assert list(spans(text, words(text), Casing([]))) == [Name("ada", "Ada", 3, 8)]


@pytest.mark.parametrize(
    ("name", "compared", "spaced"),
    [
        ("  API-Server\t2 ", "api-server 2", "api server 2"),
        ("Cafe\u0301__STRASSE", "café__strasse", "café strasse"),
        ("-x-", "-x-", "x"),
        ("", "", ""),
    ],
)
def test_names_are_compared_in_one_case_with_single_spaces(name: str, compared: str, spaced: str) -> None:
    assert folded(name) == compared
    assert folded(name, spaces="-_") == spaced


def identifiers(text: str) -> list[str]:
    return [word.text for word in words(text) if is_identifier(text, word.start, word.end)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("call get_user_name or __init__", ["get_user_name", "__init__"]),
        ("call getUserName on an mRNA", ["getUserName", "mRNA"]),
        ("from os.path.join on node.js", ["os.path.join", "node.js"]),
        ("with --dry-run, [--force] and `--top-k`", ["dry-run", "force", "top-k"]),
        ("see /etc/hosts and src/main/app.py", ["etc/hosts", "src/main/app.py"]),
        ("since v2 or v2.3.1 or 3.11.4", ["v2", "v2.3.1", "3.11.4"]),
        ("as utf8 on x86", ["utf8", "x86"]),
        ("set `retry` or ``limit``", ["retry", "limit"]),
        ("it -- as said -- works, no--it doesn't, and/or he/she", []),
        ("e.g. in 3.11 at 5 p.m. of 10km in the 1930s, i.e. a well-known one", []),
        (f"a {'x_' * 50}y", []),
        ("[the gauge](../sea/tide_gauge.md) reads tide_level", ["tide_level"]),
        ("", []),
    ],
)
def test_identifiers_are_told_by_how_they_are_written(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@given(st.text(alphabet="aB1_-./` \n(", max_size=40))
def test_a_text_that_holds_an_identifier_may_hold_one(text: str) -> None:
    assert may_hold_identifiers(text) or not identifiers(text)
