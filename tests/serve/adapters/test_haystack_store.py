"""The document store for Haystack: the framework's own conformance tests, and what HopRank adds to them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from haystack import Document, Pipeline
from haystack.components.writers import DocumentWriter
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DocumentStore, DuplicatePolicy
from haystack.errors import FilterError
from haystack.testing import document_store as rules
from haystack.testing import document_store_async as async_rules
from haystack.utils.filters import document_matches_filter
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.errors import Busy, InputError
from pipeline.errors import FilterError as HopRankFilterError
from pipeline.ingest.sources.metadata import flat
from pipeline.records import as_properties
from pipeline.retrieve.filters.conditions import as_row_test
from pipeline.retrieve.filters.parse import parse_filter
from pipeline.serve.adapters.haystack import HopRankDocumentStore, HopRankRetriever, _loosened
from tests.serve.adapters.test_haystack import ALLOWED, one, several

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

MANY = 1_000


@pytest.fixture
def document_store(hoprank: HopRank, corpus_name: str) -> HopRankDocumentStore:
    """An empty store."""
    return HopRankDocumentStore(corpus_name, hoprank=hoprank)


class Equal:
    """Haystack's comparison of documents, in any order: the protocol names none, and HopRank's is that of ids."""

    @staticmethod
    def assert_documents_are_equal(received: list[Document], expected: list[Document]) -> None:
        assert received == sorted(expected, key=lambda document: document.id)


class TestConformance(
    Equal,
    rules.DocumentStoreBaseExtendedTests,
    rules.CountDocumentsByFilterTest,
    rules.CountUniqueMetadataByFilterTest,
    rules.GetMetadataFieldsInfoTest,
    rules.GetMetadataFieldMinMaxTest,
    rules.GetMetadataFieldUniqueValuesTest,
):
    """Haystack's own tests of document stores."""

    @pytest.fixture
    def document_store(self, document_store: HopRankDocumentStore) -> DocumentStore:
        return document_store

    def test_write_documents(self, document_store: DocumentStore) -> None:
        documents = [Document(content="one"), Document(content="two")]
        assert document_store.write_documents(documents) == 2
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents(documents[1:])
        self.assert_documents_are_equal(document_store.filter_documents(), documents)


class TestAwaitedConformance(
    Equal,
    async_rules.CountDocumentsAsyncTest,
    async_rules.WriteDocumentsAsyncTest,
    async_rules.DeleteDocumentsAsyncTest,
    async_rules.FilterDocumentsAsyncTest,
    async_rules.DeleteAllAsyncTest,
    async_rules.DeleteByFilterAsyncTest,
    async_rules.UpdateByFilterAsyncTest,
    async_rules.CountDocumentsByFilterAsyncTest,
    async_rules.CountUniqueMetadataByFilterAsyncTest,
    async_rules.GetMetadataFieldsInfoAsyncTest,
    async_rules.GetMetadataFieldMinMaxAsyncTest,
    async_rules.GetMetadataFieldUniqueValuesAsyncTest,
):
    """The same, awaited."""

    @pytest.fixture
    def document_store(self, document_store: HopRankDocumentStore) -> DocumentStore:
        return document_store

    async def test_write_documents_async(self, document_store: Any) -> None:
        documents = [Document(content="one"), Document(content="two")]
        assert await document_store.write_documents_async(documents) == 2
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async(documents[1:])
        self.assert_documents_are_equal(await document_store.filter_documents_async(), documents)


SHIPS = [
    Document(id="ada", content="Ada Miller wrote the log of the Curlew.", meta={"year": 1898, "title": "The log"}),
    Document(
        id="curlew", content="The Curlew was built by Otto Brandt in Skelda.", meta={"year": 1890, "tags": ["yard"]}
    ),
    Document(id="moose", content="Moose live in the north.", meta={"seen": "2020-05-01T12:00:00+02:00", "year": None}),
    Document(id="elk", content="Elk are the moose of Europe.", meta={"year": 1990, "large": True, "tags": "yard"}),
]


@pytest.fixture
def store(document_store: HopRankDocumentStore) -> HopRankDocumentStore:
    """A store of four documents."""
    assert document_store.write_documents(SHIPS) == 4
    return document_store


def ids(documents: list[Document]) -> list[str]:
    return [document.id for document in documents]


def retrieve(
    store: HopRankDocumentStore, query: str, filters: dict[str, Any] | None = None, k: int = 9
) -> list[Document]:
    found: list[Document] = HopRankRetriever(document_store=store, top_k=k).run(query, filters)["documents"]
    return found


KEPT = [
    Document(
        id="möwe/海 %s \n",
        content="Die Möwe sang 海の歌 👩🏽‍🔬: שלום, e\u0301t\u00e9. \x00 \ud800",
        meta={"ø": "\ud83d"},
    ),
    Document(id="blank", content="", meta={}),
    Document(id="picture", blob=ByteStream(bytes(range(256)), {"page": 1}, "image/png"), meta={"title": 7}),
    Document(
        id="numbers",
        content="  white   space \n\n\n\n stays\t",
        meta={"none": None, "big": 2**70, "small": -0.0, "no": [], "mixed": [1, "1", None, {"a": [True]}], "": {"": 0}},
        embedding=[0.1, -1e-300, 3.0],
        sparse_embedding=SparseEmbedding([1, 5], [0.5, 0.25]),
    ),
    Document(
        id="dates",
        content="# A heading\n\nA text.\n",
        meta={
            "at": datetime(2020, 1, 2, 3, 4, 5, 6, UTC),
            "on": {"day": [date(2020, 1, 2)]},
            "hoprank": {"hoprank:date": "no date"},
            "title": "Märchen",
            "document": "x",
            "start": "y",
        },
        score=0.5,
    ),
]


def test_documents_come_back_as_they_went_in(document_store: HopRankDocumentStore) -> None:
    document_store.write_documents(KEPT)

    found = document_store.filter_documents()

    assert [repr(one.to_dict()) for one in found] == [
        repr(one.to_dict()) for one in sorted(KEPT, key=lambda one: one.id)
    ]
    assert ids(retrieve(document_store, "Möwe", k=1)) == [KEPT[0].id]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document(id="half \ud800", content="x"), "half"),
        (Document(id="nul \x00", content="x"), "nul"),
        (Document(id=" ", content="x"), "id"),
        (Document(id="x" * 1001, content="x"), "1,001"),
        (Document(id="set", content="x", meta={"a": {1, 2}}), "'set' has a value that JSON can't hold: a set"),
    ],
)
def test_what_can_not_be_kept_is_refused_with_all_that_comes_with_it(
    document_store: HopRankDocumentStore, document: Document, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        document_store.write_documents([Document(content="fine"), document])

    assert document_store.count_documents() == 0


def test_an_id_twice_in_a_list_counts_by_the_policy(document_store: HopRankDocumentStore) -> None:
    twice = [Document(id="a", content="first"), Document(id="b", content="b"), Document(id="a", content="last")]

    with pytest.raises(DuplicateDocumentError, match="'a'"):
        document_store.write_documents(twice)
    assert document_store.count_documents() == 0
    assert document_store.write_documents(twice, DuplicatePolicy.SKIP) == 2
    assert [one.content for one in document_store.filter_documents()] == ["first", "b"]
    assert document_store.write_documents(twice, DuplicatePolicy.OVERWRITE) == 3
    assert [one.content for one in document_store.filter_documents()] == ["last", "b"]
    assert document_store.write_documents([]) == 0


def test_of_several_that_write_an_id_at_once_one_does(store: HopRankDocumentStore) -> None:
    async def write() -> list[int | BaseException]:
        documents = [[Document(id="new", content=f"Writer {number}")] for number in range(4)]
        return await asyncio.gather(*map(store.write_documents_async, documents), return_exceptions=True)

    results = asyncio.run(write())

    assert sorted(str(result) for result in results if isinstance(result, int)) == ["1"]
    assert sum(isinstance(result, DuplicateDocumentError | Busy) for result in results) == 3
    assert store.count_documents() == 5


def test_a_thousand_documents_are_one_generation(document_store: HopRankDocumentStore, hoprank: HopRank) -> None:
    documents = [Document(id=f"{n:04}", content=f"Ship {n} has {n * 7} tons.", meta={"n": n}) for n in range(MANY + 1)]

    assert document_store.write_documents(documents) == MANY + 1

    corpus = find_corpus(hoprank.client, document_store.corpus)
    assert corpus is not None
    assert corpus.generation == 1
    assert document_store.filter_documents() == documents
    late = one("meta.n", ">=", MANY - 2)
    assert ids(document_store.filter_documents(late)) == ["0998", "0999", "1000"]
    assert sorted(ids(retrieve(document_store, "Which ship has the most tons?", late))) == ["0998", "0999", "1000"]
    # A filter that the graph evaluates no part of.
    assert ids(retrieve(document_store, "ship", several("NOT", one("meta.n", ">", 0)))) == ["0000"]
    document_store.delete_documents([f"{n:04}" for n in range(MANY)] + ["nothing"])
    assert ids(document_store.filter_documents()) == ["1000"]


def test_a_question_finds_documents_as_they_were_written(store: HopRankDocumentStore) -> None:
    long = Document(id="long", content="\n\n".join(f"## Otter {n}\n\n{'One otter was seen. ' * 40}" for n in range(9)))
    store.write_documents([long])

    best = retrieve(store, "Who built the ship whose log Ada Miller wrote?", k=2)
    otters = retrieve(store, "Where were the otters?", k=3)

    assert {one.id for one in best} == {"ada", "curlew"}
    assert all(replace(one, score=None) in SHIPS and one.score for one in best)
    assert ids(otters).count("long") == 1
    assert len(otters) == 3
    assert otters[ids(otters).index("long")].content == long.content


FILTERS = [
    *(one("meta.year", operator, 1890) for operator in ("==", "!=", "<", "<=", ">", ">=")),
    *(one("meta.year", operator, None) for operator in ("==", "!=", ">")),
    *(one("meta.year", operator, [1890, None, "x"]) for operator in ("in", "not in")),
    one("meta.tags", "==", "yard"),
    one("meta.tags", "==", ["yard"]),
    one("meta.tags", "in", ["yard", "x"]),
    one("meta.large", "==", 1),
    one("meta.seen", ">", "2020-05-01T09:59:00+00:00"),
    one("meta.seen", "==", "2020-05-01T10:00:00+00:00"),
    one("meta.title", "==", "The log"),
    one("content", "==", "Moose live in the north."),
    one("id", "in", ["elk", "ada"]),
    one("year", "==", 1990),
    several("NOT", one("meta.year", "==", 1890), one("meta.tags", "in", [["yard"]])),
    several("AND", one("meta.year", "==", 1990), several("OR", one("meta.large", "==", True), one("id", "==", "x"))),
    several("OR", one("meta.year", "==", 1990), one("meta.title", "==", "The log")),
    several("OR"),
    several("AND"),
]


def test_filters_mean_what_they_do_in_haystack(store: HopRankDocumentStore) -> None:
    own = InMemoryDocumentStore()
    own.write_documents(SHIPS)

    for filters in FILTERS:
        expected = sorted(ids(own.filter_documents(filters)))
        assert ids(store.filter_documents(filters)) == expected, filters
        assert sorted(ids(retrieve(store, "the moose of the Curlew", filters))) == expected, filters


@pytest.mark.parametrize(
    "filters",
    [
        one("meta.year", "~", 1),
        several("AND", one("meta.year", "==", 1), {"operator": "=="}),
        several("XOR", one("meta.year", "==", 1)),
        one("meta.none", "in", "text"),
        several("AND", "text"),  # type: ignore[arg-type]
    ],
)
def test_malformed_filters_are_refused_by_an_empty_store_too(
    document_store: HopRankDocumentStore, filters: dict[str, Any]
) -> None:
    with pytest.raises((FilterError, HopRankFilterError)):
        document_store.filter_documents(filters)
    with pytest.raises((FilterError, HopRankFilterError)):
        retrieve(document_store, "moose", filters)


SCALARS = st.sampled_from([None, True, 0, 1, 1.5, "", "a", "2020-01-01", "2020-01-01T00:00:00", "\x00", "\ufffd"])
NESTED = st.fixed_dictionaries({"b": SCALARS})
LISTS = st.lists(SCALARS, min_size=1, max_size=2)
METADATA = st.dictionaries(st.sampled_from(["a", "a.b", "start"]), SCALARS | LISTS | NESTED, min_size=1)
FIELDS = st.sampled_from(["meta.a", "meta.a.b", "meta.start", "a"])
COMPARED = st.one_of(
    st.builds(one, FIELDS, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), SCALARS),
    st.builds(one, FIELDS, st.sampled_from(["in", "not in"]), LISTS),
)
LOGICAL = COMPARED | st.builds(several, st.sampled_from(["AND", "OR", "NOT"]), COMPARED, COMPARED)


@settings(max_examples=2000, deadline=None)
@given(METADATA, LOGICAL)
@example({"a": {"b": 1}, "a.b": 2}, one("meta.a.b", "==", 1))
def test_no_document_that_matches_is_left_out_by_what_the_graph_filters(
    meta: dict[str, Any], filters: dict[str, Any]
) -> None:
    try:
        if not document_matches_filter(filters, Document(id="a", content="text", meta=meta)):
            return
        loosened = _loosened(filters)
    except (FilterError, TypeError, HopRankFilterError):
        return

    assert as_row_test(parse_filter(loosened))(as_properties(flat(meta)))


@pytest.mark.usefixtures("server")
def test_a_pipeline_writes_and_one_that_was_saved_reads(document_store: HopRankDocumentStore) -> None:
    store = HopRankDocumentStore(document_store.corpus)
    writing, reading = Pipeline(), Pipeline()
    writing.add_component("writer", DocumentWriter(store, DuplicatePolicy.OVERWRITE))
    reading.add_component("retriever", HopRankRetriever(document_store=store, top_k=1))

    assert writing.run({"writer": {"documents": SHIPS}}) == {"writer": {"documents_written": 4}}
    saved = reading.dumps()
    again = Pipeline.loads(saved, allowed_modules=ALLOWED)

    assert ids(again.run({"retriever": {"query": "Who built the Curlew?"}})["retriever"]["documents"]) == ["curlew"]
    assert again.dumps() == saved
    retriever: Any = again.get_component("retriever")
    retriever.close()
    store.close()
    store.close()
    assert store.count_documents() == 4
    store.close()
