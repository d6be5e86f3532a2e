"""The store for LangGraph: beside LangGraph's own in memory; found by meaning; errors, threads and the event loop."""

from __future__ import annotations

import asyncio
import math
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from pipeline import HopRank
from pipeline.db.catalogue import find_graph
from pipeline.errors import FilterError, GraphError, InputError, QuestionError
from pipeline.knowledge import KnowledgeNode
from pipeline.serve.adapters.langchain import HopRankEmbeddings
from pipeline.serve.adapters.langgraph import HopRankStore, condition_of

pytestmark = pytest.mark.slow

EVERYTHING = 10_000
LABELS = ("a", "ä", "*")
KEYS = ("k", "1", "", "'}) DETACH DELETE n //", "ключ\x00")
NOTES = {
    ("users", "ada"): {
        "food": {"text": "Ada likes plums and pears.", "year": 2024, "tags": ["food"]},
        "work": {"text": "Ada repairs clocks in Skelda.", "year": 2025, "tags": ["work", "skelda"]},
    },
    ("users", "bo"): {"pet": {"text": "The dog of Bo is called Rex.", "year": 2026}},
    ("rules",): {"friday": {"text": "Never deploy on a Friday.", "year": 2025}},
}


@pytest.fixture(scope="module")
def shared(hoprank: HopRank) -> Iterator[HopRankStore]:
    """A store that each example empties."""
    store = HopRankStore(hoprank, f"store-{uuid.uuid4().hex[:12]}")
    yield store
    hoprank.graph(store.name).drop()


@pytest.fixture
def empty(hoprank: HopRank) -> Iterator[HopRankStore]:
    """A store that nothing was put into."""
    store = HopRankStore(hoprank, f"store-{uuid.uuid4().hex[:12]}", fields=["text"])
    yield store
    hoprank.graph(store.name).drop()


@pytest.fixture
def store(empty: HopRankStore) -> HopRankStore:
    """A store of the notes."""
    puts = [PutOp(namespace, key, value) for namespace, items in NOTES.items() for key, value in items.items()]
    empty.batch(puts)
    return empty


numbers = st.integers(-(2**50), 2**50) | st.floats(allow_nan=False, allow_infinity=False, width=32)
scalars = st.none() | st.text(max_size=5) | st.sampled_from([0, 1, 2.5])
names = st.sampled_from(["x", "y z", "é"])
anything = st.recursive(scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2))
values = st.fixed_dictionaries({"n": numbers}, optional={"any": anything, "s": st.text(max_size=8)})
orders = st.dictionaries(st.sampled_from(["$gt", "$gte", "$lt", "$lte", "$eq", "$ne"]), numbers, min_size=1, max_size=2)
equals = st.fixed_dictionaries({}, optional={"$eq": anything, "$ne": anything})
filters = st.none() | st.fixed_dictionaries(
    {}, optional={"n": numbers | orders, "any": anything | equals, "s": st.text(max_size=2)}
)
paths = st.lists(st.sampled_from(LABELS), max_size=3).map(tuple)
namespaces = paths.filter(bool)
limits = st.integers(0, 3) | st.just(EVERYTHING)
offsets = st.just(0) | st.integers(0, 3)
kinds = st.sampled_from(["prefix", "suffix"])


def made(kind: Callable[..., Any], *parts: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Build a tuple of these parts alone: ``st.builds`` fills in the rest of a NamedTuple, too."""
    return st.tuples(*parts).map(lambda given: kind(*given))


puts = made(PutOp, namespaces, st.sampled_from(KEYS), values)
conditions = st.lists(made(MatchCondition, kinds, paths), max_size=2).map(tuple)
operations = st.one_of(
    puts,
    made(PutOp, namespaces, st.sampled_from(KEYS), st.none()),
    made(GetOp, namespaces, st.sampled_from(KEYS)),
    made(SearchOp, paths, filters, limits, offsets),
    made(ListNamespacesOp, conditions, st.none() | st.integers(1, 3), limits, offsets),
)


class Model:
    """LangGraph's store in memory, without the empty namespaces that its reads make."""

    def __init__(self) -> None:
        self.store = InMemoryStore()

    def ask(self, op: Op) -> Any:
        for namespace in [namespace for namespace, items in self.store._data.items() if not items]:
            del self.store._data[namespace]
        return self.store.batch([op])[0]


def by_path(items: list[SearchItem]) -> dict[tuple[str, ...], dict[str, Any]]:
    assert all(item.score is None for item in items)
    found = {(*item.namespace, item.key): item.value for item in items}
    assert len(found) == len(items)
    return found


def expected(store: HopRankStore, model: Model, op: Op) -> Any:
    """What an operation returns, by the model but for the order of items and their times, which are HopRank's own."""
    if isinstance(op, PutOp):
        return None
    known = model.ask(op if not isinstance(op, SearchOp) else op._replace(limit=EVERYTHING, offset=0))
    if isinstance(op, ListNamespacesOp):
        return known
    if isinstance(op, GetOp):
        item = store.get(op.namespace, op.key)
        assert (item.value if item else None) == (known.value if known else None)
        return item
    whole = store.search(op.namespace_prefix, filter=op.filter, limit=EVERYTHING)
    assert by_path(whole) == by_path(known)
    assert sorted(whole, key=lambda item: item.updated_at, reverse=True) == whole
    return whole[op.offset : op.offset + op.limit]


@settings(max_examples=40)
@given(
    first=st.lists(puts, min_size=3, max_size=12),
    batches=st.lists(st.lists(operations, min_size=1, max_size=8), min_size=2, max_size=4),
)
def test_it_does_what_the_store_in_memory_does(shared: HopRankStore, first: list[Op], batches: list[list[Op]]) -> None:
    left = shared.search((), limit=EVERYTHING)
    shared.batch([PutOp(item.namespace, item.key, None) for item in left])
    assert shared.search(()) == []
    model = Model()
    times: dict[tuple[str, ...], tuple[datetime, datetime]] = {}
    for ops in [first, *batches]:
        results = [expected(shared, model, op) for op in ops]

        assert shared.batch(iter(ops)) == results

        for path, op in {(*op.namespace, op.key): op for op in ops if isinstance(op, PutOp)}.items():
            model.ask(op)
            before, item = times.pop(path, None), shared.get(op.namespace, op.key)
            assert (item.value if item else None) == op.value
            if item:
                times[path] = item.created_at, item.updated_at
                assert item.created_at == (before[0] if before else item.updated_at)
                assert before is None or item.updated_at > before[1]


def test_a_search_by_meaning_ranks_as_the_store_in_memory_does(store: HopRankStore, hoprank: HopRank) -> None:
    embeddings = HopRankEmbeddings(hoprank)
    model = InMemoryStore(index={"dims": hoprank.embedder.dimension, "embed": embeddings, "fields": ["text"]})
    for namespace, items in NOTES.items():
        for key, value in items.items():
            model.put(namespace, key, value)
    asked: list[tuple[tuple[str, ...], dict[str, Any]]] = [
        ((), {"query": "What fruit does she eat?"}),
        ((), {"query": "May I release at the end of the week?", "limit": 2, "offset": 1}),
        (("users",), {"query": "What is the animal's name?", "filter": {"year": {"$gte": 2025}}}),
        (("users", "ada"), {"query": "What is the animal's name?"}),
    ]

    for prefix, options in asked:
        found, known = store.search(prefix, **options), model.search(prefix, **options)

        assert [item.key for item in found] == [item.key for item in known]
        assert [item.score for item in found] == pytest.approx([item.score for item in known], abs=1e-4)
    assert store.search((), query="What fruit does she eat?")[0].key == "food"
    assert store.search((), query="May I release at the end of the week?")[0].key == "friday"


def test_what_is_embedded_is_the_store_s_fields_or_the_put_s_paths(empty: HopRankStore) -> None:
    value = {"text": "An otter swims.", "notes": [{"said": "Trains are late."}, {"said": "Trams are not."}]}
    empty.put(("n",), "fields", value)
    empty.put(("n",), "paths", value, index=["notes[*].said"])
    empty.put(("n",), "none", value, index=False)
    empty.put(("n",), "lacking", {"other": "An otter swims."})

    otter = empty.search(("n",), query="otter")
    railway = empty.search(("n",), query="railway")

    assert (otter[0].key, railway[0].key) == ("fields", "paths")
    assert [(item.key, item.score) for item in otter[2:]] == [("lacking", None), ("none", None)]
    assert [item.key for item in empty.search(("n",), query="otter", limit=2, offset=2)] == ["lacking", "none"]
    empty.put(("n",), "fields", value, index=False)
    assert [item.key for item in empty.search(("n",), query="otter") if item.score is not None] == ["paths"]
    whole = HopRankStore(empty.hoprank, empty.name)
    whole.put(("n",), "lacking", {"other": "An otter swims."})
    assert whole.search(("n",), query="otter", limit=1)[0].key == "lacking"


@pytest.mark.parametrize(
    ("condition", "meeting", "not_meeting"),
    [
        (True, [True], [1, "true", None]),
        (1, [1, 1.0], [True, "1"]),
        (None, [None], [0, "", False]),
        ([1, {"$gt": 2}], [[1, 3]], [[1, 2], [1], [1, 3, 4], "13"]),
        ({"a": {"b": 1}}, [{"a": {"b": 1, "c": 2}}], [{"a": 1}, {}, None]),
        ({"$eq": {"a": [1]}}, [{"a": [1]}], [{"a": [1], "b": 2}, {"a": [True]}]),
        ({"$ne": {"a": 1}}, [{"a": 2}, {"a": True}, None], [{"a": 1}]),
        ({"$gte": "2026-02", "$lt": "2026-03"}, ["2026-02-10"], ["2026-03-01", 2026, None, ["2026-02-10"]]),
        ({"$gt": 2}, [2.5, 3], [2, "3", True, None, {}]),
        ({"$lte": True}, [], [True, False, 0, None]),
    ],
)
def test_a_filter_compares_what_has_an_order_and_tells_true_from_1(
    condition: Any, meeting: list[Any], not_meeting: list[Any]
) -> None:
    meets = condition_of(condition)

    assert [value for value in (*meeting, *not_meeting) if meets(value)] == meeting


def test_what_cant_be_done_is_refused_and_nothing_is_written(store: HopRankStore) -> None:
    nested: dict[str, Any] = {}
    for _ in range(60):
        nested = {"deeper": nested}
    good = PutOp(("users",), "good", {"text": "fine"})
    refused: list[tuple[Op, type[Exception], str]] = [
        (PutOp(("users",), "nan", {"score": math.nan}), GraphError, "nan.*JSON can't say"),
        (PutOp(("users",), "bytes", {"raw": b"x"}), GraphError, "bytes"),
        (PutOp(("users",), "keys", {"raw": {1: "x"}}), GraphError, "keys aren't all texts"),
        (PutOp(("users",), "deep", nested), GraphError, "levels deep"),
        (PutOp(("users",), "half\ud800", {}), GraphError, "surrogate"),
        (PutOp(("users",), "k" * 11_000, {}), GraphError, "10,000 are the most"),
        (PutOp(("users",), "list", ["x"]), InputError, "Give a mapping"),  # type: ignore[arg-type]
        (PutOp(("users",), "ttl", {}, ttl=5.0), InputError, "Leave ttl out"),
        (PutOp(("users.ada",), "period", {}), InvalidNamespaceError, "periods"),
        (SearchOp((), {"year": {"$gtt": 1}}), FilterError, r"\$gtt.*\n.*\$gte"),
        (SearchOp((), limit=-1), InputError, "limit=-1"),
        (SearchOp((), query=" "), QuestionError, "empty"),
        (ListNamespacesOp(offset=-1), InputError, "offset=-1"),
        ("get", InputError, "no operation of a store"),  # type: ignore[list-item]
    ]

    for op, error, message in refused:
        with pytest.raises(error, match=message):
            store.batch([good, op])

    assert store.get(("users",), "good") is None
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(("users",), "ttl", {}, ttl=5)
    with pytest.raises(FilterError):
        HopRankStore(store.hoprank, "no such store").search((), filter={"year": {"$gtt": 1}})


def test_a_store_that_is_not_there_is_empty_and_made_by_the_first_put(hoprank: HopRank, empty: HopRankStore) -> None:
    empty.delete(("a",), "k")
    assert (empty.get(("a",), "k"), empty.search(()), empty.list_namespaces()) == (None, [], [])
    assert find_graph(hoprank.client, empty.name) is None

    empty.put(("a",), "k", {"text": "kept"})
    assert HopRankStore(hoprank, empty.name).search(("a",), query="kept")[0].value == {"text": "kept"}

    hoprank.graph(empty.name).drop()
    assert (empty.get(("a",), "k"), empty.search((), query="kept"), empty.list_namespaces()) == (None, [], [])
    empty.put(("a",), "k", {"text": "again"})
    assert [item.value for item in empty.search(())] == [{"text": "again"}]


def test_other_nodes_of_the_graph_are_no_items_and_stay(hoprank: HopRank, store: HopRankStore) -> None:
    graph = hoprank.graph(store.name)
    graph.add_node(KnowledgeNode("skill", "skill", properties={"path": ["users", "skill"], "text": "swim"}))

    assert {item.key for item in store.search((), limit=EVERYTHING)} == {"food", "work", "pet", "friday"}
    assert store.list_namespaces() == sorted(NOTES)
    store.delete(("users", "ada"), "food")
    assert {node.type for node in graph.nodes()} == {"item", "skill"}


def test_threads_put_at_once_and_nothing_is_lost(empty: HopRankStore) -> None:
    def put(thread: int) -> None:
        for number in range(10):
            empty.put(("own", str(thread)), str(number), {"text": f"note {number} of {thread}"})
            empty.put(("shared",), "last", {"text": f"note {number} of {thread}"})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(put, range(8)))

    items = empty.search(("own",), limit=EVERYTHING)
    assert {(item.namespace[1], item.key): item.value["text"] for item in items} == {
        (str(thread), str(number)): f"note {number} of {thread}" for thread in range(8) for number in range(10)
    }
    last = empty.get(("shared",), "last")
    assert last
    assert last.value["text"].startswith("note 9 of ")
    assert last.created_at < last.updated_at


class Held(HopRankStore):
    """Works once the event loop says so, which it can't while it waits for the store."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.released = threading.Event()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        assert self.released.wait(10), "The event loop was blocked."
        return super().batch(ops)


def test_it_is_awaited_without_holding_up_the_event_loop(hoprank: HopRank, empty: HopRankStore) -> None:
    async def use(store: Held) -> list[SearchItem]:
        puts = [asyncio.create_task(store.aput(("a",), str(number), {"n": number})) for number in range(5)]
        await asyncio.sleep(0.05)
        store.released.set()
        await asyncio.gather(*puts)
        await store.adelete(("a",), "0")
        assert await store.aget(("a",), "0") is None
        assert await store.alist_namespaces(prefix=("*",)) == [("a",)]
        return await store.asearch(("a",), filter={"n": {"$gt": 1}})

    found = asyncio.run(use(Held(hoprank, empty.name)))

    assert sorted(item.value["n"] for item in found) == [2, 3, 4]
