"""Labels of groups: the terms that tell a group from the others."""

from __future__ import annotations

from pipeline.text.labels import labels, terms_of


def test_a_label_is_what_tells_a_group_from_the_others() -> None:
    soil = ["Turning the heap", "Heap and rain", "Soil in spring"]
    plants = ["Basil in spring", "Pruning basil", "Tomatoes in spring"]

    assert labels([[terms_of(text) for text in group] for group in (soil, plants)]) == [
        "Heap, rain, Soil",
        "Basil, Pruning, Tomatoes",
    ]


def test_a_group_of_function_words_has_no_label() -> None:
    assert labels([[terms_of("and the of")], [terms_of("rain")]]) == ["", "rain"]


def test_the_usual_spelling_is_shown() -> None:
    assert labels([[terms_of("GitHub issues"), terms_of("GitHub"), terms_of("github")]]) == ["GitHub, issues"]


def test_a_plural_is_one_term_with_its_singular() -> None:
    hooks = ["Hooks run at night", "A hook for sails", "Hooks of the boat", "The glass of the boat"]

    groups = [[terms_of(text) for text in hooks], [terms_of("rain")]]
    assert labels(groups)[0].split(", ")[:2] == ["Hooks", "boat"]
    assert labels(groups, shared=True) == ["Hooks, boat", ""]
