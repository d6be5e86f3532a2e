"""Related notes: by meaning, along links, and by both; and links that are hidden to measure them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

import pipeline.flows.ingest
from pipeline import HopRank
from pipeline.cli.views.output import show
from pipeline.db.catalogue import list_corpora
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.domains.vault.evaluate import evaluate, linked_pairs, without_links
from pipeline.domains.vault.links import NoteResolver, documents
from pipeline.domains.vault.note import ANY, Folder, Note, NoteType
from pipeline.domains.vault.related import Ranking, RelatedNote, related_notes, related_scores
from pipeline.domains.vault.sources import read_folder
from pipeline.domains.vault.stored import NoteGraph, NoteLink, Rows, read_graph
from pipeline.domains.vault.views import related_view
from pipeline.errors import SourceError, Superseded
from pipeline.flows.maintain import drop
from pipeline.records import Vector
from tests.domains.vault.gardens import APIARY, NOTES

Files = Mapping[str, str | bytes]


class GivenGraph(NoteGraph):
    """A graph whose passages are given, one a note."""

    given: Vector

    @cached_property
    def passages(self) -> tuple[Vector, Rows]:
        """The given vectors."""
        return self.given, np.arange(len(self.notes), dtype=np.intp)


def graph_of(vectors: Vector, *links: tuple[str, str]) -> NoteGraph:
    keys = [f"n{row:05}.md" for row in range(len(vectors))]
    notes = {key: Note(key, key, key[:-3], "", NoteType.CONCEPT, scope=ANY) for key in keys}
    handle = _handle(vectors.shape[1])
    made = GivenGraph(handle, notes, tuple(NoteLink(f"{a}.md", f"{b}.md", 1, (), ()) for a, b in links))
    object.__setattr__(made, "given", vectors)
    return made


def _handle(dimension: int) -> CorpusHandle:
    class Record:
        def __init__(self) -> None:
            self.dimension = dimension

    handle = object.__new__(CorpusHandle)
    object.__setattr__(handle, "record", Record())
    return handle


def unit(*rows: tuple[float, ...]) -> Vector:
    vectors = np.array(rows, dtype=np.float32)
    scaled: Vector = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def test_links_and_meaning_are_added_up() -> None:
    # n1 is near in meaning, n2 is two links away, n3 is both, n4 is neither.
    graph = graph_of(
        unit((1, 0, 0), (0.9, 0.4, 0), (0, 1, 0), (0.9, 0.4, 0.1), (0, 0, 1), (0, 0.2, 1)),
        ("n00000", "n00005"),
        ("n00005", "n00002"),
        ("n00005", "n00003"),
    )

    found = related_notes(graph, "n00000.md", 5, unlinked=True)

    assert found[0].key == "n00003.md"
    assert found[-1].key == "n00004.md"
    assert not any(note.linked for note in found)
    assert "n00005.md" in {note.key for note in related_notes(graph, "n00000.md", 5) if note.linked}


def test_notes_of_one_title_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    show(related_view([RelatedNote(f"{folder}/Pruning.md", "Pruning", 1.0, 0.5, 0.1, False) for folder in "ab"]))

    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[2:]] == ["a/Pruning.md", "b/Pruning.md"]


def test_a_note_without_links_is_ranked_by_meaning() -> None:
    graph = graph_of(unit((1, 0), (0.9, 0.1), (0, 1)))

    scores = related_scores(graph, "n00000.md")

    assert [note.key for note in related_notes(graph, "n00000.md", 2)] == ["n00001.md", "n00002.md"]
    assert scores[Ranking.LINKS][1] == scores[Ranking.LINKS][2] == 0


def test_ten_thousand_notes() -> None:
    count = 10_000
    vectors = np.random.default_rng(1).normal(size=(count, 32)).astype(np.float32)
    vectors[7] = vectors[42]
    names = [f"n{row:05}" for row in range(count)]
    graph = graph_of(unit(*map(tuple, vectors.tolist())), *zip(names, [*names[1:], names[0]], strict=True))

    found = {note.key for note in related_notes(graph, "n00042.md", 21)}

    assert found >= {"n00007.md", "n00041.md", "n00043.md"}
    assert graph.neighbours("n00042.md") == {"n00041.md", "n00043.md"}


def test_hidden_links_are_cut_out_with_the_names_that_they_show(vault: Callable[[Files], Folder]) -> None:
    read = vault(
        {
            "A.md": "---\nup: [[B]]\n---\nSee ![[B]] and [[C|the third]], or [b](B.md).\n",
            "B.md": "Back to [[A#Part|A]].",
            "C.md": "Nothing.",
        }
    )

    cut = without_links(read, {("A.md", "B.md")})

    assert linked_pairs(read) == [("A.md", "B.md"), ("A.md", "C.md")]
    assert linked_pairs(cut) == [("A.md", "C.md")]
    assert [note.text for note in cut.notes] == [
        "---\nup: \n---\nSee  and [[C|the third]], or .\n",
        "Back to .",
        "Nothing.",
    ]
    assert [link.target for document in documents(cut) for link in document.links] == ["/C.md"]


@pytest.mark.slow
def test_a_measurement_prints_three_rankings_and_leaves_nothing(hoprank: HopRank) -> None:
    before = {corpus.name for corpus in list_corpora(hoprank.client)}

    first, again = (evaluate(hoprank, APIARY, hide=0.3, seed=3) for _ in range(2))

    assert json.loads(json.dumps(first.to_json()))["metrics"].keys() == {"vector", "links", "hoprank"}
    assert all(0 <= value <= 1 for measures in first.metrics.values() for value in measures.values())
    assert first == again
    assert first.hidden_pairs == round(0.3 * first.linked_pairs)
    whole = first.metrics["hoprank"]["recall@10"]
    assert whole >= max(first.metrics[name]["recall@10"] for name in ("vector", "links")) > 0
    assert {corpus.name for corpus in list_corpora(hoprank.client)} == before
    assert {name: measures["recall@10"] for name, measures in first.metrics.items()} == pytest.approx(
        {"vector": 0.833, "links": 0.470, "hoprank": 0.833}, abs=0.02
    )


@pytest.mark.slow
def test_what_is_measured_was_not_read(
    hoprank: HopRank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vault: Callable[[Files], Folder]
) -> None:
    vault({name: text for name, text in NOTES.items() if name.startswith(("health/", "colony/"))})
    ingested: list[str] = []
    ingest = pipeline.flows.ingest.ingest_documents

    def spy(
        client: object, embedder: object, settings: object, source: object, *rest: object, **named: object
    ) -> object:
        kept = list(source)  # type: ignore[call-overload]  # documents
        ingested.extend(f"{document.key} {link.target}" for document in kept for link in document.links)
        return ingest(client, embedder, settings, kept, *rest, **named)  # type: ignore[arg-type]  # as they came

    monkeypatch.setattr("pipeline.domains.vault.evaluate.ingest_documents", spy)
    report = evaluate(hoprank, tmp_path, hide=0.5, seed=1)

    read = read_folder(tmp_path)
    resolver = NoteResolver(read.notes)
    every = {
        tuple(sorted((note.key, key)))
        for note in read.notes
        for link in note.links
        if (key := resolver.resolve(link.target, note.key).key) and key != note.key
    }
    left = {tuple(sorted((line.split(" /")[0], line.split(" /")[1]))) for line in ingested}
    assert left < every
    assert len(every) - len(left) == report.hidden_pairs


def test_too_few_links_are_an_error(hoprank: HopRank, vault: Callable[[Files], Folder]) -> None:
    read = vault({"A.md": "One [[B]].", "B.md": "Two."})

    with pytest.raises(SourceError, match="1 pairs of linked notes"):
        evaluate(hoprank, Path(read.root), hide=0.1, seed=1)


def test_a_scope_cuts_notes_and_their_links() -> None:
    graph = graph_of(unit((1, 0), (0, 1)), ("n00000", "n00001"))
    first = graph.notes["n00000.md"]
    mixed = NoteGraph(
        graph.corpus,
        {**graph.notes, "n00000.md": replace(first, scope=first.scope._replace(user="ada"))},
        graph.links,
    )

    scoped = mixed.scoped(ANY._replace(user="ada"))

    assert list(scoped.notes) == ["n00000.md"]
    assert scoped.links == ()
    assert mixed.scoped(ANY) is mixed


def test_vectors_of_a_vault_that_was_dropped_are_an_error(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add([{"id": "a.md", "text": "Bees."}, {"id": "b.md", "text": "Honey."}], corpus_name)
    graph = read_graph(open_corpus(hoprank.client, corpus_name))
    drop(hoprank.client, corpus_name)

    for read in (lambda: graph.passages, lambda: graph.sentences, lambda: related_notes(graph, "a.md", 1)):
        with pytest.raises(Superseded, match=corpus_name):
            read()
