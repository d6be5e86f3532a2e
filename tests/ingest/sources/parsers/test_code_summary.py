"""Identifiers in words, and first sentences."""

from __future__ import annotations

import pytest

from pipeline.code.comments import first_sentence
from pipeline.ingest.sources.parsers.code import words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("prepare_hooks", "prepare hooks"),
        ("HTTPAdapter", "HTTP adapter"),
        ("getHTTPResponse", "get HTTP response"),
        ("utf8Decode", "utf8 decode"),
        ("_x", "x"),
        ("MAX_SIZE", "MAX SIZE"),
        ("größe", "größe"),
        ("empty?", "empty"),
        ("+", ""),
    ],
)
def test_an_identifier_is_written_in_words(name: str, words: str) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        ("One two. Three.", "One two."),
        ("One\ntwo\n\nThree.", "One two"),
        ("requests.models\n~~~~~~~~~~~~~~~\n\nThis module. More.", "This module."),
        ("=====\nTitle\n=====\nText.", "Text."),
        ("Title\n-----", "Title"),
        ("Adds.\n@param a", "Adds."),
        ("Adds\n:param a: one", "Adds"),
        ("version 1.2 is here. More", "version 1.2 is here."),
        ("", ""),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_a_first_sentence_is_a_line_without_the_title_above_it(doc: str, sentence: str) -> None:
    assert first_sentence(doc) == sentence
