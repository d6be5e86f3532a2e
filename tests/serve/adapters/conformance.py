"""Rules that a retriever over HopRank must keep, for the tests of each adapter to run.

A retriever is given as a function that asks it and returns :class:`Passage`. ``filters`` are HopRank's, with one
operator on one field, or None; a test of a framework with filters of its own translates them.
"""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Protocol

from pipeline.api import HopRank
from pipeline.errors import FilterError, HopRankError, QuestionError
from pipeline.flows.maintain import drop
from pipeline.retrieve.filters.parse import LONGEST
from pipeline.serve.adapters.passages import Passage, passages_of

QUESTION = "Who reads the tide gauge at the harbour?"
QUESTIONS = (QUESTION, "Welche Möwe sang 海の歌 {at} the harbour?", "lighthouse", "What did Ada Brandt repair?")

DOCUMENTS: tuple[Mapping[str, Any], ...] = (
    {
        "id": "tides/gauge",
        "title": "The tide gauge",
        "text": "The tide gauge stands at the harbour. Ada Brandt reads it every morning.",
        "metadata": {"year": 1911, "kind": "instrument", "tags": ["tides", "harbour"]},
    },
    {
        "id": "tides/drum",
        "title": "The drum",
        "text": "The tide gauge writes on a drum of paper, which Ada Brandt changes on Mondays.",
        "metadata": {"year": 1924, "kind": "instrument", "tags": ["tides"]},
    },
    {
        "id": "people/ada",
        "title": "Ada Brandt",
        "text": "# Life\n\nAda Brandt repaired the lamp of the lighthouse.\n\n# Work\n\nShe kept the harbour's books.",
        "metadata": {"year": 1931, "kind": "person", "tags": ["harbour", "light"]},
    },
    {
        "id": "places/lighthouse",
        "title": "The lighthouse",
        "text": "The lighthouse has burnt oil, then gas, and has lit the harbour since 1890.",
        "metadata": {"year": 1890, "kind": "place", "tags": ["light"]},
    },
    {
        "id": "songs/möwe 海",
        "title": "Möwe & 海",
        "text": "Die Möwe sang 海の歌 👩🏽‍🔬 at the harbour: שלום, e\u0301t\u00e9. </s> <script>alert('x')</script>",
        "metadata": {"year": 1999, "kind": "song", "tags": ["harbour"]},
    },
    {
        "id": "hostile/prompt",
        "title": "{title} {{ title }} %s",
        "text": "Ignore the harbour {question} {0} {{ context }} ${HOME} %(k)s \\n C:\\tide \"quoted\" 'and' `ticked`.",
        "metadata": {"year": 2001, "kind": "note", "tags": ["harbour"]},
    },
)
"""A corpus of six documents: two alike, one with headings, one of several scripts, one that templates would fill in."""

FILTERS: tuple[Mapping[str, Any], ...] = (
    {"kind": {"$eq": "instrument"}},
    {"year": {"$gte": 1931}},
    {"tags": {"$in": ["light"]}},
    {"kind": {"$ne": "instrument"}},
)
MALFORMED: Mapping[str, Any] = {"kind": {"$eq": "x" * (LONGEST + 1)}}
"""A filter that only HopRank refuses, for its length; frameworks take it."""

SOURCE = ("id", "document", "title", "heading", "path", "ordinal", "start", "end", "line_start", "line_end", "rank")
"""The metadata by which a passage is cited; each under its own name, beside the document's own fields."""

_ALL = 100  # more than the corpus has passages
_THREADS = 8  # chosen by hand, as the next: more than most machines have cores


class Retrieve(Protocol):
    """Asks a retriever for the ``k`` best passages that match ``filters``, best first."""

    def __call__(self, question: str, k: int, filters: Mapping[str, Any] | None, /) -> Sequence[Passage]:
        """Return the passages that the retriever found."""


@contextmanager
def conformance_corpus(hoprank: HopRank) -> Iterator[str]:
    """Ingest ``DOCUMENTS`` under a name that no corpus has, yield the name, and drop the corpus."""
    name = f"conformance-{uuid.uuid4().hex[:12]}"
    hoprank.add(DOCUMENTS, name)
    try:
        yield name
    finally:
        drop(hoprank.client, name)


def same_passages(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It returns the passages of HopRank in the same order."""
    for question in QUESTIONS:
        _expect(_named(retrieve(question, 5, None)), _found(hoprank, corpus, question, 5), repr(question))


def as_many_as_asked(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It returns ``k`` passages, and all if there are fewer."""
    for k in (1, 3, _ALL):
        _expect(len(retrieve(QUESTION, k, None)), len(_found(hoprank, corpus, QUESTION, k)), f"k = {k}")


def filtered(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It returns only passages that match the filter, and forgets the filter afterwards."""
    for filters in (*FILTERS, None):
        expected = _found(hoprank, corpus, QUESTION, _ALL, filters)
        _expect(_named(retrieve(QUESTION, _ALL, filters)), expected, f"filters = {filters}")


def with_sources(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It keeps what cites a passage, and the metadata of its document, each under its own name."""
    own = {document["id"]: document["metadata"] for document in DOCUMENTS}
    for hit, passage in _pairs(hoprank, corpus, retrieve):
        expected = {name: hit.metadata[name] for name in SOURCE} | own[hit.metadata["document"]]
        actual = {name: passage.metadata.get(name) for name in expected}
        _expect(actual, expected, f"the metadata of {hit.metadata['document']}")


def with_scores(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It keeps the scores, which descend."""
    pairs = _pairs(hoprank, corpus, retrieve)
    _expect([passage.score for _, passage in pairs], [hit.score for hit, _ in pairs], "the scores")


def unchanged_text(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It returns the text as it is stored, of every script, and with what looks like a template or markup."""
    for hit, passage in _pairs(hoprank, corpus, retrieve):
        _expect(passage.content, hit.content, f"the text of {hit.metadata['document']}")


def errors_raised(_: HopRank, __: str, retrieve: Retrieve) -> None:
    """It raises the errors of HopRank, or errors that these caused."""
    _expect(_raised(retrieve, "", None, QuestionError), "QuestionError", "the error for an empty question")
    _expect(_raised(retrieve, QUESTION, MALFORMED, FilterError), "FilterError", "the error for a malformed filter")


def own_results(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It returns metadata that is the caller's own: a change of it reaches no later search."""
    for passage in retrieve(QUESTION, _ALL, None):
        for value in passage.metadata.values():
            if isinstance(value, list | dict):
                value.clear()
        passage.metadata.clear()
    with_sources(hoprank, corpus, retrieve)


def from_many_threads(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> None:
    """It answers many threads at once, each as it answers one."""
    asked = [(question, k) for question in QUESTIONS for k in (1, 5)]
    expected = [_found(hoprank, corpus, question, k) for question, k in asked]
    with ThreadPoolExecutor(_THREADS) as pool:
        answers = list(pool.map(lambda one: _named(retrieve(one[0], one[1], None)), asked * 2))
    _expect(answers, expected * 2, "the answers of threads")


Rule = Callable[[HopRank, str, Retrieve], None]
"""Checks a retriever of the corpus named; its docstring is the rule."""

RULES: tuple[Rule, ...] = (
    *(same_passages, as_many_as_asked, filtered, with_sources, with_scores),
    *(unchanged_text, errors_raised, own_results, from_many_threads),
)


def _raised(retrieve: Retrieve, question: str, filters: Mapping[str, Any] | None, kind: type[HopRankError]) -> str:
    """Return the name of the error that a search raises: ``kind`` if that is it or caused it."""
    try:
        retrieve(question, 1, filters)
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, kind):
            cause = cause.__cause__
        return type(cause or error).__name__
    return "none"


def _expect(actual: object, expected: object, what: str) -> None:
    assert actual == expected, what


def _pairs(hoprank: HopRank, corpus: str, retrieve: Retrieve) -> list[tuple[Passage, Passage]]:
    hits = passages_of(hoprank.search(QUESTION, corpus=corpus, top_k=_ALL))
    passages = retrieve(QUESTION, _ALL, None)
    _expect(len(passages), len(hits), "the number of passages")
    return list(zip(hits, passages, strict=True))


def _found(hoprank: HopRank, corpus: str, question: str, k: int, filters: Mapping[str, Any] | None = None) -> list[str]:
    return _named(passages_of(hoprank.search(question, corpus=corpus, top_k=k, filters=filters)))


def _named(passages: Sequence[Passage]) -> list[str]:
    """Return the documents of passages, and which of its chunks each is."""
    return [f"{passage.metadata.get('document')}#{passage.metadata.get('ordinal')}" for passage in passages]
