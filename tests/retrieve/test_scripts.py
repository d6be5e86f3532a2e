"""Words of any script are found by full text and by the whole; a question that the model can't read, by its words."""

from __future__ import annotations

import json
import unicodedata
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pipeline import HopRank, KnowledgeGraph, KnowledgeNode
from pipeline.flows.maintain import drop

Cypher = Callable[..., list[Any]]
TEXTS = {
    "thai": "บนแหลมเหนือมีประภาคารเก่าที่สร้างเมื่อร้อยปีก่อน",
    "han": "不能把机器推论洗成权威事实，先要验收。",
    "other": "权力与威信是两回事，事情要看实际。",
    "kana": "観光ﾊﾞｽｶﾞｲﾄﾞが毎日来る。",
    "hangul": "북쪽 마을의 도서관에서는 음악회를 연다.",
    "khmer": "នៅខាងជើងមានប្រាសាទចាស់មួយ។",
    "arabic": "بُنِيَت المَدْرَسَةُ القَدِيمَةُ.",
    "german": "Die Stra\u00adße nach Zürich.",
    "vietnamese": unicodedata.normalize("NFD", "Ngọn hải đăng cũ."),
    "english": "The harbour office sells maps of the coast.",
}
ASKED = {
    "ประภาคาร": "thai",
    "权威事实": "han",
    "ガイド": "kana",
    "도서관": "hangul",
    "ប្រាសាទ": "khmer",
    "المدرسة": "arabic",
    "Strasse Zurich": "german",
    "hải đăng": "vietnamese",
    "harbour": "english",
}
UNREAD = ("ประภาคาร", "权威事实", "ប្រាសាទ")


@pytest.fixture(scope="module")
def scripts(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file, name = tmp_path_factory.mktemp("scripts") / "texts.jsonl", f"test-{uuid.uuid4().hex[:12]}"
    file.write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in TEXTS.items()))
    hoprank.ingest(file, corpus=name)
    yield name
    drop(hoprank.client, name)


@pytest.mark.slow
@pytest.mark.parametrize("leg", ["fulltext", "bm25", "hybrid", "hoprank"])
def test_a_word_within_a_run_or_in_another_form_is_found_first(hoprank: HopRank, scripts: str, leg: str) -> None:
    found = {asked: hoprank.search(asked, corpus=scripts, leg=leg, explain=True) for asked in ASKED}

    assert {asked: result.items[0].metadata["document"] for asked, result in found.items()} == ASKED
    if leg in ("hybrid", "hoprank"):
        assert [asked for asked, result in found.items() if result.metadata.get("words_alone")] == list(UNREAD)
        assert all(not result.query_vector for asked, result in found.items() if asked in UNREAD)


@pytest.mark.slow
def test_words_alone_rank_among_the_matches_of_a_filter_too(hoprank: HopRank, scripts: str) -> None:
    found = hoprank.search("权威事实", corpus=scripts, filters={"document": {"$ne": "thai"}})

    assert [item.metadata["document"] for item in found.items] == ["han"]


@pytest.mark.slow
def test_a_score_of_plain_text_is_the_same_without_the_words_beside_it(
    hoprank: HopRank, scripts: str, cypher: Cypher
) -> None:
    slot = hoprank.retriever(scripts).corpus.record.slot
    assert slot
    read = "CALL db.index.fulltext.queryNodes(pool.index, $text) YIELD node AS c, score"
    query = f"MATCH (pool:HopRankTexts {{label: $texts}}) {read} RETURN c.document AS document, score"
    terms = "office maps coast sells harbour"
    asked = f"text:({terms}) title:({terms})^0.6 heading:({terms})^0.6"

    with_words, without = (slot.asked(text) for text in (f"{asked} folded:({terms})", asked))
    assert cypher(query, texts=slot.texts, text=with_words) == cypher(query, texts=slot.texts, text=without)


@pytest.mark.slow
def test_a_node_is_found_by_its_plain_spelling_and_by_words_within_runs(hoprank: HopRank) -> None:
    graph = KnowledgeGraph(f"test-{uuid.uuid4().hex[:12]}", client=hoprank.client)
    texts = {
        "soft": "The Kup\u00adfer\u00adhafen",
        "fish": "\ufb01shery",
        "wide": "\uff28\uff4f\uff50",
        "thai": TEXTS["thai"],
    }
    graph.add_nodes([KnowledgeNode(id_, "t", properties={"text": text}) for id_, text in texts.items()])
    asked = {"Kupferhafen": "soft", "fishery": "fish", "Hop": "wide", "ประภาคาร": "thai", "Kupfer\u00adhafen": "soft"}

    try:
        assert {text: graph.search(text, mode="bm25")[0].node.id for text in asked} == asked
        assert {node.id: node.properties["text"] for node in graph.get_nodes(list(texts))} == texts
    finally:
        graph.drop()
