"""Text is folded once: index, names, vectors and questions see the same, and places are those of the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.embed import embedded_text
from pipeline.records import Chunk
from pipeline.retrieve.question import check_question, fulltext_terms
from pipeline.text.fold import bare, fold, fold_with_places
from pipeline.text.index_words import index_words
from pipeline.text.names import Casing, name_key, spans, words
from pipeline.text.scripts import is_run

FOLDED = [
    ("Ge\u00adsamt\u00adkon\u00adzept", "Gesamtkonzept"),
    ("Wert\u200bpapier\u200bindex", "Wertpapierindex"),
    ("Kupfer\u2060hafen", "Kupferhafen"),
    ("\ufeffKupfer\u200dhafen\u200f", "Kupferhafen"),
    ("\ufb01sh, e\ufb03cient", "fish, efficient"),
    ("\uff28\uff4f\uff50\uff32\uff41\uff4e\uff4b\uff12", "HopRank2"),
    ("\uff76\uff9e\uff72\uff84\uff9e", "ガイド"),
    ("\U0001d407\U0001d428\U0001d429", "Hop"),
    ("CO\u2082", "CO2"),
    ("\ufe8d\ufedf\ufee4\ufee8\ufe8e\ufead\ufe93", "المنارة"),
    ("Cafe\u0301", "Café"),
    ("\u1112\u1161\u11ab", "한"),
    ("Jean\u2011Paul", "Jean-Paul"),
]
KEPT = [
    "plain words",
    "harbour\u00b3",
    "1\u00bd",
    "Word\u2122",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",  # Persian: a joiner that shapes the word
    "\u0915\u094d\u200d\u0937",  # Hindi
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",  # a family
    "\u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",  # Khmer: a space between words
    "灯台は岬に立つ。",
    "ประภาคาร",
]


@pytest.mark.parametrize(("written", "folded"), FOLDED)
def test_what_is_written_in_another_form_is_compared_in_one(written: str, folded: str) -> None:
    assert fold(written) == folded
    assert fold(folded) == folded
    assert check_question(written) == folded
    assert fulltext_terms(check_question(written)) == fulltext_terms(folded)
    assert name_key(written) == name_key(folded)
    indexed = set(index_words("plain", f"x {written} y").split())
    assert {word.text for word in words(folded) if not is_run(word.text)} <= indexed
    assert folded in indexed or not is_run(folded)


@pytest.mark.parametrize("text", KEPT)
def test_what_means_something_is_kept(text: str) -> None:
    assert fold(text) == text


def test_plain_text_is_not_even_copied() -> None:
    text = "Plain words of a page. " * 10

    assert fold(text) is text


def test_names_stand_where_they_are_written() -> None:
    text = "we sailed to Kup\u00adfer\u00adhafen and \uff2cima."

    found = list(spans(text, words(text), Casing([])))

    assert [(name.key, name.text, text[name.start : name.end]) for name in found] == [
        ("kupferhafen", "Kupferhafen", "Kup\u00adfer\u00adhafen"),
        ("lima", "Lima", "\uff2cima"),
    ]


def test_vectors_are_of_folded_text() -> None:
    one, other = (Chunk("i", "d", 0, text, "T", "", 0, len(text), 1, 1, 3) for text in ("Kup\u00adfer", "Kupfer"))

    assert embedded_text(one) == embedded_text(other) == "T\nKupfer"


@given(st.text(max_size=80))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)
    assert bare(bare(text)) == bare(text)
    assert fold(unicodedata.normalize("NFD", text)) == fold(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Straße", "strasse"),
        ("CAFÉ", "cafe"),
        ("Vie\u0302\u0323t", "viet"),
        ("Đà Nẵng", "da nang"),
        ("Diyarbakır", "diyarbakir"),
        ("İstanbul", "istanbul"),
        ("ΟΔΌΣ", "οδοσ"),
        ("ОБЪЁМ", "объем"),
        ("за\u0301мок йод", "замок йод"),
        ("المَدْرَسَةُ", "المدرسه"),
        ("كـتـاب أحمد", "كتاب احمد"),
        ("می\u200cخواهم", "ميخواهم"),
        ("שָׁלוֹם", "שלום"),
        ("\ufb2a", "ש"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u0937"),
        ("١٩٠٣ १९०३ ๑๙๐๓", "1903 1903 1903"),
        ("ガード", "ガード"),  # marks of Kana make another letter, as those below
        ("हिन्दी", "हिन्दी"),
        ("ที่", "ที่"),
    ],
)
def test_words_are_compared_without_the_marks_that_many_leave_out(written: str, plain: str) -> None:
    assert bare(written) == plain
    assert set(plain.split()) <= {*index_words(written).split(), *map(str.lower, written.split())}


@given(st.text(alphabet=st.sampled_from("aB -\u00ad\u200b\u0301ﬁéｶﾞ灯ภ่가\u1100\u1161．２\ufe0f"), max_size=30))
def test_places_lead_from_folded_text_to_the_text_as_written(text: str) -> None:
    folded, starts, ends = fold_with_places(text)

    assert len(folded) == len(starts) == len(ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(starts, ends, strict=True))
    assert (list(starts), list(ends)) == (sorted(starts), sorted(ends))
    for at, char in enumerate(folded):
        if char in "灯":
            assert text[starts[at] : ends[at]].startswith(char)
