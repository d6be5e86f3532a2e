"""The lexicon of an update: the chunks whose names may have changed are found, and no more than need be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.ingest.entities.extract import ChunkNames, builtin
from pipeline.ingest.entities.lexicon import CountChanges, CountsByKey, LexiconUpdate
from pipeline.records import Chunk

TEXTS = st.sampled_from(
    [
        "Charles Babbage met Ada Lovelace in Turin.",
        "The Analytical Engine (AE) was never built. The AE had a mill.",
        "An AE needs cards.",
        "River towns flood. A river rises.",
        "The River was high.",
        "Ada Lovelace, also known as Augusta Byron, wrote notes.",
        "Augusta Byron is remembered.",
        "engine notes were read aloud in turin",
    ]
)
TITLES = st.sampled_from(["Turin", "Engine Notes", "River", "Analytical Engine", "Augusta Byron", "Notes"])
DOCUMENTS = st.dictionaries(st.sampled_from("abcd"), st.tuples(TITLES, TEXTS), max_size=4)

Documents = Mapping[str, tuple[str, str]]


def chunk(key: str, title: str, text: str) -> Chunk:
    return Chunk(key, key, 0, text, title, "", 0, len(text), 1, 1, 5)


def chunks_of(documents: Documents) -> list[Chunk]:
    return [chunk(key, *document) for key, document in sorted(documents.items())]


class Graph:
    """The counts of one corpus, as the graph keeps them from update to update."""

    def __init__(self) -> None:
        self._shards: dict[str, dict[int, CountsByKey]] = {"casing": {}, "aliases": {}}

    def update(self, before: Documents, after: Documents) -> LexiconUpdate:
        counts = {kind: self._changes(kind) for kind in self._shards}
        lexicon = LexiconUpdate(counts["casing"], counts["aliases"], 8, builtin)
        lexicon.count((text for _, text in after.values()), 1)
        lexicon.count((text for _, text in before.values()), -1)
        titled = [[(key, title, "") for key, (title, _) in documents.items()] for documents in (before, after)]
        lexicon.decide(*titled, new=not before)
        for kind, changes in counts.items():
            self._shards[kind].update(changes.changed_shards())
        return lexicon

    def _changes(self, kind: str) -> CountChanges:
        def read(shards: list[int]) -> Iterable[tuple[int, CountsByKey]]:
            return [(shard, self._shards[kind][shard]) for shard in shards if shard in self._shards[kind]]

        return CountChanges(read)


def names(lexicon: LexiconUpdate, chunks: Sequence[Chunk], *, after: bool) -> list[ChunkNames]:
    return lexicon.names(chunks, after=after)[0]


ACRONYM = "The Analytical Engine (AE) was never built. The AE had a mill."


@settings(max_examples=150)
@given(DOCUMENTS, DOCUMENTS)
@example(
    before={"a": ("Engine Notes", ACRONYM), "b": ("Turin", "An AE needs cards.")},
    after={"a": ("Analytical Engine", ACRONYM), "b": ("Turin", "An AE needs cards.")},
)
def test_an_update_finds_what_a_new_corpus_finds_and_names_change_in_affected_chunks_alone(
    before: Documents, after: Documents
) -> None:
    graph = Graph()
    graph.update({}, before)
    lexicon = graph.update(before, after)
    fresh = Graph().update({}, after)

    assert names(lexicon, chunks_of(after), after=True) == names(fresh, chunks_of(after), after=True)
    assert names(lexicon, chunks_of(before), after=False) == names(
        Graph().update({}, before), chunks_of(before), after=True
    )
    if before:
        kept = [one for one in chunks_of(after) if before.get(one.document_key) == after[one.document_key]]
        changed = [
            one
            for one, was, is_ in zip(
                kept, names(lexicon, kept, after=False), names(lexicon, kept, after=True), strict=True
            )
            if was != is_
        ]
        assert all(one in lexicon.affected for one in changed)


def test_a_new_corpus_affects_no_other_chunks() -> None:
    assert not Graph().update({}, {"a": ("Turin", "The river rose.")}).affected


def test_an_update_that_decides_nothing_new_affects_no_chunk() -> None:
    graph = Graph()
    documents = {"a": ("Turin", "Ada Lovelace wrote notes."), "b": ("River", "A river rises.")}
    graph.update({}, documents)

    assert not graph.update(documents, documents).affected


def test_a_new_title_affects_the_chunks_that_name_it_and_no_others() -> None:
    graph = Graph()
    before = {"a": ("A", "She took the Night Train home."), "b": ("B", "He walked home.")}
    graph.update({}, before)

    affected = graph.update(before, {**before, "c": ("Night Train", "It is late.")}).affected

    assert [one.id in "a" for one in chunks_of(before) if one in affected] == [True]
