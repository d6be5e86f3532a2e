"""The vector store for LlamaIndex: what its interface promises, filters beside a plain model, an index over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core import Document as LlamaDocument
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.node_parser import MarkdownNodeParser
from llama_index.core.schema import (
    BaseNode,
    ImageNode,
    IndexNode,
    MediaResource,
    MetadataMode,
    Node,
    NodeRelationship,
    RelatedNodeInfo,
    TextNode,
)
from llama_index.core.vector_stores.types import (
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryMode,
)

from pipeline import HopRank
from pipeline.errors import FilterError, InputError, QuestionError
from pipeline.serve.adapters.haystack import HopRankDocumentStore
from pipeline.serve.adapters.llamaindex import HopRankEmbedding, HopRankVectorStore
from tests.serve.adapters.test_llamaindex import StandIn, one

pytestmark = pytest.mark.slow


def source(id_: str) -> dict[NodeRelationship, Any]:
    return {NodeRelationship.SOURCE: RelatedNodeInfo(node_id=id_, metadata={"of": id_})}


SHIPS = [
    TextNode(
        id_="ada",
        text="Ada Miller wrote the log of the Curlew.",
        metadata={"year": 1898, "title": "The log", "tags": ["log", "100 %"], "loc": {"page": 3}},
        relationships=source("ships"),
    ),
    TextNode(
        id_="curlew",
        text="The Curlew was built by Otto Brandt in Skelda.",
        metadata={"year": 1890, "title": "A ship", "tags": ["yard", "log"], "rating": 4.5},
        relationships=source("ships"),
    ),
    TextNode(id_="moose", text="Moose live in the north.", metadata={"year": None}, relationships=source("animals")),
    TextNode(id_="elk", text="Elk are the moose of Europe.", metadata={"year": 1990, "start": "log", "rating": -1}),
]


@pytest.fixture
def empty(hoprank: HopRank, corpus_name: str) -> HopRankVectorStore:
    """An empty store."""
    return HopRankVectorStore(hoprank, corpus_name)


@pytest.fixture
def store(empty: HopRankVectorStore) -> HopRankVectorStore:
    """A store of four nodes."""
    assert empty.add(SHIPS) == ["ada", "curlew", "moose", "elk"]
    return empty


@pytest.fixture(scope="module")
def read_only(hoprank: HopRank, shared_corpus_name: str) -> HopRankVectorStore:
    """A store of four nodes, which tests only read."""
    kept = HopRankVectorStore(hoprank, shared_corpus_name)
    kept.add(SHIPS)
    return kept


def ids(nodes: list[BaseNode]) -> list[str]:
    return [node.node_id for node in nodes]


def found(store: HopRankVectorStore, text: str | None, k: int = 9, **options: Any) -> list[str]:
    return list(store.query(VectorStoreQuery(query_str=text, similarity_top_k=k, **options)).ids or [])


KEPT: list[BaseNode] = [
    TextNode(
        id_="möwe/海 %s \n",
        text="  Die Möwe sang 海の歌 👩🏽‍🔬:\n\n\n שלום, e\u0301t\u00e9.\t",
        metadata={"none": None, "big": 2**70, "no": [], "mixed": [1, "1", None, {"a": [True]}], "": {"": 0}},
        excluded_llm_metadata_keys=["big"],
        metadata_template="{key}={value}",
        start_char_idx=7,
        end_char_idx=19,
        relationships={
            NodeRelationship.SOURCE: RelatedNodeInfo(node_id="source", hash="h"),
            NodeRelationship.NEXT: RelatedNodeInfo(node_id="blank"),
            NodeRelationship.CHILD: [RelatedNodeInfo(node_id="blank"), RelatedNodeInfo(node_id="index")],
        },
    ),
    TextNode(id_="blank", text="", metadata={"hoprank": {"hoprank:date": "no date"}, "ref_doc_id": "own"}),
    TextNode(
        id_="dates",
        text="# A heading\n\nA text.\n",
        metadata={"at": datetime(2020, 1, 2, 3, 4, tzinfo=UTC), "on": [date(2020, 1, 2)], "title": 7},
    ),
    IndexNode(id_="index", text="An index of gulls.", index_id="gulls", extra_info={"a": 1}),
    ImageNode(id_="image", image="aGVsbG8=", metadata={"a": "b"}),
    Node(id_="node", text_resource=MediaResource(text="A node of media."), extra_info={"a": 1.5}),
]


def test_nodes_come_back_as_they_went_in(empty: HopRankVectorStore) -> None:
    assert empty.add(KEPT) == ids(KEPT)

    nodes = empty.get_nodes(ids(KEPT))

    assert [repr(node.model_dump()) for node in nodes] == [repr(node.model_dump()) for node in KEPT]
    assert [type(node) for node in nodes] == [type(node) for node in KEPT]
    assert set(found(empty, "Which gull sang?")) >= {KEPT[0].node_id, "index", "node"}
    assert sorted(ids(empty.get_nodes())) == sorted(ids(KEPT))


def test_a_node_of_the_same_id_replaces_the_one_before(store: HopRankVectorStore) -> None:
    twice = [TextNode(id_="elk", text="An otter."), TextNode(id_="elk", text="A heron.", embedding=[1.0, 2.0])]

    assert store.add(twice) == ["elk", "elk"]
    assert store.add([]) == []

    (elk,) = store.get_nodes(["elk"])
    assert elk.get_content(MetadataMode.NONE) == "A heron."
    assert elk.embedding is None
    assert elk.metadata == {}
    assert len(store.get_nodes()) == 4
    assert found(store, "heron", k=1) == ["elk"]


def test_nodes_are_deleted_by_document_id_and_filter(store: HopRankVectorStore) -> None:
    store.delete("nothing")
    store.delete("ada")  # the id of a node, not of a document
    store.delete_nodes(["nothing"])
    store.delete_nodes([])
    assert len(store.get_nodes()) == 4

    store.delete_nodes(["ada", "elk"], one("year", "<", 1900))
    assert sorted(ids(store.get_nodes())) == ["curlew", "elk", "moose"]
    store.delete("ships")
    assert sorted(ids(store.get_nodes())) == ["elk", "moose"]
    store.delete_nodes(filters=one("year", "==", 1990))
    assert ids(store.get_nodes()) == ["moose"]
    with pytest.raises(InputError, match=r"clear\(\)"):
        store.delete_nodes()
    store.clear()
    assert store.get_nodes() == []
    assert found(store, "moose") == []
    store.add(SHIPS[:1])
    assert found(store, "moose") == ["ada"]


def test_an_empty_store_has_nothing_to_find_or_delete(empty: HopRankVectorStore) -> None:
    empty.delete("x")
    empty.delete_nodes(["x"])
    empty.clear()

    assert empty.get_nodes() == empty.get_nodes(["x"]) == []
    assert found(empty, "x") == []


def test_a_query_gives_nodes_scores_and_ids(read_only: HopRankVectorStore) -> None:
    question = "Who built the ship whose log Ada Miller wrote?"

    result = read_only.query(VectorStoreQuery(query_str=question, similarity_top_k=3))

    assert result.nodes is not None
    assert result.similarities is not None
    assert {*ids(list(result.nodes[:2]))} == {"ada", "curlew"}
    assert all(node in SHIPS for node in result.nodes)
    assert result.ids == ids(list(result.nodes))
    assert len(result.similarities) == 3
    assert result.similarities == sorted(result.similarities, reverse=True)


def test_modes_vectors_and_ids(read_only: HopRankVectorStore, hoprank: HopRank) -> None:
    vector = [float(value) for value in hoprank.embedder.embed_query("elk in the north")]
    mode = VectorStoreQueryMode

    assert (
        found(read_only, "Skelda", mode=mode.TEXT_SEARCH) == found(read_only, "Skelda", mode=mode.SPARSE) == ["curlew"]
    )
    assert found(read_only, "Skelda", mode=mode.HYBRID)[0] == "curlew"
    assert {*found(read_only, None, k=2, query_embedding=vector)} == {"moose", "elk"}
    assert {*found(read_only, "Curlew", doc_ids=["ships"])} == {"ada", "curlew"}
    assert {*found(read_only, "Curlew", node_ids=["ada", "elk"], filters=one("year", ">", 1))} == {"ada", "elk"}
    with pytest.raises(InputError, match="no mode 'mmr'"):
        found(read_only, "Curlew", mode=mode.MMR)
    with pytest.raises(QuestionError):
        found(read_only, "")
    with pytest.raises(QuestionError, match="2"):
        found(read_only, "Curlew", query_embedding=[1.0, 0.0])


def test_what_is_awaited_equals_what_is_not(empty: HopRankVectorStore) -> None:
    query = VectorStoreQuery(query_str="Who built the Curlew?", similarity_top_k=9, filters=one("year", ">", 1))

    async def all_of_it() -> None:
        assert await empty.async_add(SHIPS) == ids(SHIPS)  # type: ignore[arg-type]
        assert await empty.aquery(query) == empty.query(query)
        assert await empty.aget_nodes(["elk"]) == empty.get_nodes(["elk"])
        assert await empty.aget_nodes(filters=one("year", "<", 1895)) == SHIPS[1:2]
        await empty.adelete_nodes(filters=one("year", "==", 1990))
        assert sorted(ids(empty.get_nodes())) == ["ada", "curlew", "moose"]
        await empty.adelete("animals")
        assert sorted(ids(empty.get_nodes())) == ["ada", "curlew"]
        await empty.aclear()
        assert empty.get_nodes() == []

    asyncio.run(all_of_it())


def test_stores_of_one_corpus_share_their_documents(store: HopRankVectorStore, hoprank: HopRank) -> None:
    other, third = HopRankVectorStore(hoprank, store.corpus), HopRankDocumentStore(store.corpus, hoprank=hoprank)
    hoprank.add([{"id": "file", "text": "A whale swims.\n\nA seal sleeps.", "metadata": {"year": 1990}}], store.corpus)

    other.add([TextNode(id_="ada", text="Ada Miller wrote of whales.")])
    other.delete("animals")

    assert ids(store.get_nodes()) == ["ada", "curlew", "elk", "file"]
    assert ids(store.get_nodes(filters=one("year", "==", 1990))) == ["elk", "file"]
    assert [one.id for one in third.filter_documents()] == ["ada", "curlew", "elk", "file"]
    assert third.filter_documents()[0].content == "Ada Miller wrote of whales."
    result = store.query(VectorStoreQuery(query_str="whale", similarity_top_k=9))
    (whale,) = [node for node in result.nodes or [] if node.ref_doc_id == "file"]
    assert whale.get_content(MetadataMode.NONE) == "A whale swims.\n\nA seal sleeps."
    assert whale.metadata["year"] == 1990


MODEL: dict[str, Callable[[Any, Any], bool]] = {
    "==": lambda have, want: have == want or (isinstance(have, list) and want in have),
    "!=": lambda have, want: want not in have if isinstance(have, list) else have != want,
    "<": lambda have, want: not isinstance(have, list | str) and have < want,
    "<=": lambda have, want: not isinstance(have, list | str) and have <= want,
    ">": lambda have, want: not isinstance(have, list | str) and have > want,
    ">=": lambda have, want: not isinstance(have, list | str) and have >= want,
    "in": lambda have, want: bool({*have} & {*want}) if isinstance(have, list) else have in want,
    "nin": lambda have, want: not {*have} & {*want} if isinstance(have, list) else have not in want,
    "any": lambda have, want: bool({*have} & {*want}) if isinstance(have, list) else have in want,
    "all": lambda have, want: {*have} >= {*want} if isinstance(have, list) else all(have == part for part in want),
    "contains": lambda have, want: want in have if isinstance(have, list) else have == want,
    "text_match": lambda have, want: any(want in x for x in listed(have)),
    "text_match_insensitive": lambda have, want: any(want.lower() in x.lower() for x in listed(have)),
}
"""What the operators mean of a value that a node has; lists as in HopRank."""


def listed(value: Any) -> list[str]:
    return [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)]


NUMBERS = st.sampled_from([1890, 1898, 1990, 4.5, -1])
TEXTS = st.sampled_from(["log", "yard", "The log", "LOG", "100 %", "%", "nothing"])
ORDERED, EQUAL, LISTED, TEXT = (
    ("<", "<=", ">", ">="),
    ("==", "!=", "contains"),
    ("in", "nin", "any", "all"),
    ("text_match",),
)
KEYS = st.sampled_from(["year", "title", "tags", "rating", "start", "none"])


def comparison(operators: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[MetadataFilter]:
    return st.builds(
        lambda key, operator, value: MetadataFilter(key=key, operator=FilterOperator(operator), value=value),
        *(KEYS, st.sampled_from(operators), values),
    )


COMPARISONS = st.one_of(
    comparison(ORDERED, NUMBERS),
    comparison(EQUAL, NUMBERS | TEXTS),
    comparison(LISTED, st.lists(TEXTS, min_size=1, max_size=3)),
    comparison((*TEXT, "text_match_insensitive"), TEXTS),
)
ANY = st.recursive(
    st.builds(lambda part: MetadataFilters(filters=[part]), COMPARISONS),
    lambda parts: st.builds(
        lambda filters, condition: MetadataFilters(filters=filters, condition=condition),
        *(st.lists(parts, max_size=3), st.sampled_from([FilterCondition.AND, FilterCondition.OR])),
    ),
    max_leaves=4,
)


def meets(node: BaseNode, part: MetadataFilter | MetadataFilters) -> bool:
    """Whether a node meets a filter, by the model."""
    if isinstance(part, MetadataFilter):
        value = node.metadata.get(part.key)
        return value is not None and MODEL[part.operator.value](value, part.value)
    results = [meets(node, one) for one in part.filters]
    return not results or (all(results) if part.condition == FilterCondition.AND else any(results))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(ANY)
def test_filters_mean_what_the_model_says(read_only: HopRankVectorStore, filters: MetadataFilters) -> None:
    expected = sorted(node.node_id for node in SHIPS if meets(node, filters))

    assert ids(read_only.get_nodes(filters=filters)) == expected
    assert sorted(found(read_only, "the moose of the Curlew", filters=filters)) == expected


def test_not_is_that_no_filter_holds(read_only: HopRankVectorStore) -> None:
    filters = MetadataFilters(
        filters=[one("year", "==", 1890), one("title", "==", "The log")], condition=FilterCondition.NOT
    )

    assert ids(read_only.get_nodes(filters=filters)) == []
    assert ids(
        read_only.get_nodes(filters=MetadataFilters(filters=filters.filters[:1], condition=FilterCondition.NOT))
    ) == [
        "ada",
        "elk",
    ]


@pytest.mark.parametrize(
    "filters",
    [
        one("year", "is_empty", None),
        one("year", "==", None),
        one("tags", "all", "log"),
        one("tags", "in", "log"),
        MetadataFilters(filters=[one("year", ">", 1)], condition=FilterCondition.NOT),
        MetadataFilters(filters=[MetadataFilters(filters=[])], condition=FilterCondition.NOT),
    ],
)
def test_filters_that_hoprank_lacks_are_refused(read_only: HopRankVectorStore, filters: MetadataFilters) -> None:
    with pytest.raises(FilterError):
        found(read_only, "moose", filters=filters)
    with pytest.raises(FilterError):
        read_only.get_nodes(filters=filters)
    with pytest.raises(FilterError):
        read_only.delete_nodes(filters=filters)


def test_an_index_over_a_store_answers(store: HopRankVectorStore, hoprank: HopRank) -> None:
    index = VectorStoreIndex.from_vector_store(store, embed_model=HopRankEmbedding(hoprank))
    retriever = index.as_retriever(similarity_top_k=2)

    nodes = retriever.retrieve("Who built the Curlew?")
    awaited = asyncio.run(retriever.aretrieve("Who built the Curlew?"))
    engine = index.as_query_engine(llm=StandIn(), similarity_top_k=2)

    assert nodes[0].node == SHIPS[1]
    assert nodes[0].score is not None
    assert awaited == nodes
    assert engine.query("Who built the Curlew?").source_nodes == nodes
    index.insert_nodes([TextNode(id_="otter", text="Otters swim.")])
    assert index.as_retriever(similarity_top_k=1).retrieve("otter")[0].node.node_id == "otter"
    index.delete_nodes(["otter"])
    index.delete_ref_doc("ships")
    assert sorted(ids(store.get_nodes())) == ["elk", "moose"]


def test_an_index_fills_a_store(empty: HopRankVectorStore, hoprank: HopRank) -> None:
    text = "\n\n".join(f"# Gull {n}\n\nThe gull {n} was seen at the lake." for n in range(3))
    context = StorageContext.from_defaults(vector_store=empty)
    parser = MarkdownNodeParser()

    VectorStoreIndex.from_documents(
        [LlamaDocument(id_=id_, text=text) for id_ in "ab"],
        storage_context=context,
        transformations=[parser],
        embed_model=MockEmbedding(embed_dim=1),
    )
    nodes = empty.get_nodes()
    IngestionPipeline(transformations=[parser, HopRankEmbedding(hoprank)], vector_store=empty).run(
        documents=[LlamaDocument(id_="heron", text="# Herons\n\nOne heron was seen.")]
    )

    assert len(nodes) == 6
    assert {node.ref_doc_id for node in nodes} == {"a", "b"}
    assert {node.next_node.node_id for node in nodes if node.next_node} < {*ids(nodes)}
    assert [node.ref_doc_id for node in empty.get_nodes(found(empty, "heron", k=1))] == ["heron"]


def test_the_embedding_is_hoprank_s(hoprank: HopRank) -> None:
    model = HopRankEmbedding(hoprank)

    texts = model.get_text_embedding_batch(["moose", "elk"])

    assert model.get_text_embedding("moose") == pytest.approx(texts[0], abs=1e-5)
    assert asyncio.run(model.aget_query_embedding("moose")) == model.get_query_embedding("moose")
    assert model.similarity(texts[0], texts[1]) > model.similarity(texts[0], model.get_text_embedding("tax"))
    assert sum(value * value for value in texts[0]) == pytest.approx(1, abs=1e-4)
