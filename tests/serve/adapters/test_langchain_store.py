"""The vector store for LangChain: the framework's own conformance tests, and what HopRank adds to them."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import EmbeddingsIntegrationTests, VectorStoreIntegrationTests

from pipeline import HopRank
from pipeline.errors import FilterError, InputError
from pipeline.serve.adapters.langchain import HopRankEmbeddings, HopRankVectorStore

pytestmark = [pytest.mark.slow, pytest.mark.anyio]

SHIPS = [
    Document("Ada Miller wrote the log of the Curlew.", metadata={"year": 1898, "loc": {"page": 3}}, id="ada"),
    Document("The Curlew was built by Otto Brandt in Skelda.", metadata={"year": 1890, "tags": ["yard"]}, id="curlew"),
    Document("Moose live in the north.", metadata={"year": 1990}, id="moose"),
]


@pytest.fixture
def vectorstore(hoprank: HopRank, corpus_name: str) -> VectorStore:
    """An empty store."""
    return HopRankVectorStore(hoprank, corpus_name)


@pytest.fixture
def store(vectorstore: HopRankVectorStore) -> HopRankVectorStore:
    """A store of three documents."""
    assert vectorstore.add_documents(SHIPS) == ["ada", "curlew", "moose"]
    return vectorstore


class TestConformance(VectorStoreIntegrationTests):
    """LangChain's own tests of vector stores."""

    @pytest.fixture
    def vectorstore(self, vectorstore: VectorStore) -> VectorStore:
        return vectorstore


class TestEmbeddings(EmbeddingsIntegrationTests):
    """LangChain's own tests of embeddings, which make them without arguments."""

    @property
    def embeddings_class(self) -> type[HopRankEmbeddings]:
        return HopRankEmbeddings

    @pytest.fixture
    def model(self, hoprank: HopRank) -> HopRankEmbeddings:
        return HopRankEmbeddings(hoprank)


def test_a_question_follows_names_and_keeps_to_a_filter(store: HopRankVectorStore) -> None:
    question = "Who built the ship whose log Ada Miller wrote?"

    best = store.similarity_search(question, k=2)
    old = store.similarity_search(question, filter={"year": {"$lt": 1895}})

    assert {document.id for document in best} == {"ada", "curlew"}
    assert [document.id for document in old] == ["curlew"]
    assert old[0].metadata == {"year": 1890, "tags": ["yard"]}
    assert store.get_by_ids(["ada"])[0].metadata == {"year": 1898, "loc.page": 3}
    with pytest.raises(FilterError):
        store.similarity_search(question, filter={"year": {"$gtt": 1}})


def test_scores_vectors_and_variety(store: HopRankVectorStore) -> None:
    vector = store.embeddings.embed_query("elk in the north")

    scored = store.similarity_search_with_score("moose", k=3)
    relevant = store.similarity_search_with_relevance_scores("Who built the Curlew?", k=3)
    varied = store.max_marginal_relevance_search("Who built the Curlew?", k=2, fetch_k=3, lambda_mult=0.1)

    assert store.similarity_search_by_vector(vector, k=1)[0].id == "moose"
    assert [score for _, score in scored] == sorted((score for _, score in scored), reverse=True)
    assert relevant[0][0].id == "curlew"
    assert all(0 <= score <= 1 for _, score in relevant)
    assert [document.id for document in varied] in (["curlew", "ada"], ["curlew", "moose"])
    assert [document.id for document in store.as_retriever(search_kwargs={"k": 1}).invoke("moose")] == ["moose"]


def test_texts_without_ids_get_those_of_their_content(vectorstore: HopRankVectorStore, hoprank: HopRank) -> None:
    def add(*texts: str, **options: Any) -> HopRankVectorStore:
        return HopRankVectorStore.from_texts(list(texts), hoprank=hoprank, corpus=vectorstore.corpus, **options)

    first = add("An otter swims.", "A moose walks.")
    again = add("An otter swims.", "An otter swims.", embedding=HopRankEmbeddings(hoprank))

    assert len(first.similarity_search("animal", k=9)) == len(again.similarity_search("animal", k=9)) == 2
    assert len(first.add_texts(["x y", "x y"], [{"a": 1}, {"a": 2}])) == 2
    assert first.max_marginal_relevance_search("z", filter={"a": 3}) == []
    with pytest.raises(InputError, match="DeterministicFakeEmbedding"):
        add("x", embedding=DeterministicFakeEmbedding(size=6))
    with pytest.raises(InputError, match="has no connection"):
        HopRankVectorStore.from_texts(["x"])


def test_deleting_needs_ids_and_passes_over_those_that_are_not_there(store: HopRankVectorStore) -> None:
    with pytest.raises(InputError, match=f"hoprank drop {store.corpus}"):
        store.delete()

    assert store.delete(["moose", "nothing"])

    assert [document.id for document in store.get_by_ids(["moose", "ada", "nothing"])] == ["ada"]


def test_a_long_text_comes_as_passages_and_whole_by_its_id(vectorstore: HopRankVectorStore) -> None:
    animals = ("heron", "otter")
    text = "\n\n".join(f"## The {animal}\n\n{f'One {animal} was seen at the lake. ' * 18}" for animal in animals)
    vectorstore.add_texts([text], [{"title": "Animals"}], ids=["animals"])

    best = vectorstore.similarity_search("otter", k=1)[0]

    assert "otter" in best.page_content
    assert len(best.page_content) < len(text)
    assert (best.id, best.metadata) == ("animals", {"title": "Animals"})
    assert {"heron", "otter"} <= set(vectorstore.get_by_ids(["animals"])[0].page_content.split())
