"""A vault in its corpus: notes with their fields, links with their sentences, and nothing written twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.queries import load_queries
from pipeline.domains.vault.api import Vault, VaultSync
from pipeline.domains.vault.note import ANY, Scope
from pipeline.domains.vault.stored import NoteGraph, read_graph
from pipeline.errors import SourceError
from pipeline.ids import digest
from pipeline.ingest.embed import stored_sentences
from pipeline.ingest.sources.watch import changes
from pipeline.records import Vector

Files = Mapping[str, str | bytes]
Sync = Callable[..., VaultSync]

VAULT: Files = {
    "Tide.md": "---\ndescription: Why the sea rises and falls.\n---\n"
    "The pull of the [[Moon]] lifts the water twice a day.\n",
    "Moon.md": "The moon is a rock. It moves the [[tide]], and so it is in [[Nowhere]].\n\n- orbits:: [[Earth]]\n",
    "Earth.md": "",
    "Self.md": "See [[Self]] and [[#A heading]].\n\n# A heading\n\nText.\n",
}


@pytest.fixture
def sync(hoprank: HopRank, corpus_name: str, write: Callable[[Files], Path]) -> Sync:
    """Write files, and sync the folder into a corpus that is dropped afterwards."""
    return lambda files, scope=ANY, **options: Vault(hoprank, corpus_name, *scope).sync(write(files), **options)


@pytest.fixture
def graph(hoprank: HopRank, corpus_name: str) -> Callable[[], NoteGraph]:
    """Read the vault."""
    return lambda: read_graph(hoprank.retriever(corpus_name).corpus)


@pytest.mark.slow
def test_notes_and_links_are_those_of_the_folder(sync: Sync, graph: Callable[[], NoteGraph]) -> None:
    done = sync(VAULT, scope=Scope("ada"))
    vault = graph()

    assert (done.links.written, done.links.resolved, done.links.unresolved) == (6, 5, 1)
    assert set(vault.notes) == {"Earth.md", "Moon.md", "Self.md", "Tide.md"}
    by_ends = {(link.source, link.target): link for link in vault.links}
    assert set(by_ends) == {("Tide.md", "Moon.md"), ("Moon.md", "Tide.md"), ("Moon.md", "Earth.md")}
    assert by_ends["Tide.md", "Moon.md"].contexts == ("The pull of the Moon lifts the water twice a day.",)
    assert by_ends["Moon.md", "Earth.md"].relations == ("orbits",)
    assert vault.notes["Moon.md"].unresolved == ("Nowhere",)
    assert vault.notes["Tide.md"].description == "Why the sea rises and falls."
    assert {note.scope for note in vault.notes.values()} == {Scope("ada")}


@pytest.mark.slow
def test_a_description_is_a_passage_of_its_own(sync: Sync, hoprank: HopRank, corpus_name: str) -> None:
    sync(VAULT)

    first = hoprank.search("Why does the sea rise?", corpus=corpus_name, leg="vector", top_k=1).hits[0]

    assert (first.document, first.text, first.heading) == ("Tide.md", "Why the sea rises and falls.", "")
    assert first.line_start == 2


@pytest.mark.slow
def test_each_sentence_around_a_link_has_a_vector(
    sync: Sync, cypher: Callable[..., list[neo4j.Record]], hoprank: HopRank, corpus_name: str
) -> None:
    sync(VAULT)
    label = get_corpus(hoprank.client, corpus_name).label

    links = cypher(
        f"MATCH (:{label})-[r:LINKS_TO]->() RETURN r.context AS context, size(r.embedding) AS size ORDER BY context"
    )

    told = {row["context"]: row["size"] for row in links if row["context"]}
    assert told == {
        "It moves the tide, and so it is in Nowhere.": 384,
        "The pull of the Moon lifts the water twice a day.": 384,
    }


@pytest.mark.slow
def test_a_second_sync_embeds_and_writes_nothing(
    sync: Sync, hoprank: HopRank, corpus_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync(VAULT)
    before = get_corpus(hoprank.client, corpus_name)
    monkeypatch.setattr(hoprank.embedder, "encode", lambda *_, **__: pytest.fail("something was embedded"))

    again = sync(VAULT)  # which writes the same files again

    assert not again.synced.plan
    assert get_corpus(hoprank.client, corpus_name) == before


@pytest.fixture
def embedded(hoprank: HopRank, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The texts that were embedded, a list a batch."""
    made: list[list[str]] = []
    encode = hoprank.embedder.encode

    def spy(texts: Sequence[str], *rest: Any, **named: Any) -> Vector:
        made.append([*texts])
        return encode(texts, *rest, **named)

    monkeypatch.setattr(hoprank.embedder, "encode", spy)
    return made


def test_passages_and_the_sentences_around_links_are_embedded_in_one_batch(
    sync: Sync, embedded: list[list[str]], corpus_name: str
) -> None:
    # Vectors are reused as long as a corpus has the text, also one that is dropped and not yet collected.
    word = corpus_name.replace("-", "")
    sync({"Tide.md": f"The pull of the [[Moon]] lifts the {word} twice a day.", "Moon.md": f"A rock. {word} turns."})

    (texts,) = embedded
    assert len(set(texts)) == len(texts)
    assert {f"The pull of the Moon lifts the {word} twice a day.", f"Moon\nA rock. {word} turns."} <= {*texts}


@pytest.mark.slow
def test_an_edit_embeds_only_what_is_new(sync: Sync, graph: Callable[[], NoteGraph], embedded: list[list[str]]) -> None:
    sync(VAULT)
    embedded.clear()

    sync({**VAULT, "Nowhere.md": "A place."})

    # The link of Moon.md leads to the new note now; its sentence has a vector already.
    assert embedded == [["Nowhere\nA place."]]
    assert {(link.source, link.target) for link in graph().links} >= {("Moon.md", "Nowhere.md")}
    assert graph().notes["Moon.md"].unresolved == ()


@pytest.mark.slow
def test_a_renamed_note_keeps_its_links_and_its_vectors(
    sync: Sync, graph: Callable[[], NoteGraph], tmp_path: Path
) -> None:
    sync(VAULT)
    (tmp_path / "Tide.md").unlink()

    done = sync({"sky/Tide.md": VAULT["Tide.md"]})

    assert done.synced.plan.renamed == (("Tide.md", "sky/Tide.md"),)
    assert {(link.source, link.target) for link in graph().links} >= {
        ("Moon.md", "sky/Tide.md"),
        ("sky/Tide.md", "Moon.md"),
    }


@pytest.mark.slow
def test_a_large_note_and_a_folder_without_notes(
    sync: Sync, graph: Callable[[], NoteGraph], write: Callable[[Files], Path]
) -> None:
    with pytest.raises(SourceError, match="holds no note"):
        sync({"picture.png": b"\x89PNG"})

    sync({"Large.md": "# Part\n\nOne more sentence about the sea.\n\n" * 400 + "[[Small]]", "Small.md": "x"})

    assert [(link.source, link.target) for link in graph().links] == [("Large.md", "Small.md")]
    rows = [row["note"] for row in graph().corpus.stream("vault_notes")]
    assert [(row.get("centroid"), row["original"]) for row in rows] == [(None, False)] * 2


def test_a_save_by_rename_is_noticed(write: Callable[[Files], Path]) -> None:
    folder = write(VAULT)
    stop = threading.Event()
    noticed = changes([str(folder)], stop)
    saved = threading.Timer(0.5, _save_by_rename, [folder / "Tide.md"])
    saved.start()
    try:
        next(noticed)
    finally:
        stop.set()
        saved.join()

    assert (folder / "Tide.md").read_text(encoding="utf-8") == "Anew."


def _save_by_rename(path: Path) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text("Anew.", encoding="utf-8")
    temporary.replace(path)


@pytest.mark.slow
def test_the_vector_of_a_sentence_is_looked_up_by_its_hash(sync: Sync, hoprank: HopRank, corpus_name: str) -> None:
    """No link with another sentence is read, in whatever corpus."""
    sync(VAULT)
    address = hoprank.client.address
    record = get_corpus(hoprank.client, corpus_name)
    sentence = digest("The pull of the Moon lifts the water twice a day.")
    text = f"PROFILE {load_queries()['vectors_of_contexts'].text}"

    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        driver.execute_query("CALL db.awaitIndexes(60)", database_=address.database)
        rows, summary, _ = driver.execute_query(
            text, model=record.vector_index, hashes=[sentence, "none"], database_=address.database
        )

    assert [(row["hash"], len(row["vector"])) for row in rows] == [(sentence, 384)]
    assert "RelationshipIndexSeek" in str(summary.profile)
    assert stored_sentences(hoprank.client, "another@1/384", [sentence]) == {}
