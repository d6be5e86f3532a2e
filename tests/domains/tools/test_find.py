"""Finding tools: clauses of a task, the ranking, what found tools need, and how many are returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.domains.tools.catalogue import Service
from pipeline.domains.tools.find import (
    FEWEST,
    MOST,
    MOST_CLAUSES,
    FoundTool,
    Role,
    clauses,
    completed,
    find_tools,
    without_paths,
)
from pipeline.domains.tools.index import IndexedTool, ToolIndex, terms_of
from pipeline.errors import GraphError, QuestionError
from pipeline.records import Vector

DIMENSION = 512


def embed(texts: Sequence[str]) -> Vector:
    """Embed by stems, each of which is a dimension: texts are near if they share words."""
    vectors = np.full((len(texts), DIMENSION), 1e-3, dtype=np.float32)
    for row, text in enumerate(texts):
        for term in terms_of(text):
            vectors[row, sum(ord(letter) * 31**place for place, letter in enumerate(term)) % DIMENSION] += 1
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def tool(id_: str, description: str = "", *needs: str, service: str = "farm") -> IndexedTool:
    return IndexedTool(id_, id_, service, description, needs=needs)


def index_of(*tools: IndexedTool, services: Sequence[Service] = (), flows: Sequence[tuple[str, str]] = ()) -> ToolIndex:
    texts = {one.id: f"{one.name.replace('_', ' ')} {one.description}" for one in tools}
    texts |= {service.id: f"{service.name} {service.description}" for service in services}
    return ToolIndex.of(tools, services, dict(zip(texts, embed(list(texts.values())), strict=True)), flows)


FARM = (
    tool("count_sheep", "Counts the sheep in a field."),
    tool("milk_cow", "Milks a cow in the barn.", "open_barn"),
    tool("open_barn", "Opens the gate of the barn.", "find_key"),
    tool("find_key", "Looks up where a key hangs."),
    tool("plough", "Ploughs a field with the tractor."),
    tool("weather", "Forecasts rain and wind.", service="sky"),
)


def ids(found: Sequence[FoundTool]) -> list[str]:
    return [one.id for one in found]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Count the sheep in the north field.", ["Count the sheep in the north field."]),
        (
            "Count the sheep in the field, and then milk both cows; plough the field.",
            ["Count the sheep in the field,", "and then milk both cows;", "plough the field."],
        ),
        ("Find it in Bath, England, for me please", ["Find it in Bath, England,", "for me please"]),
        ("1. Milk the cow\n2. Open the barn door", ["1. Milk the cow", "2. Open the barn door"]),
        ("Zähle die Schafe dort und melke danach die Kuh", ["Zähle die Schafe dort", "und melke danach die Kuh"]),
        (
            "数一数田里的羊，然后给奶牛挤奶。明天天气怎么样？",
            ["数一数田里的羊，", "然后给奶牛挤奶。", "明天天气怎么样？"],
        ),
        ("Watch STEINS;GATE with me tonight", ["Watch STEINS;GATE with me tonight"]),
        ("sheep", ["sheep"]),
        (" \n ", []),
    ],
)
def test_a_task_has_clauses(task: str, expected: list[str]) -> None:
    assert clauses(task) == expected


@given(
    st.lists(st.sampled_from(["milk", "the cow", ",", ";", ". ", "\n", " and ", "。", "羊", "，", " ", "Ü!"])).map(
        " ".join
    )
    | st.text(max_size=300)
)
def test_clauses_lose_nothing_and_are_few(task: str) -> None:
    found = clauses(task)

    assert "".join("".join(found).split()) == "".join(task.split())
    assert all(found)
    assert len(found) <= MOST_CLAUSES


def test_a_task_of_many_sentences_is_cut_evenly() -> None:
    found = clauses("Count all the sheep. " * 200)

    assert len(found) == MOST_CLAUSES
    assert max(map(len, found)) < 2 * min(map(len, found))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Save it to /srv/farm/notes.md.", "Save it to md file."),
        ("Read C:\\farm\\cows.docx, ~/sheep.csv or ./a.tar.gz", "Read docx file, csv file or gz file"),
        ("See https://farm.example/cows.html and/or v1.2/x", "See https://farm.example/cows.html and/or v1.2/x"),
        ("List the folder /srv/farm", "List the folder /srv/farm"),
    ],
)
def test_a_path_is_a_kind_of_file(text: str, expected: str) -> None:
    assert without_paths(text) == expected


def test_the_best_tool_comes_first_and_says_why() -> None:
    first, second = find_tools(index_of(*FARM), "Forecast the rain and wind, then count the few sheep", embed, 2)

    assert (first.id, first.rank, first.role, first.needed_by) == ("weather", 1, Role.TARGET, "")
    assert first.why == ("fits: Forecast the rain and wind,", "words: Forecast, rain, wind")
    assert (second.id, second.rank) == ("count_sheep", 2)
    assert second.why == ("fits: then count the few sheep", "words: count, sheep")


def test_each_clause_gets_its_tool_before_more_tools_for_the_others() -> None:
    task = "Tell me how many sheep there are in the field, then forecast the rain for tomorrow, then plough a furrow"
    sheep = [tool(f"sheep_{number}", "Counts the sheep of a flock") for number in range(5)]
    twice = "Count the sheep of the flock, count the flock of sheep again, then forecast rain and wind"

    assert set(ids(find_tools(index_of(*FARM), task, embed, 3))) == {"count_sheep", "weather", "plough"}
    assert "weather" in ids(find_tools(index_of(*FARM, *sheep), twice, embed, 3))


def test_the_service_helps_its_tools() -> None:
    tools = (*FARM, tool("p_read", "Reads it.", service="letters"), tool("q_read", "Reads it.", service="banking"))
    services = (Service("letters", "Letters", "Post and mail"), Service("banking", "Bank", "Money"))

    found = find_tools(index_of(*tools, services=services), "read my money", embed, 2)

    assert [(one.id, one.service) for one in found] == [("q_read", "Bank"), ("p_read", "Letters")]


def test_equal_tools_are_ordered_by_id() -> None:
    tools = [tool(id_, "Counts the sheep.") for id_ in ("c", "a", "b")]

    found = find_tools(index_of(*tools), "the sheep", embed, 3)

    assert ids(found) == ["a", "b", "c"]
    assert [one.rank for one in found] == [1, 2, 3]


def test_what_a_tool_needs_follows_it() -> None:
    found = find_tools(index_of(*FARM), "milk a cow", embed, 4)

    assert [(one.id, one.role, one.needed_by) for one in found[:3]] == [
        ("milk_cow", Role.TARGET, ""),
        ("open_barn", Role.NEEDED, "milk_cow"),
        ("find_key", Role.NEEDED, "open_barn"),
    ]
    assert found[1].why == ("needed by milk_cow",)
    assert {one.score for one in found[:3]} == {found[0].score}
    assert found[3].role is Role.TARGET


def test_a_tool_whose_output_fits_another_comes_after_it() -> None:
    others = [tool(f"paint_{number}", "Paints a cow for sheep") for number in range(9)]
    tools = (*FARM, *others, tool("lookup", "Finds."), tool("shear", "Shears the sheep"))
    flows = [("lookup", "shear"), ("gone", "shear"), ("weather", "shear")]

    without = find_tools(index_of(*tools), "shear the sheep", embed, 20)
    found = find_tools(index_of(*tools, flows=flows), "shear the sheep", embed, 20)

    place = ids(found).index("lookup")
    assert (found[place].why, found[place].role) == (("its output fits shear",), Role.TARGET)
    assert found[place].score == pytest.approx(0.9 * found[0].score)
    assert 0 < place < ids(without).index("lookup")
    # weather is of another service, and the rest keeps its order
    assert [one for one in ids(found) if one != "lookup"] == [one for one in ids(without) if one != "lookup"]


@pytest.mark.parametrize(
    ("needs", "expected"),
    [
        ({"a": ["b"], "b": ["c"], "c": []}, [("b", "a"), ("c", "b")]),
        # b takes two tools, d only one: d comes first
        ({"a": ["b", "d"], "b": ["c"], "c": [], "d": []}, [("d", "a"), ("b", "a"), ("c", "b")]),
        ({"a": ["c", "b"], "b": [], "c": []}, [("c", "a"), ("b", "a")]),
        # a cycle, a need of itself, and a tool that isn't there
        ({"a": ["b"], "b": ["c"], "c": ["a", "b"]}, [("b", "a"), ("c", "b")]),
        ({"a": ["a", "gone", "b"], "b": []}, [("b", "a")]),
        ({}, []),
    ],
)
def test_needs_are_completed(needs: Mapping[str, Sequence[str]], expected: list[tuple[str, str]]) -> None:
    assert completed("a", needs) == expected


@given(
    st.dictionaries(
        st.sampled_from("abcdefgh"), st.lists(st.sampled_from("abcdefghx"), max_size=4), min_size=1, max_size=8
    )
)
def test_completion_is_the_closure(needs: dict[str, list[str]]) -> None:
    start = min(needs)
    expected, waiting = {start}, [start]
    while waiting:
        new = {one for one in needs[waiting.pop()] if one in needs} - expected
        expected |= new
        waiting += new

    found = completed(start, needs)

    assert {one for one, _ in found} == expected - {start}
    assert len(found) == len(expected) - 1
    before = {start}
    for one, by in found:
        assert by in before
        assert one in needs[by]
        before.add(one)


def test_tools_are_listed_once_and_found_in_any_script_and_by_words_alone() -> None:
    chinese = index_of(*FARM, tool("牛奶", "给奶牛挤奶"), tool("天气", "查询天气预报"))

    assert sorted(ids(find_tools(index_of(*FARM), "open the barn with the key", embed, 6))) == sorted(
        one.id for one in FARM
    )
    assert ids(find_tools(chinese, "明天天气怎么样？", embed, 1)) == ["天气"]
    assert ids(find_tools(ToolIndex.of(FARM, (), {}), "count the sheep", embed, 1)) == ["count_sheep"]
    assert find_tools(index_of(), "milk a cow", embed) == []


@given(st.integers(1, 40), st.sampled_from(["sheep", "count sheep 3 and plough 5 fields", "wind"]))
def test_without_a_number_a_few_tools_are_returned(count: int, task: str) -> None:
    index = index_of(*(tool(f"tool_{number:02}", f"Counts sheep {number}") for number in range(count)))

    found = find_tools(index, task, embed)

    assert min(count, FEWEST) <= len(found) <= MOST
    assert found == find_tools(index, task, embed, len(found))
    assert [one.rank for one in found] == list(range(1, len(found) + 1))


@pytest.mark.parametrize(("number", "returned"), [(5, 5), (1, FEWEST)])
def test_tools_far_below_the_best_are_left_out_beyond_three(number: int, returned: int) -> None:
    others = [tool(f"other_{number:02}", "Paints a wall red") for number in range(30)]
    sheep = [tool(f"sheep_{at}", "Counts the sheep of a flock") for at in range(number)]

    found = ids(find_tools(index_of(*others, *sheep), "count the sheep of my flock", embed))

    assert set(found[:number]) == {one.id for one in sheep}
    assert len(found) == returned


def test_of_many_needs_the_first_are_returned() -> None:
    needs = [tool(f"step_{number:02}", "Steps") for number in range(MOST + 5)]
    start = tool("harvest", "Harvests the wheat", *(one.id for one in needs))

    found = find_tools(index_of(start, *needs), "harvest the wheat", embed)

    assert ids(found) == ["harvest", *(one.id for one in needs[: MOST - 1])]


def test_the_needs_of_few_targets_are_all_returned() -> None:
    chain = [
        tool(f"step_{number:02}", "Steps", *([f"step_{number + 1:02}"] if number < 11 else [])) for number in range(12)
    ]
    others = [tool(f"other_{number:02}", "Paints a wall red") for number in range(30)]
    start = tool("harvest", "Harvests the wheat", "step_00")

    found = find_tools(index_of(start, *chain, *others), "harvest the wheat", embed)

    assert ids(found)[:13] == ["harvest", *(one.id for one in chain)]


@pytest.mark.parametrize("task", ["???", "🐄", "of the and"])
def test_a_task_without_words_gets_an_answer(task: str) -> None:
    assert len(find_tools(index_of(*FARM), task, embed)) >= FEWEST


@pytest.mark.parametrize(("task", "top_k", "error"), [(" \n", 5, QuestionError), ("milk", 0, GraphError)])
def test_an_empty_task_and_less_than_one_tool_are_refused(task: str, top_k: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        find_tools(index_of(*FARM), task, embed, top_k)


def test_embeddings_of_another_model_are_refused() -> None:
    def other(texts: Sequence[str]) -> Vector:
        return np.ones((len(texts), 3), dtype=np.float32)

    with pytest.raises(GraphError, match=r"512 numbers.* 3\."):
        find_tools(index_of(*FARM), "milk", other)


def test_parameters_and_services_have_words() -> None:
    with_parameter = IndexedTool("b", "b", "farm", parameters=("fleeceColour: of the ewe",))
    in_service = IndexedTool("c", "c", "dairy")
    index = index_of(tool("a"), with_parameter, in_service, services=[Service("dairy", "Cheese", "Butter")])

    assert np.flatnonzero(index.bm25_scores("fleece")).tolist() == [1]
    assert np.flatnonzero(index.bm25_scores("butter cheese")).tolist() == [2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Counting the sheep", ["count", "sheep"]),
        ("of the", ["of", "the"]),
        ("羊 cow羊", ["羊", "cow", "羊"]),
        ("", []),
    ],
)
def test_terms_are_stems(text: str, expected: list[str]) -> None:
    assert terms_of(text) == expected
