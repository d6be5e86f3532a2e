"""Corpora on the live server: named, found, dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable
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
from pipeline.db.lease import lease
from pipeline.db.slots import take_slot
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


def test_the_only_corpus_is_meant_where_none_is_named_and_of_several_the_default_one(
    client: Client, library: str, corpus_name: str, create: Create, cypher: Cypher
) -> None:
    create(corpus_name)  # whose first ingest isn't complete

    assert corpus_or_only(client, "another") == "another"
    assert corpus_or_only(client, None, {library, corpus_name}.__contains__) == library
    assert corpus_or_only(client, None, {corpus_name}.__contains__) == "default"
    cypher("MATCH (corpus:HopRankCorpus {name: $name}) SET corpus.generation = 1", name=corpus_name)
    assert corpus_or_only(client, None, {library, corpus_name}.__contains__) == "default"


def test_an_unknown_name_suggests_the_nearest(client: Client, corpus_name: str, create: Create) -> None:
    create(corpus_name)

    with pytest.raises(CorpusError, match="There is no corpus") as caught:
        get_corpus(client, corpus_name[:-1])

    assert repr(corpus_name[:-1]) in caught.value.message
    assert "Did you mean" in caught.value.fix
    with pytest.raises(CorpusError) as unlike:
        get_corpus(client, "Ω" * 50)
    assert corpus_name in unlike.value.fix
    assert find_corpus(client, corpus_name[:-1]) is None


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


def test_a_drop_that_was_cut_short_is_completed_by_the_next_maker(
    client: Client,
    cypher: Cypher,
    corpus_name: str,
    create: Create,
    new_corpus: NewCorpus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus = create(corpus_name)
    slot = take_slot(client, corpus.id, "english")
    cypher("CREATE (:HopRankDocument {id: $id, corpus: $id})", id=corpus.id)

    def cut_short(client: Client, owner: str) -> None:
        raise ServerLost("went away")

    monkeypatch.setattr("pipeline.db.catalogue.retire_slot", cut_short)
    with pytest.raises(ServerLost), lease(CorpusHandle(client, corpus)):
        drop_corpus(client, corpus)
    monkeypatch.undo()

    assert find_corpus(client, corpus_name) is None
    with new_corpus() as other:
        create(other)
    assert not cypher("MATCH (n) WHERE n.id = $id RETURN n", id=corpus.id)
    (row,) = cypher("MATCH (t:HopRankTexts {label: $label}) RETURN t.retired AS retired", label=slot.texts)
    assert slot.number in row["retired"]
