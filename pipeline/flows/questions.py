"""Questions about a corpus: examples to ask, and what people say of the answers, which is kept as judgements."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.errors import CorpusError, QuerySetError, UnknownDocument
from pipeline.flows.documents import read_documents
from pipeline.ids import digest, document_id
from pipeline.retrieve.question import check_question
from pipeline.temporary import replacing

_EXAMPLES = 6
"""Example questions of a corpus: as many as a phone shows at once. Chosen by hand; not measured."""

_NAMES = 12  # most mentioned entities of which examples are made; chosen by hand, to bound the pairs that are looked at

_LONGEST_NAME = 60  # characters of a name that reads well within a question; chosen by hand

_WORD = re.compile(r"[^\W\d_]{2}")
"""Two letters beside each other, without which a question about a name makes no sense."""


_BREAK = frozenset("\t\r\n")


class Judgement(NamedTuple):
    """A judgement of a hit: with a relevance above 0 its document, named by key, answers the question."""

    question: str
    document: str
    relevance: float


def examples(client: Client, corpus_name: str) -> list[str]:
    """Return some questions to ask a corpus, the same each time; none of an empty one. Raises UnknownCorpus.

    They are those that were kept with it (:func:`keep_examples`), or else about its most mentioned names, those that it
    mentions together, and the documents that others lead to most. No model makes them.
    """
    corpus = open_corpus(client, corpus_name)
    kept = corpus.read("example_questions")
    return list(kept[0]["questions"] if kept else ())[:_EXAMPLES] or list(islice(_made(corpus), _EXAMPLES))


def keep_examples(client: Client, corpus_name: str, questions: Sequence[str]) -> None:
    """Keep questions with a corpus, which :func:`examples` then returns; raises UnknownCorpus."""
    open_corpus(client, corpus_name).write("set_examples", questions=list(questions))


def _made(corpus: CorpusHandle) -> Iterator[str]:
    """Yield questions of three kinds in turn, so that the first few show each."""
    names = [name for row in corpus.read("top_entities", limit=_NAMES) if _is_askable(name := row["name"])]
    titles = (row["title"] for row in corpus.read("most_linked_titles", limit=_NAMES))
    kinds = (
        (f"How are {one} and {other} connected?" for one, other in _apart(corpus, names)),
        (f"What is said about {name}?" for name in names),
        (f"What refers to {title}?" for title in titles if _is_askable(title) and title not in names),
    )
    yield from dict.fromkeys(_in_turn(kinds))


def _in_turn(kinds: Sequence[Iterator[str]]) -> Iterator[str]:
    waiting = list(kinds)
    while waiting:
        for kind in tuple(waiting):
            if (question := next(kind, None)) is None:
                waiting.remove(kind)
            else:
                yield question


def _apart(corpus: CorpusHandle, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of names that passages mention together, each name once: the rarest first, which say the most."""
    used: set[str] = set()
    for row in corpus.read("linked_names", names=list(names)):
        pair = (row["one"], row["other"])
        if used.isdisjoint(pair) and not (pair[0] in pair[1] or pair[1] in pair[0]):
            used.update(pair)
            yield pair


def _is_askable(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and bool(_WORD.search(name)) and "?" not in name


def judge(client: Client, corpus_name: str, question: str, document: str, relevance: float | None) -> None:
    """Keep what somebody says of a hit: that the document with this key answers the question, or, with 0, doesn't.

    It replaces what was said before; None forgets that. Raises UnknownCorpus, UnknownDocument, QuestionError.
    """
    corpus, asked = open_corpus(client, corpus_name), check_question(question)
    if relevance is None:
        corpus.write("withdraw_judgement", key=document, question=asked)
    elif not corpus.write(
        "judge",
        document=document_id(corpus.id, document),
        key=document,
        question=asked,
        relevance=relevance,
    ):
        raise UnknownDocument(
            f"The corpus {corpus_name!r} has no document {document[:80]!r}.", "Judge a document that a search returned."
        )


def judgements(client: Client, corpus_name: str, question: str | None = None) -> list[Judgement]:
    """Return what was said of a corpus's hits, or of those of one question, by question and document."""
    asked = None if question is None else check_question(question)
    rows = open_corpus(client, corpus_name).read("judgements", question=asked)
    return [Judgement(row["question"], row["document"], row["relevance"]) for row in rows]


def write_judgements(client: Client, corpus_name: str, folder: Path, *, documents: bool = False) -> QuerySetSize:
    """Write the judgements of a corpus as a queryset that ``evaluate`` takes, with ``--corpus``.

    With ``documents`` it holds those of the corpus too, and ``tune`` takes it. The folder is made; its
    ``queries.jsonl``, ``qrels.tsv`` and ``corpus.jsonl`` are replaced once all are written. Raises CorpusError if
    nothing was judged, QuerySetError if the folder can't be written.
    """
    found = judgements(client, corpus_name)
    if not found:
        raise CorpusError(
            f"Nobody has judged a hit of {corpus_name!r} yet.",
            "Ask it on the page of `hoprank serve`, and say of hits whether they answer.",
        )
    ids = {one.question: digest("question", one.question)[:12] for one in found}
    queries = [json.dumps({"id": id_, "query": question}, ensure_ascii=False) for question, id_ in ids.items()]
    # A key with a tab or a line break would end its column.
    rows = [
        f"{ids[one.question]}\t{one.document}\t{one.relevance:g}" for one in found if _BREAK.isdisjoint(one.document)
    ]
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with replacing(folder) as made:
            made.mkdir()
            _write(made / "queries.jsonl", queries)
            _write(made / "qrels.tsv", ["query\tdocument\trelevance", *rows])
            if documents:
                _write(made / "corpus.jsonl", _documents(client, corpus_name))
    except OSError as error:
        raise QuerySetError(f"{folder} can't be written ({error.strerror}).", "Give a folder of yours.") from error
    return QuerySetSize(len(ids), len(found))


@dataclass(frozen=True, slots=True)
class QuerySetSize:
    """The numbers of questions and of judgements of a queryset."""

    questions: int
    judgements: int


def _documents(client: Client, corpus_name: str) -> Iterator[str]:
    for document in read_documents(client, corpus_name):
        entry = document.entry
        fields = {"id": entry.key, "title": entry.title, "metadata": dict(entry.metadata)}
        yield json.dumps({**fields, "text": document.text}, ensure_ascii=False)


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
