"""Agents traverse notes: by distance, in pages, and within their scope."""

from __future__ import annotations

import base64
import json

import pytest

from pipeline.domains.vault.note import Scope
from pipeline.errors import CorpusError, InputError, QuestionError
from tests.domains.vault.gardens import Garden, walked


def test_a_traversal_goes_by_distance_and_says_the_way(kept: Garden) -> None:
    one = kept.vault().traverse("Tomatoes")
    two = kept.vault().traverse("Tomatoes", depth=2)

    assert walked(one) == [("plants/Basil.md", 1), ("soil/Compost.md", 1)]
    assert walked(two)[:2] == walked(one)
    # Basil links to itself and back to Tomatoes, Marigold to both: each note is reached once.
    assert walked(two)[2:] == [
        ("plants/Marigold.md", 2),
        ("soil/Earthworms.md", 2),
        ("soil/Mulch.md", 2),
        ("soil/Turning the heap.md", 2),
    ]
    circle = walked(kept.vault().traverse("Basil", depth=2))
    assert circle[:3] == [("plants/Marigold.md", 1), ("plants/Tomatoes.md", 1), ("plants/Frost.md", 2)]
    assert [key for key, _ in circle].count("plants/Tomatoes.md") == 1
    first, second = two.nodes[5].path
    assert (first.source, first.target, first.relations) == ("plants/Tomatoes.md", "soil/Compost.md", ("fed_by",))
    assert (second.relations, two.nodes[5].title) == (("made_by",), "Turning the heap")
    assert two.nodes[0].path[0].sentences == ("They grow well beside Basil, which keeps the whitefly away.",)
    assert two.nodes[0].description == "A herb that dies of the first frost."
    assert (two.total, two.cursor, two.start.title) == (6, None, "Tomatoes")


def test_directions_and_relations(kept: Garden) -> None:
    def keys(**options: object) -> set[str]:
        return {key for key, _ in walked(kept.vault().traverse("Basil", **options))}  # type: ignore[arg-type]

    assert keys() == {"plants/Tomatoes.md", "plants/Marigold.md"}
    assert keys(direction="in") == {f"plants/{name}.md" for name in ("Tomatoes", "Marigold", "Pruning", "Seedlings")}
    assert keys(direction="both") == keys() | keys(direction="in")
    assert keys(relations=["companion"]) == {"plants/Tomatoes.md"}
    assert keys(relations=["Companion", "fed-by"], depth=2) == {"plants/Tomatoes.md", "soil/Compost.md"}


@pytest.mark.parametrize("budget", [1, 2, 4, 5])
def test_pages_go_on_exactly_where_they_stopped(kept: Garden, budget: int) -> None:
    whole = kept.vault().traverse("Tomatoes", 2, 50)
    pages = [kept.vault().traverse("Tomatoes", 2, budget)]
    while pages[-1].cursor:
        pages.append(kept.vault().traverse("Tomatoes", 2, budget, pages[-1].cursor))

    assert [node for page in pages for node in page.nodes] == list(whole.nodes)
    assert all(len(page.nodes) == budget for page in pages[:-1])
    assert len(pages) > 1


@pytest.mark.slow
def test_cursors_that_do_not_fit_are_told(shared_garden: Garden) -> None:
    cursor = shared_garden.vault().traverse("Tomatoes", 2, 2).cursor
    assert cursor is not None
    offset, generation, identity = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    beyond = base64.urlsafe_b64encode(json.dumps([99, generation, identity]).encode()).decode()
    text = base64.urlsafe_b64encode(json.dumps(["1", generation, identity]).encode()).decode()

    assert offset == 2
    for wrong in ("", "!", "é", "bm8", cursor[:-6], beyond, text):
        with pytest.raises(QuestionError, match="is malformed") as told:
            shared_garden.vault().traverse("Tomatoes", 2, 2, wrong)
        assert "leave the cursor out" in told.value.fix
    for vault, start, depth in (
        (shared_garden.vault(), "Basil", 2),
        (shared_garden.vault(), "Tomatoes", 1),
        (shared_garden.vault(Scope()), "Tomatoes", 2),
    ):
        with pytest.raises(QuestionError, match="another traversal"):
            vault.traverse(start, depth, 2, cursor)
    shared_garden.vault().create("New", "Text.")
    with pytest.raises(QuestionError, match="has changed since"):
        shared_garden.vault().traverse("Tomatoes", 2, 2, cursor)


@pytest.mark.slow
def test_unpublished_notes_are_not_traversed(garden: Garden) -> None:
    garden.write("plants/Basil.md", "---\npublished: false\n---\nSoon. [[Tomatoes]]\n")
    garden.sync()

    assert walked(garden.vault().traverse("Tomatoes", direction="both"))
    assert "plants/Basil.md" not in dict(walked(garden.vault().traverse("Tomatoes", direction="both")))
    with pytest.raises(CorpusError, match="isn't published"):
        garden.vault().traverse("Basil")


@pytest.mark.parametrize(("option", "value"), [("depth", 3), ("depth", 0), ("budget", 51), ("direction", "up")])
def test_bounds_of_a_traversal_are_told(kept: Garden, option: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{option}: "):
        kept.vault().traverse("Basil", **{option: value})  # type: ignore[arg-type]
