"""The likeliest path of the walk to a hit: what it follows, and what it avoids."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pipeline.edges import EdgeKind
from pipeline.records import PathStep
from pipeline.retrieve.expansion import ChunkLink, Mentions, Neighbourhood
from pipeline.retrieve.paths import LIFTED_BY, by_references, likeliest_paths, sentences_with_stems, with_sentences
from pipeline.retrieve.scoring.coverage import terms_of
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.settings import load_settings

WALK = load_settings().walk
CHUNKS = 100


def around(entities: Mapping[str, str], *links: tuple[str, str, EdgeKind]) -> Neighbourhood:
    """Make a neighbourhood of entities, each with the chunks that mention it, a letter each."""
    mentions = {id_: Mentions(max(len(chunks), 2), dict.fromkeys(chunks, False)) for id_, chunks in entities.items()}
    return Neighbourhood(CHUNKS, mentions, tuple(ChunkLink(*link, share=0.5) for link in links))


def path(here: Neighbourhood, starts: Mapping[str, float], end: str) -> list[str]:
    found = by_references(likeliest_paths(here, starts, WALK, [end]).get(end, ()), here)
    return [f"{step.kind}{'+' if step.along else '-'} {id_}" if step else id_ for id_, step in found]


def test_a_path_has_the_edges_of_the_walk_in_their_direction() -> None:
    here = around({"name": "ab"}, ("b", "c", EdgeKind.REFERS_TO), ("d", "c", EdgeKind.LINKS_TO))

    assert path(here, {"name": 1.0}, "d") == ["name", "MENTIONS- b", "REFERS_TO+ c", "LINKS_TO- d"]


def test_a_longer_path_beats_one_through_a_name_that_is_everywhere() -> None:
    links = [("b", "c", EdgeKind.LINKS_TO), ("c", "d", EdgeKind.LINKS_TO), ("d", "z", EdgeKind.LINKS_TO)]
    rare, frequent = around({"name": "ab", "other": "az"}, *links), "a" + "efghijklmnopqrstuvwxyz" * 2
    hub = around({"name": "ab", "other": frequent}, *links)

    assert path(rare, {"name": 1.0}, "z") == ["name", "MENTIONS- a", "MENTIONS+ other", "MENTIONS- z"]
    assert path(hub, {"name": 1.0}, "z") == ["name", "MENTIONS- b", "LINKS_TO+ c", "LINKS_TO+ d", "LINKS_TO+ z"]


def test_the_weights_of_the_starts_decide_between_like_paths_and_no_start_leads_nowhere() -> None:
    here = around({"sure": "a", "unsure": "b"}, ("a", "c", EdgeKind.SIMILAR), ("b", "c", EdgeKind.SIMILAR))

    assert path(here, {"sure": 0.6, "unsure": 0.4}, "c")[0] == "sure"
    assert path(here, {"sure": 0.3, "unsure": 0.7}, "c")[0] == "unsure"
    assert path(here, {"sure": 0.0, "elsewhere": 1.0}, "c") == path(here, {}, "c") == []


def test_like_paths_don_t_depend_on_the_order_of_the_edges() -> None:
    links = [("a", "c", EdgeKind.NEXT), ("b", "c", EdgeKind.NEXT), ("c", "a", EdgeKind.NEXT)]
    orders = [around({"name": "ab"}, *links), around({"name": "ba"}, *links[::-1])]

    assert len({tuple(path(here, {"name": 1.0}, "c")) for here in orders}) == 1


def test_a_reference_is_shown_rather_than_the_name_that_both_share() -> None:
    here = around({"name": "ab", "title": "bc"}, ("b", "c", EdgeKind.REFERS_TO))

    assert [id_ for id_, _ in likeliest_paths(here, {"name": 1.0}, WALK, ["c"])["c"]] == ["name", "b", "title", "c"]
    assert path(here, {"name": 1.0}, "c") == ["name", "MENTIONS- b", "REFERS_TO+ c"]


def test_every_feature_has_words_for_a_hit_that_it_lifts() -> None:
    assert LIFTED_BY.keys() == set(FEATURES)


ASKED = frozenset(terms_of("Which mill made the cards that Babbage wanted?"))


def sentences_of(*steps: tuple[str, str, str]) -> list[str]:
    """Return the sentences of a path of steps (kind, name, text)."""
    path = [PathStep(kind, name, "", name) for kind, name, _ in steps]
    said = {name: sentences_with_stems(text) for _, name, text in steps if text}
    return [step.sentence for step in with_sentences(path, said, ASKED)]


def test_a_chunk_s_sentence_names_what_is_beside_it_and_tells_most_of_the_question() -> None:
    text = "A mill. Ada met Charles Babbage. Charles Babbage wanted cards, and a mill. He left Ada's *engine*."

    assert sentences_of(("Entity", "charles babbage", ""), ("Chunk", "one", text)) == [
        "",
        "Charles Babbage wanted cards, and a mill.",
    ]
    assert sentences_of(("Chunk", "one", text), ("Document", "Engine", ""), ("Chunk", "Engine", "")) == [
        "He left Ada's engine.",
        "",
        "",
    ]


def test_what_comes_next_counts_more_than_what_came_before_and_the_question() -> None:
    text = "The cards of Babbage, for a mill. Cards, and Babbage. It went by way of Lyon to the mill. By Lyon it came."
    path = [("Entity", "Babbage", ""), ("Chunk", "one", text), ("Entity", "Lyon", ""), ("Chunk", "two", "")]

    assert sentences_of(*path)[1] == "It went by way of Lyon to the mill."


def test_the_next_sentence_is_for_what_the_first_leaves_open() -> None:
    first = "Charles Babbage wanted cards of Lyon."
    second = "Cards and Babbage were the pride of Lyon. The mill at Lyon was old."

    found = sentences_of(("Chunk", "one", first), ("Entity", "Lyon", ""), ("Chunk", "two", second))

    assert found == [first, "", "The mill at Lyon was old."]


@pytest.mark.parametrize("text", ["", "Nothing here.", "Lyonnais.", "```\nx = Ly\n```", "。\n\n"])
def test_a_chunk_that_names_nothing_beside_it_has_no_sentence(text: str) -> None:
    assert sentences_of(("Entity", "Lyon", ""), ("Chunk", "one", text)) == ["", ""]


def test_a_name_is_found_without_spaces_and_a_long_sentence_is_cut() -> None:
    in_tokyo = "私は東京駅で会った。"

    assert sentences_of(("Entity", "東京駅", ""), ("Chunk", "one", f"雨が降った。{in_tokyo}"))[1] == in_tokyo
    assert len(sentences_of(("Entity", "Lyon", ""), ("Chunk", "one", "silk from Lyon and " * 90))[1]) <= 280
