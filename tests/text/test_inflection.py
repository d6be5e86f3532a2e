"""Stems of names: the forms of a name in languages that inflect it, and names that no form may lead to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.inflection import LANGUAGES, language_of, stemmed
from pipeline.text.names import entity_key, name_key


@pytest.mark.parametrize(
    ("forms", "language"),
    [
        (["Ольховский завод", "Ольховского завода", "Ольховском заводе"], ""),
        (["Савва Рогожников", "Саввы Рогожникова", "Саввой Рогожниковым"], ""),
        (["Нева", "Неве", "Невы", "Невой"], ""),
        (["Θεσσαλονίκη", "Θεσσαλονίκης"], ""),
        (["القاهرة", "بالقاهرة", "للقاهرة"], ""),
        (["המכון הלאומי", "במכון הלאומי", "ובמכון הלאומי"], ""),
        (["नदी", "नदियों"], ""),
        (["Kloster Hirlau", "Klosters Hirlau", "das Kloster Hirlau"], "german"),
        (["Der Stille Deich", "Stillen Deichs", "stillen Deiche"], "german"),
        (["Stockholms slott", "Stockholm slott"], "swedish"),
        (["Budapest", "Budapesten", "Budapestnek"], "hungarian"),
    ],
)
def test_the_forms_of_a_name_have_one_key(forms: list[str], language: str) -> None:
    assert len({entity_key(form, language) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Kloster Hirlau", "Klosters Hirlau", ""),  # without the language an ending is a part of the name
        ("Paris", "Pari", ""),
        ("КАО", "КА", ""),
        ("Das", "Dash", "german"),
        ("ガラス", "カラス", ""),
        ("Йод", "Иод", ""),
    ],
)
def test_other_names_keep_their_keys(one: str, other: str, language: str) -> None:
    assert entity_key(one, language) != entity_key(other, language)


def test_a_name_in_latin_script_is_its_folded_form_in_languages_without_inflected_names() -> None:
    assert {language_of(analyzer) for analyzer in ("english", "cjk", "standard", "french")} == {""}
    assert language_of("german") == "german"
    assert entity_key("The Klosters") == name_key("The Klosters") == "klosters"


@given(st.text(max_size=12), st.sampled_from(["", *sorted(LANGUAGES)]))
def test_a_word_has_a_stem_and_a_name_a_key(word: str, language: str) -> None:
    assert bool(stemmed(word, language)) == bool(word)
    assert bool(entity_key(word, language)) == bool(name_key(word))
