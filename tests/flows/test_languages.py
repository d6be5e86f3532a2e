"""Two-hop questions in Chinese, Japanese, German and Russian over texts of the tests' own, in ``languages``.

Each language has 20 documents and 15 questions, of which 13 hold the title of the first document, in the form that the
sentence demands, or a short name of it: ``names`` is that document's key. They were written before the code that reads
them, by somebody who didn't know it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.retrieve.legs import Leg
from pipeline.text.names import name_key

SETS = Path(__file__).with_name("languages")
ANALYZERS = {"zh": "cjk", "ja": "cjk", "de": "german", "ru": "russian"}
FOUND = 0.9
GAIN = 0.15


@pytest.mark.slow
@pytest.mark.parametrize("language", ANALYZERS)
def test_titles_in_questions_are_found_and_the_graph_leads_hybrid(
    hoprank: HopRank, corpus_name: str, language: str, cypher: Callable[..., list[Any]]
) -> None:
    folder = SETS / language
    questions = list(map(json.loads, (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()))

    report = hoprank.evaluate(folder, corpus=corpus_name, legs=(Leg.HYBRID, Leg.WHOLE))

    recall = {leg.leg: leg.measures["recall@5"] for leg in report.legs}
    assert recall[Leg.WHOLE] >= recall[Leg.HYBRID] + GAIN
    assert get_corpus(hoprank.client, corpus_name).analyzer == ANALYZERS[language]
    about = cypher(
        "MATCH (c:HopRankChunk {corpus: $id})-[:MENTIONS {about: true}]->(e:HopRankEntity)"
        " RETURN c.document AS document, collect(e.name) AS names",
        id=get_corpus(hoprank.client, corpus_name).id,
    )
    names = {row["document"]: set(map(name_key, row["names"])) for row in about}
    named = [one for one in questions if one["names"]]
    found = [
        one
        for one in named
        if names[one["names"]] & set(hoprank.search(one["query"], corpus=corpus_name).metadata["names"])
    ]
    assert len(found) >= FOUND * len(named)


def test_documents_of_several_languages_are_found_by_words_and_names(
    hoprank: HopRank, corpus_name: str, tmp_path: Path
) -> None:
    texts = {language: (SETS / language / "corpus.jsonl").read_text(encoding="utf-8") for language in ANALYZERS}
    (tmp_path / "all.jsonl").write_text("".join(texts.values()), encoding="utf-8")
    hoprank.ingest(tmp_path / "all.jsonl", corpus=corpus_name)
    titles = {one["id"]: one["title"] for text in texts.values() for one in map(json.loads, text.splitlines())}

    found = {
        key: [item.metadata["document"] for item in hoprank.search(title, corpus=corpus_name).items]
        for key, title in titles.items()
    }

    assert [key for key, documents in found.items() if key not in list(dict.fromkeys(documents))[:3]] == []
