"""Definitions: which pairs of names a text says are one, and when a corpus agrees on them."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.ingest.entities.gazetteer import Alias, Aliases, agreed_aliases, bare_acronym, definitions, stands_for


def pairs(text: str) -> set[tuple[str, str]]:
    """Each defined name's key with the other name as it is spelled."""
    return {(key, form.split("\t")[1]) for key, form in definitions(text)}


@pytest.mark.parametrize(
    ("text", "short", "long"),
    [
        ("The World Health Organization (WHO) met", "WHO", "World Health Organization"),
        ("the W.H.O. (World Health Organization) met", "WHO", "World Health Organization"),
        ("by principal component analysis (PCA; see below)", "PCA", "principal component analysis"),
        ("convolutional neural networks (CNNs) see", "CNN", "convolutional neural network"),
        ("messenger RNA (mRNA) is", "mRNA", "messenger RNA"),
        ("the Bank of Sweden (BS), founded", "BS", "Bank of Sweden"),
    ],
)
def test_an_acronym_and_what_it_stands_for_mean_one(text: str, short: str, long: str) -> None:
    assert pairs(text) == {(short.lower(), long), (long.lower(), short)}


@pytest.mark.parametrize(
    ("text", "name", "other"),
    [
        ("Samuel Clemens, also known as Mark Twain, wrote", "samuel clemens", "Mark Twain"),
        ("Samuel Clemens (better known as Mark Twain) wrote", "samuel clemens", "Mark Twain"),
        ("Samuel Clemens (30 November 1835), known by all as Mark Twain", "", ""),
        ("Anna Rea (1 May 1835 – 1910), known professionally as Ann Roe, sang", "anna rea", "Ann Roe"),
        ("In Anna Rea was also known as “Ann Roe”.", "anna rea", "Ann Roe"),
        ("Ann Roe (born Anna Maria Rea; 1 May 1835) sang", "ann roe", "Anna Maria Rea"),
        ("the Anna Rea, or simply Ann Roe, sank", "anna rea", "Ann Roe"),
        ("the Anna Rea (a.k.a. Ann Roe) sank", "anna rea", "Ann Roe"),
    ],
)
def test_names_that_a_phrase_joins_mean_one(text: str, name: str, other: str) -> None:
    assert pairs(text) == ({(name, other), (other.lower(), " ".join(text_of(text, name)))} if name else set())


def text_of(text: str, key: str) -> list[str]:
    start = text.lower().index(key)
    return text[start : start + len(key)].split()


@pytest.mark.parametrize(
    "text",
    [
        "Paris (France) and Smith (1999), in Gary (IN)",
        "Ann Roe (born 1 May 1835) and Bob (born May 1, 1950), Ayla (born in Paris)",
        "the rule (see Section AB) and he (the CEO) went",
        "Turner, also known as Smith, left",
        "it is known as the city of light",
        "() (A) (AB",
        "",
    ],
)
def test_what_else_stands_in_parentheses_means_something_else(text: str) -> None:
    assert pairs(text) == set()


def test_a_single_word_is_another_name_of_a_full_one_but_not_the_other_way_round() -> None:
    assert pairs("Prince Rogers Nelson, known as Prince, sang") == {("prince rogers nelson", "Prince")}


@pytest.mark.parametrize(
    ("short", "text", "long"),
    [
        ("WHO", "of the World Health Organization", "World Health Organization"),
        ("AB", "a big amount", ""),
        ("AB", "alpha", ""),
        ("HTML", "hypertext markup language", "hypertext markup language"),
        ("TEC", "The early cure", ""),
    ],
)
def test_the_letters_of_an_acronym_are_found_in_order(short: str, text: str, long: str) -> None:
    assert stands_for(short, text) == long


@pytest.mark.parametrize(
    ("name", "bare"), [("WHO", "WHO"), ("W.H.O.", "WHO"), ("CNNs", "CNN"), ("WHO's", "WHO"), ("Who", ""), ("A", "")]
)
def test_an_acronym_is_one_word_of_capitals(name: str, bare: str) -> None:
    assert bare_acronym(name) == bare


def test_an_acronym_means_what_three_in_four_definitions_say() -> None:
    both = {"ML\tmachine learning": 3, "ML\tmaximum likelihood": 1}

    assert agreed_aliases("ml", both) == (Alias("machine learning", "machine learning", ("ML",)),)
    assert agreed_aliases("ml", {**both, "ML\tmaximum likelihood": 2}) == ()


def test_a_full_name_may_have_several_others() -> None:
    forms = {"Ann Roe\tAR": 1, "Ann Roe\tAnna Rea": 2}

    assert [other.key for other in agreed_aliases("ann roe", forms)] == ["anna rea", "ar"]


def test_an_acronym_is_meant_where_it_is_written_as_one_in_the_plural_too() -> None:
    aliases = Aliases([("cnn", {"CNN\tneural network": 1}), ("neural network", {"neural network\tCNN": 1})])

    assert aliases.of("cnn", "CNN") == [("neural network", "neural network")]
    assert aliases.of("cnn", "Cnn") == []
    assert {key for key, _ in aliases.of("cnns", "CNNs")} == {"neural network", "cnn"}
    assert {key for key, _ in aliases.of("neural networks", "neural networks")} == {"neural network", "cnn"}
    assert aliases.of("other", "other") == []


def test_aliases_differ_where_a_name_has_others() -> None:
    one, two = Aliases([("a b", {"A B\tC D": 1})]), Aliases([("a b", {"A B\tC E": 1}), ("x y", {"X Y\tZ": 1})])

    assert one.changed_keys(two) == {"a b", "x y"}
    assert one.changed_keys(one) == set()


@example("AA(;;)")
@given(st.text(alphabet="AbC. ()\"',knowas;é\n", max_size=80))
def test_any_text_may_be_looked_through_for_definitions(text: str) -> None:
    for key, form in definitions(text):
        name, other = form.split("\t")
        assert len(key) > 1
        assert name
        assert other
