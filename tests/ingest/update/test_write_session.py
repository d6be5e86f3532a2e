"""Loading step by step: what is staged is not seen, and what a run that died leaves is taken up or undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import Corpus, create_corpus, find_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle
from pipeline.db.indexes import ensure_schema
from pipeline.db.lease import LeasedWrites, lease
from pipeline.db.slots import take_slot
from pipeline.errors import Busy, InputError, QueryTimeout, ServerLost, UnknownCorpus
from pipeline.flows.ingest import ingest, ingest_documents, sync_documents, write_generation
from pipeline.flows.maintain import drop
from pipeline.ingest.chunking.chunk import cut
from pipeline.ingest.embed import PreparedDocument, embed
from pipeline.ingest.engine import make_chunker
from pipeline.ingest.links.entity_links import no_vectors
from pipeline.ingest.update.changes import Outcome
from pipeline.ingest.update.stored import stored_documents
from pipeline.ingest.update.write_session import WriteSession, writing
from pipeline.progress import Progress
from pipeline.records import Document
from pipeline.settings.sections import ChunkSettings
from tests.graph_dump import Dump

GraphOf = Callable[[str], Dump]
NewCorpus = Callable[[], Any]

ADA = Document("ada", "Ada Lovelace", "Ada Lovelace met Charles Babbage.")
BABBAGE = Document("babbage", "Charles Babbage", "Charles Babbage designed engines.")
ENGINE = Document("engine", "Engines", "Engines were built in London by Ada Lovelace.")
LONG = Document("long", "Long", "".join(f"# Part {part}\n\n{'They wrote of London. ' * 60}\n\n" for part in "AB"))


class Workshop:
    """One corpus, and what it takes to write to it step by step."""

    def __init__(self, hoprank: HopRank, name: str) -> None:
        self.client: Client = hoprank.client
        self.name = name
        self.settings = hoprank.settings
        chunker = make_chunker(hoprank.embedder, hoprank.settings)
        model = hoprank.embedder.fingerprint
        corpus = create_corpus(
            self.client,
            name,
            fingerprint=model,
            dimension=384,
            chunker=chunker.fingerprint,
            extractor="builtin",
            analyzer="english",
            links={},
        )
        ensure_schema(self.client, corpus.fingerprint, 384)
        take_slot(self.client, corpus.id, "english")
        self._embedder = hoprank.embedder
        self._chunker = chunker

    @property
    def corpus(self) -> Corpus:
        return get_corpus(self.client, self.name)

    @property
    def handle(self) -> CorpusHandle:
        return CorpusHandle(self.client, self.corpus)

    def prepared(self, *documents: Document) -> list[PreparedDocument]:
        chunked = list(cut(self._chunker, documents, self.corpus.id))
        return embed(self.client, self._embedder, self.corpus.fingerprint, chunked, lambda _: None)

    def titles(self) -> dict[str, str]:
        return {key: one.title for key, one in stored_documents(self.handle).items()}

    def write(self, *documents: Document, removed: Sequence[str] = ()) -> Outcome:
        """Do what an ingestion does once it knows what changed."""
        return self.write_batches([self.prepared(*documents)], removed)

    def write_batches(self, batches: Iterable[list[PreparedDocument]], removed: Sequence[str] = ()) -> Outcome:
        with writing(self.handle) as session:
            stored = stored_documents(session.corpus)
            return write_generation(
                session, batches, stored, frozenset(removed), self.settings.link, no_vectors, Progress()
            )

    def die(self, at: str, *documents: Document, removed: Sequence[str] = ()) -> None:
        """Do as :meth:`write`, but lose the server when the session's method ``at`` is called."""

        def lost(*_: object, **__: object) -> None:
            raise ServerLost("The server went away.")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(WriteSession, at, lost)
            with pytest.raises(ServerLost):
                self.write(*documents, removed=removed)

    def die_before_publishing(self, *documents: Document, retiring: bool = False) -> None:
        self.die("publish" if retiring else "retire", *documents, removed=sorted(self.titles()) if retiring else [])

    def die_after_publishing(self, document: Document) -> None:
        """Replace a document, and leave what it was uncollected."""
        self.die("collect_garbage", document)


@pytest.fixture
def new_workshop(hoprank: HopRank, corpus_name: str) -> Workshop:
    """A corpus into which nothing was ever written."""
    return Workshop(hoprank, corpus_name)


@pytest.fixture(scope="module")
def shared_workshop(hoprank: HopRank, shared_corpus_name: str) -> Workshop:
    return Workshop(hoprank, shared_corpus_name)


@pytest.fixture
def workshop(shared_workshop: Workshop) -> Workshop:
    """A corpus that holds nothing: one for all tests, since each index made or dropped has all queries replanned."""
    shared_workshop.write(removed=sorted(shared_workshop.titles()))
    assert shared_workshop.titles() == {}
    return shared_workshop


@pytest.fixture(scope="module")
def fresh(hoprank: HopRank, graph_of: GraphOf, new_corpus: NewCorpus) -> Callable[..., Dump]:
    """The graph that one undisturbed run makes of documents."""
    made: dict[str, Dump] = {}

    def write(*documents: Document) -> Dump:
        if repr(documents) not in made:
            with new_corpus() as name:
                Workshop(hoprank, name).write(*documents)
                made[repr(documents)] = graph_of(name)
        return made[repr(documents)]

    return write


def found(hoprank: HopRank, name: str) -> set[str]:
    """The documents that any leg finds."""
    legs = ("hoprank", "vector", "fulltext", "bm25", "hops", "graph")
    results = [hoprank.search("Who met Ada Lovelace in London?", corpus=name, leg=leg) for leg in legs]
    return {item.metadata["document"] for result in results for item in result.items}


@pytest.mark.slow
def test_what_is_staged_is_seen_by_nobody_before_publishing(
    hoprank: HopRank, workshop: Workshop, graph_of: GraphOf
) -> None:
    workshop.write(ADA)

    workshop.die("retire", ENGINE)
    assert found(hoprank, workshop.name) == {"ada"}
    assert workshop.titles() == {"ada": "Ada Lovelace"}
    assert graph_of(workshop.name)["leftovers"]

    workshop.write(ENGINE)
    assert found(hoprank, workshop.name) == {"ada", "engine"}
    assert not graph_of(workshop.name)["leftovers"]
    assert workshop.corpus.staging is None

    workshop.die_before_publishing(ADA, retiring=True)
    assert found(hoprank, workshop.name) == {"ada", "engine"}, "what is retired is seen until then"


@pytest.mark.parametrize("given", [(ADA, ENGINE, LONG), (LONG, BABBAGE), (BABBAGE,)], ids=["same", "other", "none"])
def test_a_run_that_died_is_completed_by_the_next(
    new_workshop: Workshop, graph_of: GraphOf, fresh: Callable[..., Dump], given: tuple[Document, ...]
) -> None:
    new_workshop.die_before_publishing(ADA, ENGINE, LONG)
    assert new_workshop.corpus.staging == 1

    new_workshop.write(*given)

    assert graph_of(new_workshop.name) == fresh(*given)
    assert new_workshop.corpus.staging is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "later",
    [
        replace(LONG, title="Another Title"),
        replace(LONG, text=f"# Before\n\nSomething new stands first.\n\n{LONG.text}"),
        replace(LONG, metadata={"year": 2026}),
        replace(LONG, text=""),
    ],
    ids=["title", "place", "metadata", "emptied"],
)
@pytest.mark.parametrize("stored", [False, True])
def test_a_document_that_changed_since_a_run_died_over_it_is_as_it_is_now(
    workshop: Workshop, graph_of: GraphOf, fresh: Callable[..., Dump], later: Document, stored: bool
) -> None:
    workshop.write(ADA, *([ENGINE] if stored else []))
    workshop.die_before_publishing(LONG)

    workshop.write(later)

    assert graph_of(workshop.name) == fresh(ADA, *([ENGINE] if stored else []), later)


@pytest.mark.slow
def test_two_runs_that_died_are_one_too_many_for_nobody(
    workshop: Workshop, graph_of: GraphOf, fresh: Callable[..., Dump]
) -> None:
    workshop.write(ADA)
    workshop.die_before_publishing(LONG)
    workshop.die_before_publishing(ENGINE, retiring=True)

    workshop.write(BABBAGE)

    assert graph_of(workshop.name) == fresh(ADA, BABBAGE)


@pytest.mark.slow
@pytest.mark.parametrize("next_", ["another", "the one before", "a death", "a refusal", "a removal"])
def test_a_run_that_died_after_publishing_is_cleared_up_by_the_next(
    workshop: Workshop, graph_of: GraphOf, fresh: Callable[..., Dump], next_: str
) -> None:
    later = replace(ADA, text="Ada Lovelace saw London.")
    workshop.write(ADA)
    workshop.die_after_publishing(later)
    assert graph_of(workshop.name)["leftovers"]

    if next_ == "a death":
        workshop.die_before_publishing(ADA)
    if next_ == "a refusal":
        with pytest.raises(InputError):
            refuse(workshop, ADA)
        assert not graph_of(workshop.name)["leftovers"]
    given = ADA if next_ == "the one before" else ENGINE
    workshop.write(given, removed=["ada"] if next_ == "a removal" else [])

    expected = {"the one before": [ADA], "a removal": [ENGINE]}.get(next_, [later, ENGINE])
    assert graph_of(workshop.name) == fresh(*expected)


def test_the_next_ingest_collects_garbage_though_nothing_changed(
    hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Any], graph_of: GraphOf
) -> None:
    path = jsonl([{"id": "ada", "title": ADA.title, "text": ADA.text}])
    hoprank.ingest(path, corpus=corpus_name)
    before = graph_of(corpus_name)
    Workshop(hoprank, corpus_name).die_before_publishing(ENGINE)

    hoprank.ingest(path, corpus=corpus_name)

    assert graph_of(corpus_name) == before
    assert get_corpus(hoprank.client, corpus_name).staging is None


def test_wrong_input_of_a_first_run_leaves_no_corpus(new_workshop: Workshop) -> None:
    with pytest.raises(InputError, match="next file"):
        refuse(new_workshop, ENGINE, replace(ADA, text="Other words."), BABBAGE)
    assert find_corpus(new_workshop.client, new_workshop.name) is None


def test_neither_wrong_input_nor_an_interruption_costs_a_corpus_anything(
    new_workshop: Workshop, graph_of: GraphOf
) -> None:
    new_workshop.write(ADA)
    before = graph_of(new_workshop.name)

    with pytest.raises(InputError, match="next file"):
        refuse(new_workshop, ENGINE, replace(ADA, text="Other words."), BABBAGE)
    assert graph_of(new_workshop.name) == before
    assert new_workshop.corpus.staging is None

    with pytest.raises(KeyboardInterrupt):
        interrupt(new_workshop, KeyboardInterrupt())
    assert graph_of(new_workshop.name) == before


@pytest.mark.parametrize("error", [KeyboardInterrupt(), QueryTimeout("It took too long.", "")])
def test_an_interrupted_first_run_leaves_what_it_staged_or_nothing(
    hoprank: HopRank, new_corpus: Callable[[], Any], error: BaseException
) -> None:
    with new_corpus() as empty, new_corpus() as begun:
        for name, staged in ((empty, ()), (begun, (ADA,))):
            with pytest.raises((KeyboardInterrupt, QueryTimeout)):
                interrupt(Workshop(hoprank, name), error, *staged)

        left = find_corpus(hoprank.client, begun)
        assert find_corpus(hoprank.client, empty) is None
        assert left is not None
        assert (left.generation, left.staging) == (0, 1)


def test_what_an_interrupted_first_run_left_is_in_nobody_s_way(
    hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path: Path
) -> None:
    (tmp_path / "ada.txt").write_text("Ada Lovelace knew the engine.")
    with new_corpus() as name:
        with pytest.raises(KeyboardInterrupt):
            interrupt(Workshop(hoprank, name), KeyboardInterrupt(), ENGINE)
        otherwise = hoprank.settings.model_copy(update={"chunk": ChunkSettings(max_tokens=50, overlap=0)})

        summary = ingest(hoprank.client, hoprank.embedder, otherwise, [str(tmp_path)], name)

        assert (summary.documents, get_corpus(hoprank.client, name).generation) == (1, 1)


def test_a_first_run_makes_the_corpus_anew_that_one_that_was_stopped_drops_meanwhile(
    hoprank: HopRank, new_corpus: Callable[[], Any]
) -> None:
    def dropping(*documents: Document) -> Iterator[Document]:
        drop(hoprank.client, name)  # the run has found the corpus, and hasn't leased it yet
        yield from documents

    common = hoprank.client, hoprank.embedder, hoprank.settings
    with new_corpus() as name:
        Workshop(hoprank, name)
        assert ingest_documents(*common, dropping(ADA, BABBAGE), name).documents == 2

        with pytest.raises(UnknownCorpus, match="dropped meanwhile"):  # ADA, which hasn't changed, would be missing
            ingest_documents(*common, dropping(ADA, ENGINE), name)
        assert find_corpus(hoprank.client, name) is None

        Workshop(hoprank, name)
        summary = sync_documents(*common, lambda: dropping(ADA, ENGINE), "what is given", name)
        assert summary.done is not None
        assert summary.done.documents == 2


def test_new_vectors_are_followed_by_a_write_that_shows_searches_what_the_index_has_merged(workshop: Workshop) -> None:
    written: list[str] = []
    original = LeasedWrites.write

    def told(self: LeasedWrites, name: str, /, **params: Any) -> object:
        written.append(name)
        return original(self, name, **params)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LeasedWrites, "write", told)
        workshop.write_batches([workshop.prepared(ADA), workshop.prepared(BABBAGE)])
        assert written[-2:] == ["refresh_vector_index", "end_staging"]

        written.clear()
        workshop.write(ENGINE)
        assert "stage_chunks" in written, "the one write to the index"
        assert "refresh_vector_index" not in written


def interrupt(workshop: Workshop, error: BaseException, *documents: Document) -> None:
    """End in an error, once the documents are staged if there are any."""

    def fail(*_: object) -> NoReturn:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WriteSession, "retire" if documents else "stage_documents", fail)
        workshop.write(*(documents or [ADA]))


def refuse(workshop: Workshop, *documents: Document) -> None:
    """Write documents of which the last is followed by wrong input."""

    def batches() -> Iterator[list[PreparedDocument]]:
        for document in documents:
            yield workshop.prepared(document)
        raise InputError("The next file is wrong.", "Mend it.")

    workshop.write_batches(batches())


@pytest.mark.parametrize(
    "step", "begin stage_documents stage_entities stage_edges retire_edges retire publish collect_garbage".split()
)
def test_a_run_that_is_overtaken_writes_no_more(
    workshop: Workshop, fresh: Callable[..., Dump], graph_of: GraphOf, step: str
) -> None:
    workshop.write(ADA)
    original = getattr(WriteSession, step)

    def overtaken(self: WriteSession, *arguments: Any, **named: Any) -> object:
        with pytest.MonkeyPatch.context() as other:
            other.setattr(WriteSession, step, original)
            other.setattr("pipeline.db.lease.is_stale", lambda *_: True)
            workshop.write(BABBAGE, ENGINE, removed=["ada"])
        done: object = original(self, *arguments, **named)
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WriteSession, step, overtaken)
        with pytest.raises(Busy, match="taken over"):
            workshop.write(replace(ADA, text="Charles Babbage met Mary Somerville."))

    assert graph_of(workshop.name) == fresh(BABBAGE, ENGINE)
    assert workshop.corpus.staging is None


def test_nobody_takes_a_corpus_over_within_a_write(workshop: Workshop) -> None:
    with lease(workshop.handle) as (corpus, writer), ThreadPoolExecutor() as pool:
        with workshop.client.locking("begin_staging", corpus=corpus.id, writer=writer) as rows:
            assert rows
            params = {"corpus": corpus.id, "writer": "nobody", "since": "", "stale": [writer]}
            overtaking = pool.submit(workshop.client.write, "take_lease", **params)
            with pytest.raises(TimeoutError):
                overtaking.result(0.3)
        assert overtaking.result(10)[0]["held"]
        with pytest.raises(Busy, match="taken over"):
            LeasedWrites(corpus, writer).write("end_staging")
        assert workshop.corpus.staging is not None
        workshop.client.write("release_lease", corpus=corpus.id, writer="nobody")
