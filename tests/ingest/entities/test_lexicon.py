"""The lexicon of an update: the chunks whose names may have changed are found, and no more; counts before and after."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from hypothesis import example, given, settings
from hypothesis import strategies as st

from pipeline.ingest.entities.extract import ChunkNames, builtin
from pipeline.ingest.entities.lexicon import SHARDS, CountChanges, CountsByKey, LexiconUpdate
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
        "东江水利研究所（简称“东水所”）在白鸥嘴。",
        "东水所造了白鸥嘴灯塔和NBA总裁的房子。",
        "Ольховский завод стоял у Ольховска.",
        "В Ольховском заводе у Рогожникова был НИИ.",
        "Das Kloster Hirlau liegt am Fluss, des Klosters Hirlau wegen.",
    ]
)
TITLES = st.sampled_from(
    [
        *("Turin", "Engine Notes", "River", "Analytical Engine", "Augusta Byron", "Notes"),
        *("白鸥嘴灯塔", "NBA总裁", "东江水利研究所", "Ольховский завод", "Рогожников", "Kloster Hirlau"),
    ]
)
LANGUAGES = st.sampled_from(["", "german"])
DOCUMENTS = st.dictionaries(st.sampled_from("abcd"), st.tuples(TITLES, TEXTS), max_size=4)

Documents = Mapping[str, tuple[str, str]]


def chunk(key: str, title: str, text: str) -> Chunk:
    return Chunk(key, key, 0, text, title, "", 0, len(text), 1, 1, 5)


def chunks_of(documents: Documents) -> list[Chunk]:
    return [chunk(key, *document) for key, document in sorted(documents.items())]


class Graph:
    """The counts of one corpus, as the graph keeps them from update to update."""

    def __init__(self, language: str = "") -> None:
        self._language = language
        self._shards: dict[str, dict[int, CountsByKey]] = {"casing": {}, "aliases": {}}

    def update(self, before: Documents, after: Documents) -> LexiconUpdate:
        counts = {kind: self._changes(kind) for kind in self._shards}
        extractor = partial(builtin, language=self._language)
        lexicon = LexiconUpdate(counts["casing"], counts["aliases"], 8, extractor, self._language)
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


@settings(max_examples=300)
@given(DOCUMENTS, DOCUMENTS, LANGUAGES)
@example(
    before={"a": ("Engine Notes", ACRONYM), "b": ("Turin", "An AE needs cards.")},
    after={"a": ("Analytical Engine", ACRONYM), "b": ("Turin", "An AE needs cards.")},
    language="",
)
@example(
    before={"a": ("Turin", "В Ольховском заводе у Рогожникова был НИИ.")},
    after={"a": ("Turin", "В Ольховском заводе у Рогожникова был НИИ."), "b": ("Рогожников", "River towns flood.")},
    language="",
)
@example(
    before={"a": ("Turin", "Das Haus des Klosters Hirlau.")},
    after={"a": ("Turin", "Das Haus des Klosters Hirlau."), "b": ("Kloster Hirlau", "River towns flood.")},
    language="german",
)
@example(
    before={"a": ("Turin", "东水所造了白鸥嘴灯塔和NBA总裁的房子。")},
    after={"a": ("Turin", "东水所造了白鸥嘴灯塔和NBA总裁的房子。"), "b": ("NBA总裁", "River towns flood.")},
    language="",
)
def test_an_update_finds_what_a_new_corpus_finds_and_names_change_in_affected_chunks_alone(
    before: Documents, after: Documents, language: str
) -> None:
    graph = Graph(language)
    graph.update({}, before)
    lexicon = graph.update(before, after)
    fresh = Graph(language).update({}, after)

    assert names(lexicon, chunks_of(after), after=True) == names(fresh, chunks_of(after), after=True)
    assert names(lexicon, chunks_of(before), after=False) == names(
        Graph(language).update({}, before), chunks_of(before), after=True
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


def test_an_update_that_decides_nothing_new_affects_no_chunk() -> None:
    graph = Graph()
    documents = {"a": ("Turin", "Ada Lovelace wrote notes."), "b": ("River", "A river rises.")}

    assert not graph.update({}, documents).affected
    assert not graph.update(documents, documents).affected


def test_a_new_title_affects_the_chunks_that_name_it_and_no_others() -> None:
    graph = Graph()
    before = {"a": ("A", "She took the Night Train home."), "b": ("B", "He walked home.")}
    graph.update({}, before)

    affected = graph.update(before, {**before, "c": ("Night Train", "It is late.")}).affected

    assert [one.id in "a" for one in chunks_of(before) if one in affected] == [True]


KEYS = st.text("abc", min_size=1, max_size=2)
COUNTS = st.dictionaries(KEYS, st.dictionaries(st.sampled_from("lu"), st.integers(1, 5), min_size=1), max_size=8)


class Stored:
    """Shards as a graph would keep them, and the numbers of those that were read."""

    def __init__(self) -> None:
        self.shards: dict[int, dict[str, dict[str, int]]] = defaultdict(dict)
        self.read: list[int] = []

    def __call__(self, shards: list[int]) -> Iterable[tuple[int, CountsByKey]]:
        self.read += shards
        return [(shard, self.shards[shard]) for shard in shards if shard in self.shards]

    def take(self, changes: CountChanges) -> None:
        for shard, counts in changes.changed_shards():
            self.shards[shard] = {key: dict(forms) for key, forms in counts.items()}

    def flat(self) -> dict[str, dict[str, int]]:
        return {key: forms for shard in self.shards.values() for key, forms in shard.items()}


@given(COUNTS, COUNTS)
def test_what_is_staged_is_the_sum_and_what_was_is_still_told(
    first: dict[str, dict[str, int]], second: dict[str, dict[str, int]]
) -> None:
    stored = Stored()
    new = CountChanges(stored)
    for key, counts in first.items():
        new.add(key, counts)
    stored.take(new)
    assert stored.flat() == first

    update = CountChanges(stored)
    for key, counts in second.items():
        update.add(key, counts)
    update.load([*first, *second])
    assert {key: dict(update.before(key)) for key in first} == first
    stored.take(update)
    expected = {key: Counter(first.get(key, {})) + Counter(second.get(key, {})) for key in first.keys() | second.keys()}
    assert stored.flat() == expected


@given(COUNTS)
def test_what_is_taken_away_again_changes_nothing(counts: dict[str, dict[str, int]]) -> None:
    changes = CountChanges(lambda _: ())
    for key, forms in counts.items():
        changes.add(key, forms)
        changes.add(key, forms, -1)

    assert list(changes.changed()) == []
    assert list(changes.changed_shards()) == []


def test_a_key_whose_counts_fall_to_zero_is_gone() -> None:
    stored = Stored()
    added = CountChanges(stored)
    added.add("Ada", {"u": 2})
    stored.take(added)

    taken = CountChanges(stored)
    taken.add("Ada", {"u": 2}, -1)
    taken.load(["Ada"])

    assert (taken.before("Ada"), taken.after("Ada")) == ({"u": 2}, {})
    stored.take(taken)
    assert stored.flat() == {}


def test_only_the_shards_of_the_keys_that_are_asked_for_are_read_and_only_once() -> None:
    stored = Stored()
    changes = CountChanges(stored)

    changes.load(["Ada"])
    changes.load(["Ada"])
    assert len(stored.read) == 1

    changes.load_all()
    assert sorted(stored.read) == list(range(SHARDS))
