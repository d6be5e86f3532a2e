"""Corpora on the live server: named, found, dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import neo4j
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.db.catalogue import (
    Corpus,
    check_fingerprint,
    corpus_or_only,
    drop_corpus,
    find_corpus,
    get_corpus,
    list_corpora,
)
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import drop_indexes, ensure_schema, vector_index_name
from pipeline.db.lease import lease
from pipeline.errors import CorpusError, FingerprintError, InputError, ServerLost

Cypher = Callable[..., list[neo4j.Record]]
Create = Callable[..., Corpus]
NewCorpus = Callable[[], Any]


def test_a_corpus_is_found_as_it_was_made(client: Client, corpus_name: str, create: Create) -> None:
    made = create(corpus_name)

    assert find_corpus(client, corpus_name) == get_corpus(client, corpus_name) == made
    assert made in list_corpora(client)
    assert (made.name, made.generation, made.staging, made.documents, made.chunks) == (corpus_name, 0, None, 0, 0)
    assert (made.fingerprint, made.dimension, made.chunker, made.analyzer) == ("model@1/8", 8, "plain", "english")


def test_a_name_that_is_taken_gives_the_corpus_that_has_it(corpus_name: str, create: Create) -> None:
    made = create(corpus_name)

    assert create(corpus_name, "other@2/8") == made


def test_two_that_make_it_at_once_get_one(corpus_name: str, create: Create) -> None:
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(create(corpus_name).id)) for _ in range(4)]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 4
    assert len(set(made)) == 1


def test_corpora_are_listed_by_name(client: Client, corpus_name: str, create: Create, new_corpus: NewCorpus) -> None:
    with new_corpus() as other:
        create(other)
        create(corpus_name)

        names = [corpus.name for corpus in list_corpora(client)]

    assert names == sorted(names)
    assert {other, corpus_name} <= set(names)


def test_the_only_corpus_is_meant_where_none_is_named(
    client: Client, library: str, corpus_name: str, create: Create
) -> None:
    create(corpus_name)  # whose first ingest isn't complete

    assert corpus_or_only(client, "another") == "another"
    assert corpus_or_only(client, None, {library, corpus_name}.__contains__) == library
    assert corpus_or_only(client, None, {corpus_name}.__contains__) == "default"


def test_of_several_corpora_the_default_one_is_meant(
    client: Client, library: str, new_corpus: NewCorpus, create: Create, cypher: Cypher
) -> None:
    with new_corpus() as other:
        create(other)
        cypher("MATCH (corpus:HopRankCorpus {name: $name}) SET corpus.generation = 1", name=other)

        assert corpus_or_only(client, None, {library, other}.__contains__) == "default"


def test_an_unknown_name_suggests_the_nearest(client: Client, corpus_name: str, create: Create) -> None:
    create(corpus_name)

    with pytest.raises(CorpusError, match="There is no corpus") as caught:
        get_corpus(client, corpus_name[:-1])

    assert repr(corpus_name[:-1]) in caught.value.message
    assert "Did you mean" in caught.value.fix
    assert find_corpus(client, corpus_name[:-1]) is None


def test_an_unknown_name_like_none_lists_what_there_is(client: Client, corpus_name: str, create: Create) -> None:
    create(corpus_name)

    with pytest.raises(CorpusError) as caught:
        get_corpus(client, "Ω" * 50)

    assert corpus_name in caught.value.fix


@pytest.mark.parametrize("name", ["", "  ", "\n", "x" * 201])
def test_a_name_of_nothing_or_too_much_is_refused(create: Create, name: str) -> None:
    with pytest.raises(InputError, match="can't be named") as caught:
        create(name)
    assert "200" in caught.value.fix


@pytest.mark.slow
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=30).filter(lambda text: bool(text.strip())))
def test_any_other_name_is_a_name(client: Client, cypher: Cypher, create: Create, name: str) -> None:
    known = find_corpus(client, name)
    made = create(name)
    try:
        assert get_corpus(client, name).id == made.id
        assert [
            row["name"] for row in cypher("MATCH (c:HopRankCorpus {id: $id}) RETURN c.name AS name", id=made.id)
        ] == [name]
    finally:
        if known is None:
            drop_corpus(client, made)


def test_a_model_or_a_chunker_that_is_another_is_refused(corpus_name: str, create: Create) -> None:
    corpus = create(corpus_name)

    check_fingerprint(corpus, "model@1/8", "plain")
    with pytest.raises(FingerprintError, match=r"model@1/8, not with model@2/8") as caught:
        check_fingerprint(corpus, "model@2/8", "plain")
    assert "embed.model" in caught.value.fix
    with pytest.raises(FingerprintError, match="chunked by plain, not by fancy") as caught:
        check_fingerprint(corpus, "model@1/8", "fancy")
    assert "chunk.max_tokens" in caught.value.fix


def test_dropping_is_repeatable_and_takes_the_corpus_alone(
    client: Client, corpus_name: str, create: Create, new_corpus: NewCorpus
) -> None:
    corpus = create(corpus_name)
    with new_corpus() as other:
        create(other)

        drop_corpus(client, corpus)
        drop_corpus(client, corpus)

        assert find_corpus(client, corpus_name) is None
        assert find_corpus(client, other) is not None


def vector_indexes(cypher: Cypher, name: str) -> list[str]:
    rows = cypher("SHOW VECTOR INDEXES YIELD name, state WHERE name = $name RETURN state", name=name)
    return [row["state"] for row in rows]


@pytest.mark.slow
def test_a_corpus_that_is_made_while_the_last_of_its_model_goes_keeps_its_vectors_index(
    client: Client,
    cypher: Cypher,
    corpus_name: str,
    create: Create,
    new_corpus: NewCorpus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fingerprint = f"{corpus_name}@1/8"
    going = create(corpus_name, fingerprint)
    ensure_schema(client, going.id, fingerprint, 8, "english")
    with new_corpus() as other:

        def make() -> None:
            ensure_schema(client, create(other, fingerprint).id, fingerprint, 8, "english")

        maker = threading.Thread(target=make)

        def make_meanwhile(client: Client, names: list[str]) -> None:
            if going.vector_index in names:
                maker.start()
                maker.join(0.5)
            drop_indexes(client, names)

        monkeypatch.setattr("pipeline.db.catalogue.drop_indexes", make_meanwhile)
        with lease(CorpusHandle(client, going)):
            drop_corpus(client, going)
        maker.join()
        monkeypatch.undo()

        assert vector_indexes(cypher, going.vector_index) == ["ONLINE"]
        drop_corpus(client, get_corpus(client, other))
    assert vector_indexes(cypher, going.vector_index) == []


@pytest.mark.slow
def test_makers_and_droppers_of_one_model_never_lose_its_index(
    client: Client, cypher: Cypher, corpus_name: str, create: Create
) -> None:
    fingerprint = f"{corpus_name}@1/8"
    states: list[list[str]] = []

    def make_and_drop(number: int) -> None:
        for turn in range(4):
            corpus = create(f"{corpus_name}-{number}-{turn}", fingerprint)
            with lease(CorpusHandle(client, corpus)):
                ensure_schema(client, corpus.id, fingerprint, 8, "english")
                states.append(vector_indexes(cypher, corpus.vector_index))
                drop_corpus(client, corpus)

    with ThreadPoolExecutor(4) as pool:
        for made in [pool.submit(make_and_drop, number) for number in range(4)]:
            made.result()

    assert states == [["ONLINE"]] * 16
    assert vector_indexes(cypher, vector_index_name(fingerprint)) == []


def test_a_drop_that_was_cut_short_is_completed_by_the_next_maker(
    client: Client,
    cypher: Cypher,
    corpus_name: str,
    create: Create,
    new_corpus: NewCorpus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = create(corpus_name)
    ensure_schema(client, corpus.id, corpus.fingerprint, 8, "english")
    cypher("CREATE (:HopRankDocument {id: $id, corpus: $id})", id=corpus.id)

    def cut_short(client: Client, names: list[str]) -> None:
        raise ServerLost("went away")

    monkeypatch.setattr("pipeline.db.catalogue.drop_indexes", cut_short)
    with pytest.raises(ServerLost), lease(CorpusHandle(client, corpus)):
        drop_corpus(client, corpus)
    monkeypatch.undo()

    assert find_corpus(client, corpus_name) is None
    with new_corpus() as other:
        create(other)
    assert not cypher("MATCH (n) WHERE n.id = $id RETURN n", id=corpus.id)
    assert not cypher("SHOW INDEXES YIELD name WHERE name = $name RETURN name", name=corpus.label)
