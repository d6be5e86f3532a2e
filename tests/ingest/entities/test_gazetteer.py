"""Definitions: which pairs of names a text says are one, and when a corpus agrees on them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.ingest.entities.gazetteer import (
    Alias,
    Aliases,
    Lexicon,
    agreed_aliases,
    bare_acronym,
    definitions,
    stands_for,
)
from pipeline.text.names import Casing, entity_key, words


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
        ("棠江水文研究所（简称“棠文所”）设在", "棠文所", "棠江水文研究所"),
        ("后来，棠州师范学堂(又称棠师)搬走", "棠师", "棠州师范学堂"),
        ("狭霧高等女学校（通称「狭高女」）は", "狭高女", "狭霧高等女学校"),
        ("Институт озёрных экосистем (ИОЭ) создан", "ИОЭ", "Институт озёрных экосистем"),
    ],
)
def test_a_short_name_and_what_it_stands_for_mean_one(text: str, short: str, long: str) -> None:
    assert pairs(text) == {(entity_key(short), long), (entity_key(long), short)}


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


def found(text: str, titles: Sequence[str], language: str = "") -> list[str]:
    """The titles that a text holds, as it spells them."""
    gazetteer = Lexicon([(title, title, "") for title in titles], (), 8, language).gazetteer
    text_words = words(text)
    return [name.text for _, name in gazetteer.find(text, text_words, Casing([text_words]))]


@pytest.mark.parametrize(
    ("text", "titles", "language", "expected"),
    [
        ("主持修建白鸥嘴灯塔的工程师", ["白鸥嘴灯塔", "灯塔"], "", ["白鸥嘴灯塔"]),
        ("在东江水\n利研究所里", ["东江水利研究所"], "", []),
        ("现任NBA总裁1998年上任", ["NBA总裁", "1998年"], "", ["NBA总裁", "1998年"]),
        ("他用Neo4j存图", ["Neo4j"], "", ["Neo4j"]),
        ("若萩橋を架けたジョン・スミスは", ["若萩橋（初代）", "ジョン・スミス"], "", ["若萩橋", "ジョン・スミス"]),
        ("서울에서 부산까지", ["서울", "부산"], "", ["서울", "부산"]),
        ("ที่ประภาคารเก่ามีคน", ["ประภาคาร"], "", ["ประภาคาร"]),
        ("у Ольховского завода", ["Ольховский завод"], "", ["Ольховского завода"]),
        ("ובמכון הלאומי נמצא", ["המכון הלאומי"], "", ["ובמכון הלאומי"]),
        ("दिल्ली में हिन्दी", ["हिन्दी"], "", ["हिन्दी"]),
        ("ist des Klosters Hirlau wegen", ["Kloster Hirlau"], "german", ["Klosters Hirlau"]),
        ("ist des Klosters Hirlau wegen", ["Kloster Hirlau"], "", []),
    ],
)
def test_titles_are_found_in_every_script_and_in_inflected_forms(
    text: str, titles: list[str], language: str, expected: list[str]
) -> None:
    assert found(text, titles, language) == expected


RUNS = st.text(st.sampled_from("东江水利研究所白鸥嘴灯塔ガラスの橋"), min_size=2, max_size=6)


@given(RUNS, RUNS, RUNS)
def test_a_title_is_found_wherever_it_stands_in_a_run(before: str, title: str, after: str) -> None:
    assert title in "".join(found(f"{before}{title}{after}。", [title]))
