"""Extractors: the built-in one and spaCy's, behind one contract; which of them a corpus was made with is remembered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import spacy

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.errors import ConfigurationError, FingerprintError
from pipeline.ingest.entities.extract import (
    ChunkNames,
    Extractor,
    Spacy,
    builtin,
    extractor_fingerprint,
    make_extractor,
)
from pipeline.records import Chunk
from pipeline.settings import LinkSettings, load_settings
from pipeline.text.names import Casing, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a spaCy model that knows two names and a figure."""
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [
            {"label": "PERSON", "pattern": "ada lovelace"},
            {"label": "GPE", "pattern": "São Paulo"},
            {"label": "CARDINAL", "pattern": "seven"},
        ]
    )
    folder = tmp_path_factory.mktemp("models") / "names"
    nlp.to_disk(folder)
    return str(folder)


def settings(**link: Any) -> LinkSettings:
    return load_settings({"link": link}).link


def named(extractor: Extractor, *texts: str) -> list[list[tuple[str, int, int]]]:
    found = [words(text) for text in texts]
    return [
        [(name.key, name.start, name.end) for name in names]
        for names in extractor(texts, found, Casing([words("the met in")]))
    ]


def test_the_builtin_extractor_is_the_default() -> None:
    extractor = make_extractor(settings())

    assert isinstance(extractor, partial)
    assert extractor.func is builtin
    assert extractor_fingerprint(settings()) == "builtin"
    assert named(builtin, "we met Ada in Turin", "") == [[("ada", 7, 10), ("turin", 14, 19)], []]


def test_a_spacy_model_finds_names_but_no_figures(model: str) -> None:
    extractor = make_extractor(settings(extractor="spacy", spacy_model=model))

    assert extractor_fingerprint(settings(extractor="spacy", spacy_model=model)) == f"spacy:{model}"
    assert named(extractor, "seven met ada lovelace in São Paulo", "Turin") == [
        [("ada lovelace", 10, 22), ("sao paulo", 26, 35)],
        [],
    ]


def test_titles_and_definitions_are_found_beside_what_a_model_finds(
    extract: Callable[..., tuple[list[ChunkNames], dict[str, str]]], model: str
) -> None:
    text = "The Turin Works (TW) of ada lovelace"
    chunks = [
        Chunk(f"{key}/0", key, 0, text, title, "", 0, len(text), 1, 1, 5)
        for key, text, title in (("a", text, "Notes"), ("b", "he wrote Notes for TW", ""))
    ]

    found = [[mention.key for mention in one.mentions] for one in extract(chunks, extractor=Spacy(model))[0]]
    assert found == [["ada lovelace", "notes", "turin works", "tw"], ["notes", "turin works", "tw"]]


def test_without_spacy_the_fix_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)

    with pytest.raises(ConfigurationError, match=r"isn't there: .*spacy") as caught:
        Spacy("any")
    assert ".[spacy]" in str(caught.value.fix)


def test_a_model_that_is_missing_or_finds_nothing_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no_such_model"):
        Spacy("no_such_model")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ConfigurationError, match="finds no entities"):
        Spacy(str(tmp_path / "blank"))


def test_a_corpus_refuses_another_extractor_and_one_that_cannot_be_had_leaves_nothing(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[[Any], Path], model: str
) -> None:
    def using(**link: Any) -> HopRank:
        changed = hoprank.settings.link.model_copy(update=link)
        return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"link": changed}))

    path = jsonl([{"id": "a", "text": "ada lovelace met Babbage"}])
    with pytest.raises(ConfigurationError):
        using(extractor="spacy", spacy_model="no_such_model").ingest(path, corpus=corpus_name)
    assert find_corpus(hoprank.client, corpus_name) is None
    using(extractor="spacy", spacy_model=model).ingest(path, corpus=corpus_name)
    assert get_corpus(hoprank.client, corpus_name).extractor == f"spacy:{model}"
    assert get_corpus(hoprank.client, corpus_name).entities == 1
    with pytest.raises(FingerprintError, match="found by spacy") as caught:
        hoprank.ingest(path, corpus=corpus_name)
    assert "link.extractor" in str(caught.value.fix)
