"""Excerpts: the sentence that speaks to the question, with what fits around it."""

from __future__ import annotations

import pytest

from pipeline.embedding.embedder import Embedder
from pipeline.retrieve.excerpt import excerpts
from pipeline.retrieve.results import RetrieverResultItem

QUESTION = "Which pets were kept in the laboratory?"
PASSAGE = (
    "# Oona Tresk\n\n"
    "Her first post was at the town brewery, where she was chemist for six years and learnt to distrust samples.\n"
    "She moved from beer to sea water in 1936, since the sea did not have a sales department to answer to.\n\n"
    "A blind terrier called Celsius lived in the drawer under the bench and bit two visiting professors.\n"
    "Her salinity tables of 1958 are still in use on every ship that carries a bottle and a thermometer."
)


def item(text: str, title: str = "Oona Tresk") -> RetrieverResultItem:
    return RetrieverResultItem(text, {"title": title})


def test_the_nearest_sentence_is_shown(embedder: Embedder) -> None:
    (shown,) = excerpts([item(PASSAGE)], QUESTION, embedder, most=120)

    assert shown == (
        "... A blind terrier called Celsius lived in the drawer under the bench and bit two visiting professors. ..."
    )


def test_a_question_that_is_embedded_already_is_not_embedded_again(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = embedder.embed_query("blind terrier")
    embedded: list[str] = []
    monkeypatch.setattr(embedder, "embed_query", embedded.append)

    (shown,) = excerpts([item(PASSAGE)], "salinity tables", embedder, most=120, vector=vector)

    assert shown.startswith("... A blind terrier")
    assert embedded == []


def test_its_neighbours_fill_up_the_room(embedder: Embedder) -> None:
    (shown,) = excerpts([item(PASSAGE)], QUESTION, embedder, most=320)

    assert shown.startswith("... She moved from beer")
    assert shown.endswith("a thermometer.")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("# Title\n\nOne.\nTwo.", "One. Two.", id="a heading"),
        pytest.param("One.\n\n```python\npets = laboratory()\n```\n\nTwo.", "One. Two.", id="code"),
        pytest.param("One.\n\n| pets |\n|---|\n| Celsius |\n\nTwo.", "One. Two.", id="a table"),
        pytest.param("/// note | Pets\nOne.\n///\n\nTwo.\n\n///", "One. Two.", id="an admonition"),
        pytest.param("$$$. One. Two.\n\n---", "One. Two.", id="signs around"),
        pytest.param("See <b>one</b> in [two](three.md).", "See one in two.", id="tags and links"),
        pytest.param("| pets |\n|---|", "| pets | |---|", id="nothing but a table"),
        pytest.param("///", "///", id="nothing but a sign"),
        pytest.param("{{< pets >}}", "{{< pets >}}", id="nothing but a shortcode"),
        pytest.param("```sh\nmake pets\n```", "make pets", id="nothing but code"),
        pytest.param(
            "Pets\n====\n\nA *dog* and ``cat()`` are :ref:`kept <pets>`.", "A dog and cat() are kept.", id="underline"
        ),
        pytest.param("====\nPets\n====\n\nA dog.\n\nMore\n~~~~\n\nA cat.", "A dog. A cat.", id="overline"),
        pytest.param(
            "> **Note** the [dog](dog.md)\\*, `cat` and __init__.", "Note the dog*, cat and __init__.", id="signs"
        ),
    ],
)
def test_prose_alone_is_shown_without_markup(embedder: Embedder, text: str, shown: str) -> None:
    assert excerpts([item(text)], QUESTION, embedder) == [shown]


def test_a_long_sentence_is_cut_between_words(embedder: Embedder) -> None:
    (shown,) = excerpts([item("word " * 100)], QUESTION, embedder, most=23)

    assert shown == "word word word word ..."


def test_of_like_sentences_the_one_with_the_words_of_the_question_is_shown(embedder: Embedder) -> None:
    text = "She was a chemist at the brewery of Ammer. She moved. She had a terrier there, kept in a drawer. Enough."

    (shown,) = excerpts([item(text)], "Where was the terrier of the chemist kept in?", embedder, most=60)

    assert shown == "... She had a terrier there, kept in a drawer. Enough."


def test_sentences_that_were_embedded_and_passages_shown_whole_are_not_embedded_again(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = excerpts([item(PASSAGE)], QUESTION, embedder)
    monkeypatch.setattr(embedder, "embed_passages", None)

    assert excerpts([item(PASSAGE), item("It is short. It is whole.")], QUESTION, embedder) == [
        *before,
        "It is short. It is whole.",
    ]


def test_each_hit_has_its_own_in_order(embedder: Embedder) -> None:
    texts = ["Alpha lies here. It is old.", "", "Beta lies there."]

    assert excerpts([item(text) for text in texts], QUESTION, embedder) == texts
    assert excerpts([], QUESTION, embedder) == []
