"""What is written in any script is found by its words: index and question spell them alike."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import KnowledgeNode
from pipeline.domains.routing.learn import names as projects
from pipeline.domains.skills import references
from pipeline.domains.tools import index as tools
from pipeline.knowledge.store.codec import read_node, stored_node
from pipeline.knowledge.store.memory import MemoryStore
from pipeline.retrieve.question import fulltext_terms
from pipeline.retrieve.scoring import coverage
from pipeline.text import names
from pipeline.text.index_words import compared_words, index_words

FOUND = [
    ("ประภาคาร", "บนแหลมเหนือมีประภาคารเก่าที่สร้างเมื่อร้อยปีก่อน", "ต้นบ๊วยในสวนออกดอกในเดือนกุมภาพันธ์"),
    ("등대", "북쪽 곶의 오래된 등대는 백 년 전에 세워졌다.", "정원의 매화는 이월에 핀다."),
    ("곶", "북쪽 곶의 오래된 등대", "정원의 매화"),
    ("ガイド", "観光ﾊﾞｽｶﾞｲﾄﾞが来る", "台所は南にある"),
    ("ປະພາຄານ", "ມີປະພາຄານເກົ່າຢູ່ແຫຼມ", "ຕົ້ນໄມ້ອອກດອກ"),
    ("ប្រាសាទ", "នៅខាងជើងមានប្រាសាទចាស់", "ដើមឈើចេញផ្កា"),
    ("ဘုရား", "မြောက်ဘက်တွင်ရွှေတိဂုံဘုရားရှိသည်", "ပန်းပင်များပွင့်သည်"),
    ("Strasse", "in der Straße", "in der Gasse"),
    ("مدرسة", "بُنيت مَدْرَسَةٌ", "بنيت منارة"),
    ("שלום", "אמר שָׁלוֹם", "אמר לא"),
    ("Nguyễn", "ông Nguye\u0302\u0303n", "ông Trần"),
    ("পাহা\u09a1\u09bcে", "পাহা\u09dcে ঘর", "নদীতে ঘর"),
    ("ப\u0bc6\u0bbeது", "ப\u0bcaது இடம்", "தனி இடம்"),
    ("1903", "साल १९०३ में", "साल १९०४ में"),
]


def matches(asked: str, text: str) -> bool:
    """Return whether a query finds a text as Lucene would: by words at spaces, single ideographs, and pairs of them."""
    held = f"{text.lower()} {index_words(text).lower()}"
    words = re.findall(r"[\w\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u17ff]+", held)
    words += re.findall("[ぁ-ん一-龥]", held)
    terms = re.sub(r"\^\d+", "", fulltext_terms(asked)).split()
    return any(
        term.strip('"') in held
        if term.startswith('"')
        else any(word.startswith(term[:-1]) for word in words)
        if term.endswith("*")
        else term in words
        for term in terms
    )


@pytest.mark.parametrize(("word", "text", "other"), FOUND)
def test_a_word_is_found_in_its_text_and_not_in_another(word: str, text: str, other: str) -> None:
    assert matches(word, text)
    assert not matches(word, other)
    assert len(word) == 1 or set(compared_words(word)) & set(compared_words(text))
    assert not set(compared_words(word)) & set(compared_words(other))


@pytest.mark.parametrize("text", ["Plain words.", "“Quoted” words — it’s here…", "harbour³, 1½ and Word™", "→ ✓ €5"])
def test_plain_text_pays_nothing(text: str) -> None:
    assert index_words(text) == ""
    assert compared_words("Plain words_of 2.") == ["plain", "words_of", "2"]


def test_ideographs_cost_nothing_and_are_asked_for_in_pairs() -> None:
    assert index_words("北の岬にある古い灯台は") == ""
    assert fulltext_terms("古い灯台と岬") == '"古い" "い灯" "灯台" "台と" "と岬"'
    assert fulltext_terms("灯") == "灯"


def test_a_run_is_held_as_pairs_of_whole_syllables_and_its_last() -> None:
    assert index_words("등대는") == "등대 대는 는"
    assert index_words("เหนือน้ำ") == "เหนื นือ อน้ำ น้ำ"
    assert index_words("អង្គរ") == "អង្គ ង្គរ រ"


SCRIPTS = st.sampled_from(["ก-ฮ", "가-힣", "ァ-ン", "ກ-ຮ", "က-အ", "ក-អ", "一-龥", "ぁ-ん"])


RUNS = SCRIPTS.flatmap(lambda script: st.from_regex(f"[{script}]{{1,12}}", fullmatch=True).filter(str.isalpha))


@given(RUNS, st.data())
def test_any_part_of_a_run_is_found(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 1))
    part = run[start : data.draw(st.integers(start + 1, len(run)))]

    assert matches(part, run)


@given(st.text(max_size=60))
def test_any_text_has_words(text: str) -> None:
    assert all(word.strip() for word in index_words(text).split(" ") if word)
    assert all(compared_words(text))


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("Kup\u00adfer\u00adhafen", "Kupferhafen"),
        ("\ufb01shery", "fishery"),
        ("\uff28\uff4f\uff50", "Hop"),
        ("Cafe\u0301", "Café"),
    ],
)
def test_names_that_people_give_and_texts_of_tools_and_nodes_are_compared_folded(written: str, plain: str) -> None:
    assert names.folded(written) == names.folded(plain)
    assert references.folded(written) == references.folded(plain)
    assert projects.folded(written) == projects.folded(plain)
    assert tools.terms_of(written) == tools.terms_of(plain)
    assert coverage.terms_of(written) == coverage.terms_of(plain)
    for text, asked in ((written, plain), (plain, written)):
        node = KnowledgeNode("n", "t", properties={"text": f"see {text} here"})
        assert MemoryStore("graph", [node], []).matching(asked, 1).keys() == {"n"}
        stored = stored_node("g", node, "2026-01-01")
        assert asked != plain or plain in stored["index_words"].split()
        assert read_node(stored, None, ()).properties == node.properties
