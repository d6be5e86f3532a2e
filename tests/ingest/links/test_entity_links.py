"""Entity links of an update: only the edges that change are written, and entities keep their usual spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import neo4j
import numpy as np
import pytest

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.edges import EdgeKind
from pipeline.flows.ingest import write_generation
from pipeline.ingest.embed import PreparedChunk, PreparedDocument
from pipeline.ingest.links.entity_links import no_vectors
from pipeline.ingest.update.stored import stored_documents
from pipeline.ingest.update.write_session import WriteSession, writing
from pipeline.progress import Progress
from pipeline.records import Chunk, Document, Edge, WrittenLink
from pipeline.settings import load_settings
from tests.plain_corpora import plain_corpus

Texts = Mapping[str, tuple[str, str, tuple[str, ...]]]
"""Title, text and hyperlinks of documents, by key; each is one chunk."""

Edges = set[tuple[str, str, str]]

BY_NAME = {EdgeKind.MENTIONS, EdgeKind.REFERS_TO, EdgeKind.LINKS_TO}


class Notes:
    """A corpus of notes, and the edges that the last update wrote and took away."""

    def __init__(self, client: Client, name: str, patch: pytest.MonkeyPatch) -> None:
        self._client = client
        self._name = name
        plain_corpus(client, name, dimension=2)
        self._stage, self._retire = WriteSession.stage_edges, WriteSession.retire_edges
        patch.setattr(WriteSession, "stage_edges", lambda session, *given: self._note_staged(session, *given))
        patch.setattr(WriteSession, "retire_edges", lambda session, keys: self._note_retired(session, keys))

    @property
    def corpus(self) -> CorpusHandle:
        return open_corpus(self._client, self._name)

    def write(self, texts: Texts, removed: Iterable[str] = ()) -> None:
        self.staged: Edges = set()
        self.retired: Edges = set()
        corpus = self.corpus
        batch = [self._prepared(corpus.id, key, *text) for key, text in texts.items()]
        with writing(corpus) as session:
            stored = stored_documents(corpus)
            settings = load_settings().link
            write_generation(session, [batch], stored, frozenset(removed), settings, no_vectors, Progress())

    def _prepared(self, corpus: str, key: str, title: str, text: str, links: tuple[str, ...]) -> PreparedDocument:
        # The text is part of a chunk's id, as it is when documents are chunked.
        chunk = Chunk(f"{corpus}:{key}:{text}", key, 0, text, title, "", 0, len(text), 1, 1, 1)
        vector = np.array([1, 0], dtype=np.float32)
        return PreparedDocument(
            Document(key, title, text), (PreparedChunk(chunk, vector, tuple(map(WrittenLink, links)), text),)
        )

    def _note_staged(self, session: WriteSession, edges: Iterable[Edge], done: Callable[[int], None]) -> None:
        edges = list(edges)
        self.staged |= {self._key(*edge.key) for edge in edges if edge.kind in BY_NAME}
        self._stage(session, edges, done)

    def _note_retired(self, session: WriteSession, keys: Iterable[tuple[str, str, str]]) -> None:
        keys = list(keys)
        self.retired |= {self._key(*key) for key in keys if EdgeKind(key[0]) in BY_NAME}
        self._retire(session, keys)

    @staticmethod
    def _key(kind: str, source: str, target: str) -> tuple[str, str, str]:
        return str(kind), source.split(":")[1], target


@pytest.fixture
def notes(client: Client, corpus_name: str, monkeypatch: pytest.MonkeyPatch) -> Notes:
    return Notes(client, corpus_name, monkeypatch)


@pytest.fixture
def names(cypher: Callable[..., list[neo4j.Record]], notes: Notes) -> Callable[[], dict[str, str]]:
    """Return the corpus's entities: their names by their keys."""

    def read() -> dict[str, Any]:
        rows = cypher("MATCH (e:HopRankEntity {corpus: $id}) RETURN e.key AS key, e.name AS name", id=notes.corpus.id)
        return {row["key"]: row["name"] for row in rows}

    return read


TURIN = {"a": ("Ada", "Ada Lovelace went to Turin.", ()), "b": ("Ben", "Ben Nevis is high.", ())}


def sources(edges: Edges, kind: EdgeKind) -> set[str]:
    return {source for edge_kind, source, _ in edges if edge_kind == kind.value}


def test_the_same_chunks_again_write_no_edge(notes: Notes) -> None:
    notes.write(TURIN)
    assert sources(notes.staged, EdgeKind.MENTIONS) == {"a", "b"}

    notes.write(TURIN)

    assert not notes.staged
    assert not notes.retired


def test_a_new_title_links_the_chunks_that_name_it_and_no_others(notes: Notes) -> None:
    notes.write(TURIN)

    notes.write({"c": ("Turin", "A town by a river.", ())})

    assert sources(notes.staged, EdgeKind.REFERS_TO) == {"a"}
    assert "b" not in {source for _, source, _ in notes.staged | notes.retired}


def test_a_hyperlink_finds_its_document_once_it_comes_and_loses_it_when_it_goes(notes: Notes) -> None:
    notes.write({"a.md": ("A", "see there", ("b.md",))})
    assert not sources(notes.staged, EdgeKind.LINKS_TO)

    notes.write({"b.md": ("B", "here", ())})
    assert sources(notes.staged, EdgeKind.LINKS_TO) == {"a.md"}

    notes.write({}, removed=["b.md"])
    assert sources(notes.retired, EdgeKind.LINKS_TO) == {"a.md"}


def test_an_entity_has_its_most_frequent_spelling_and_goes_with_its_last_mention(
    notes: Notes, names: Callable[[], dict[str, str]]
) -> None:
    notes.write({"a": ("x", "It was launched by NASA.", ())})
    assert names()["nasa"] == "NASA"

    notes.write({"b": ("y", "At Nasa and Nasa again, Nasa said.", ())})
    assert names()["nasa"] == "Nasa"

    notes.write({}, removed=["a", "b"])
    assert "nasa" not in names()
    assert notes.corpus.record.entities == 0


def test_counts_of_entities_follow_every_update(notes: Notes, names: Callable[[], dict[str, str]]) -> None:
    for texts, removed in ((TURIN, ()), ({"c": ("Cy", "Cy Young saw Turin.", ())}, ("b",)), ({}, ("a",))):
        notes.write(texts, removed)

        assert notes.corpus.record.entities == len(names())
