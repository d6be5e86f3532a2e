"""Context: within its budget, in the order of a chain, every passage whole and with its source."""

from __future__ import annotations

import json
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline import HopRank, RetrieverResult
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.errors import FilterError, QuestionError
from pipeline.records import Hit
from pipeline.retrieve.context import build_context
from pipeline.retrieve.hits import read_hits
from pipeline.retrieve.passage_relations import PassageRelations
from pipeline.retrieve.window import Window

QUESTION = "Where does the river of the otter rise?"
NOTHING = PassageRelations({}, {})


def hit(rank: int, document: str, text: str, ordinal: int = 0, start: int = 0) -> Hit:
    return Hit(
        id=f"{document}{ordinal}",
        text=text,
        document=document,
        title=document.title(),
        heading="",
        path=f"/notes/{document}.md",
        ordinal=ordinal,
        start=start,
        end=start + len(text),
        line_start=ordinal + 1,
        line_end=ordinal + 2,
        document_metadata={},
        rank=rank,
    )


def result(*hits: Hit) -> RetrieverResult:
    return RetrieverResult((), {"corpus": "notes"}, hits)


def characters(text: str) -> int:
    return len(text)


def documents(*hits: Hit, relations: PassageRelations = NOTHING) -> list[str]:
    return [one.document for one in build_context(QUESTION, result(*hits), relations, 10_000, characters).passages]


def test_without_ties_the_best_come_first() -> None:
    assert documents(hit(1, "otter", "a"), hit(2, "severn", "b"), hit(3, "beaver", "c")) == [
        "otter",
        "severn",
        "beaver",
    ]


def test_each_passage_follows_what_it_hangs_together_with() -> None:
    relations = PassageRelations(
        {frozenset(("otter0", "wales0")): {"Plynlimon": 1.0}}, {("beaver0", "wales0"): {"links to": 2.0}}
    )
    hits = [hit(1, "otter", "a"), hit(2, "severn", "b"), hit(3, "beaver", "c"), hit(4, "wales", "d")]

    built = build_context(QUESTION, result(*hits), relations, 10_000, characters)

    assert [one.document for one in built.passages] == ["otter", "wales", "beaver", "severn"]
    wales, beaver, severn = built.passages[1:]
    assert (wales.after, str(wales.tie)) == (1, "shares “Plynlimon” with")
    assert (beaver.after, str(beaver.tie)) == (2, "links to")
    assert (severn.after, severn.tie) == (None, None)
    assert "## [2] Wales\n\nSource: /notes/wales.md:1-2; shares “Plynlimon” with [1]\n\nd\n" in built.to_markdown()


def test_a_link_is_told_from_both_ends() -> None:
    relations = PassageRelations({}, {("otter0", "severn0"): {"refers to": 2.0}})

    there = build_context(QUESTION, result(hit(1, "otter", "a"), hit(2, "severn", "b")), relations, 999, characters)
    back = build_context(QUESTION, result(hit(1, "severn", "b"), hit(2, "otter", "a")), relations, 999, characters)

    assert str(there.passages[1].tie) == "referred to by"
    assert str(back.passages[1].tie) == "refers to"


def test_chunks_that_follow_each_other_become_one_passage_without_their_overlap() -> None:
    text = "The otter swims. It eats trout. It sleeps."
    first, second = hit(2, "otter", text[:31]), hit(1, "otter", text[17:], 1, 17)

    (passage,) = build_context(QUESTION, result(second, first), NOTHING, 999, characters).passages

    assert (passage.text, passage.rank, passage.chunks) == (text, 1, ("otter0", "otter1"))
    assert passage.source == "/notes/otter.md:1-3"


def test_chunks_with_others_between_them_stay_apart() -> None:
    first, third = hit(1, "otter", "One."), hit(2, "otter", "Three.", 2, 50)

    built = build_context(QUESTION, result(first, third), NOTHING, 999, characters)

    assert [one.text for one in built.passages] == ["One.", "Three."]
    assert str(built.passages[1].tie) == "same document as"


def test_what_has_no_room_is_left_out_and_counted() -> None:
    hits = [hit(1, "otter", "a" * 50), hit(2, "severn", "b" * 500), hit(3, "beaver", "c" * 50)]

    built = build_context(QUESTION, result(*hits), NOTHING, 300, characters)

    assert [one.document for one in built.passages] == ["otter", "beaver"]
    assert (built.left_out, built.budget) == (1, 300)
    assert built.tokens == len(built.to_markdown()) <= 300


def test_a_first_passage_that_is_too_long_is_cut_between_words() -> None:
    built = build_context(QUESTION, result(hit(1, "otter", "swims and " * 100)), NOTHING, 100, characters)

    assert built.passages[0].text.endswith(("swims ...", "and ..."))
    assert 85 < built.tokens <= 100


def test_signs_under_a_heading_are_not_shown_to_a_language_model() -> None:
    found = result(hit(1, "otter", "Otter\n~~~~~\n\nIt rises here.\n\n```\n~~~~~\n```"))

    context = build_context(QUESTION, found, NOTHING, 10_000, characters)

    assert context.passages[0].text == found.hits[0].text
    assert "\n\nOtter\n\nIt rises here.\n\n```\n~~~~~\n```\n" in context.to_markdown()


def test_a_budget_without_room_for_anything_gives_nothing() -> None:
    built = build_context(QUESTION, result(hit(1, "otter", "swims")), NOTHING, 5, characters)

    assert (built.passages, built.tokens, built.left_out, built.to_markdown()) == ((), 0, 1, "")


HITS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.text("xy z\n", min_size=1, max_size=80)),
    max_size=8,
    unique_by=lambda one: one[:2],
)


@given(HITS, st.integers(1, 400))
@example([("a", 0, "x\nx")], 38)  # a cut that stands on a line of its own is taken for a rule, and not shown
def test_the_budget_holds_and_no_hit_comes_twice(rows: list[tuple[str, int, str]], budget: int) -> None:
    hits = [hit(rank, name, text, ordinal, 70 * ordinal) for rank, (name, ordinal, text) in enumerate(rows, 1)]

    built = build_context(QUESTION, result(*hits), NOTHING, budget, characters)

    chunks = [id_ for one in built.passages for id_ in one.chunks]
    assert len(built.to_markdown()) == built.tokens <= budget
    assert len(chunks) == len(set(chunks)) == len(hits) - built.left_out
    assert all(one.after is None or one.after < number for number, one in enumerate(built.passages, 1))


ID = attrgetter("id")
PAGE = " ".join(f"Sentence {number} of the page." for number in range(40))


def page(name: str, cuts: list[int]) -> list[Hit]:
    """The chunks of a document, each of which begins up to nine characters before the end of the one before."""
    ends = [*cuts, len(PAGE)]
    starts = [0, *(end - end % 10 for end in cuts)]
    return [
        replace(hit(0, name, PAGE[start:end], ordinal, start), heading=f"Part {ordinal // 3}")
        for ordinal, (start, end) in enumerate(zip(starts, ends, strict=True))
    ]


PAGES = st.fixed_dictionaries(
    {name: st.lists(st.integers(10, len(PAGE) - 1), max_size=7, unique=True).map(sorted) for name in "abc"}
)


@given(PAGES, st.data(), st.integers(1, 1500))
def test_an_expansion_keeps_to_the_budget_and_the_best_hit_and_repeats_nothing(
    cuts: dict[str, list[int]], data: st.DataObject, budget: int
) -> None:
    pages = {name: page(name, ends) for name, ends in cuts.items()}
    drawn = data.draw(st.lists(st.sampled_from([one for chunks in pages.values() for one in chunks]), unique_by=ID))
    hits = [replace(one, rank=rank) for rank, one in enumerate(drawn, 1)]
    reach = data.draw(st.integers(0, 8))
    windows = {
        one.id: Window(
            tuple(reversed(pages[one.document][max(0, one.ordinal - reach) : one.ordinal])),
            tuple(pages[one.document][one.ordinal + 1 : one.ordinal + 1 + reach]),
        )
        for one in hits
    }
    plain = build_context(QUESTION, result(*hits), NOTHING, budget, characters)

    built = build_context(QUESTION, result(*hits), NOTHING, budget, characters, windows)

    ids = [id_ for one in built.passages for id_ in one.chunks]
    assert len(built.to_markdown()) == built.tokens <= budget
    assert len(ids) == len(set(ids))
    first = [one.id for one in hits if any(one.id in passage.chunks for passage in plain.passages)][:1]
    assert set(first) <= set(ids)
    assert bool(built.passages) == bool(plain.passages)
    assert built.left_out == len({one.id for one in hits} - set(ids))
    reachable = {chunk.id for window in windows.values() for side in window for chunk in side}
    assert set(ids) <= reachable | {one.id for one in hits}
    if any(one.text.endswith(" ...") for one in built.passages):
        assert len(built.passages) == 1
        return
    for one in built.passages:
        ordinals = [int(id_.removeprefix(one.document)) for id_ in one.chunks]
        assert ordinals == list(range(ordinals[0], ordinals[-1] + 1))
        chunks = pages[one.document]
        text = PAGE[chunks[ordinals[0]].start : chunks[ordinals[-1]].end]
        assert "".join(one.text.split()) == "".join(text.split())
        assert one.source == f"/notes/{one.document}.md:{ordinals[0] + 1}-{ordinals[-1] + 2}"


def test_the_best_hit_is_expanded_first_and_an_expanded_passage_stands_under_its_heading() -> None:
    chunks = page("a", [100, 200, 300, 400])
    best, second = replace(chunks[3], rank=1), replace(chunks[0], rank=2)
    windows = {best.id: Window((chunks[2],), (chunks[4],)), second.id: Window((), (chunks[1],))}
    room = len(build_context(QUESTION, result(best, second), NOTHING, 9_999, characters).to_markdown()) + 120

    (first, other) = build_context(QUESTION, result(best, second), NOTHING, room, characters, windows).passages

    assert (first.chunks, first.heading, first.rank) == (("a2", "a3"), "Part 1", 1)
    assert other.chunks == ("a0",)


def test_the_best_hits_are_expanded_in_half_of_the_budget_and_the_others_taken_as_they_are() -> None:
    chunks, others = page("a", [100, 200, 300, 400]), [page(name, [100, 200]) for name in "bcdefgh"]
    hits = [replace(one, rank=rank) for rank, one in enumerate([chunks[2], *(other[0] for other in others)], 1)]
    windows = {one.id: Window((), (other[1],)) for one, other in zip(hits[1:], others, strict=True)}
    windows[hits[0].id] = Window((chunks[1],), (chunks[3],))
    room = len(build_context(QUESTION, result(*hits), NOTHING, 9_999, characters).to_markdown())

    built = build_context(QUESTION, result(*hits), NOTHING, room, characters, windows)

    assert [one.chunks for one in built.passages] == [("a1", "a2", "a3"), ("b0", "b1"), ("c0", "c1"), ("d0",), ("e0",)]
    assert built.left_out == 3


@pytest.mark.parametrize("tokens", [40, 200, 2000])
def test_on_a_real_corpus_the_budget_is_that_of_the_embedder(hoprank: HopRank, library: str, tokens: int) -> None:
    found = hoprank.context("Who taught the woman that met Charles Babbage?", corpus=library, tokens=tokens)

    assert hoprank.embedder.count_tokens(found.to_markdown()) == found.tokens <= tokens
    assert found.passages
    assert "Source: " in found.to_markdown()
    assert json.loads(json.dumps(found.to_json()))["markdown"] == found.to_markdown()


def test_on_a_real_corpus_the_passages_hang_together(hoprank: HopRank, library: str) -> None:
    found = hoprank.context("Who taught the woman that met Charles Babbage?", corpus=library, tokens=2000)

    assert [one.document for one in found.passages[:4]] == ["ada", "babbage", "engine", "somerville"]
    tied = [one for one in found.passages if one.tie]
    assert any("Ada Lovelace" in one.tie.names or one.tie.kind == "refers to" for one in tied if one.tie)


def test_context_is_filtered_and_refuses_what_search_refuses(hoprank: HopRank, library: str) -> None:
    only = hoprank.context("moon", corpus=library, filters={"document": {"$in": ["moon", "tides"]}})

    assert {one.document for one in only.passages} == {"moon", "tides"}
    assert only.metadata["filter"]["admitted"] == 2
    with pytest.raises(QuestionError, match="empty"):
        hoprank.context(" ", corpus=library)
    with pytest.raises(QuestionError, match="0 tokens"):
        hoprank.context("moon", corpus=library, tokens=0)
    with pytest.raises(FilterError):
        hoprank.context("moon", corpus=library, filters={"$not": []})


def test_tokens_are_guessed_until_the_model_is_loaded() -> None:
    embedder = SentenceTransformerEmbedder()

    assert embedder.count_tokens("four characters each") == 5
    embedder.token_offsets(["this loads it"])
    assert embedder.count_tokens("four characters each") == 3


def ordinals(hoprank: HopRank, corpus: str, question: str, **options: Any) -> list[list[int]]:
    """The ordinals of the chunks of each passage of a context that one hit begins."""
    found = hoprank.context(question, corpus=corpus, top_k=1, **options)
    stored = read_hits(hoprank.retriever(corpus).corpus, [id_ for one in found.passages for id_ in one.chunks])
    return [[stored[id_].hit.ordinal for id_ in one.chunks] for one in found.passages]


@pytest.mark.slow
def test_a_hit_is_expanded_by_its_neighbours_or_by_its_section(
    hoprank: HopRank, corpus_name: str, tmp_path: Path
) -> None:
    parts = {"Weirs": "A weir holds the river back.", "Otters": "The otter eats trout.", "Mills": "A mill grinds corn."}
    hay = "The meadows beside it are cut for hay in a dry summer, and flooded in a wet one. " * 40
    sections = (f"## {name}\n\n{hay}\n\n{first} {hay}" for name, first in parts.items())
    (tmp_path / "river.md").write_text("# River\n\n" + "\n\n".join(sections))
    hoprank.ingest(tmp_path, corpus=corpus_name)
    question = "What does the otter eat?"
    [[hit]] = ordinals(hoprank, corpus_name, question)

    assert ordinals(hoprank, corpus_name, question, expand="neighbours") == [[hit - 1, hit, hit + 1]]
    (passage,) = hoprank.context(question, corpus=corpus_name, top_k=1, tokens=9_000, expand="section").passages
    assert passage.heading == "Otters"
    assert passage.text.startswith("## Otters")
    assert "The otter eats trout." in passage.text
    assert passage.text.count("for hay in a dry summer") == 80
    assert passage.source == f"{tmp_path}/river.md:9-13"
    with pytest.raises(QuestionError, match="no expansion 'page'"):
        hoprank.context(question, corpus=corpus_name, expand="page")


def test_what_a_filter_excludes_expands_nothing_and_ends_the_passage(hoprank: HopRank, corpus_name: str) -> None:
    texts = ["It began.", "The weir broke.", "The otter ate trout.", "It slept.", "It ended."]
    random = Random(3)  # noqa: S311 - not a secret
    vectors = [[random.random() for _ in range(384)] for _ in texts]
    chunks = [{"text": text, "embedding": vectors[at], "secret": at == 1} for at, text in enumerate(texts)]
    hoprank.add([{"id": "river", "chunks": chunks}], corpus=corpus_name)
    question = "Which otter ate trout?"

    for expand, plain, filtered in (
        ("none", [2], [2]),
        ("neighbours", [1, 2, 3], [2, 3]),
        ("section", [*range(5)], [2, 3, 4]),
    ):
        assert ordinals(hoprank, corpus_name, question, expand=expand) == [plain]
        assert ordinals(hoprank, corpus_name, question, expand=expand, filters={"secret": False}) == [filtered]
