"""Datasets as HippoRAG publishes them: ``NAME.json`` with questions beside ``NAME_corpus.json`` with passages.

The corpus is a list of {title, text}, or, in the first release, an object of titles with lists of sentences. A question
has the passages that answer it in one of three forms: ``supporting_facts`` that name titles of its ``context``
(HotpotQA, 2WikiMultiHopQA), ``paragraphs`` (MuSiQue), or ``contexts``, some of them marked ``is_supporting``. They are
looked up in the corpus by title and text.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeAlias

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets.dataset import Dataset, Query, answer_texts
from pipeline.files import Guard, read_json
from pipeline.files.limits import LARGE_LIMITS
from pipeline.grouping import grouped
from pipeline.records import Document
from pipeline.text.outline import paragraphs

SUFFIX = "_corpus.json"
"""Ending of the name of a corpus file."""

_FIX = "Give the files as HippoRAG publishes them: NAME.json and NAME_corpus.json in one folder."
_GUARD = Guard(QuerySetError, _FIX, LARGE_LIMITS, mend=True)
_LONGEST_TITLE = 500  # characters, since a title is a document's key; chosen by hand

Passage: TypeAlias = tuple[str, str]
"""A title and a text."""


def read_hipporag(questions: Path) -> Dataset:
    """Read the dataset with the questions in ``questions``; the corpus is beside it.

    The key of a document is its title; a second document of that title is ``title (2)``, and so on. Questions without
    an id are numbered from 1. Raises ``QuerySetError``, naming file and entry, if something is missing or malformed, or
    a passage that answers a question is not in the corpus.
    """
    corpus = questions.with_name(f"{questions.stem}{SUFFIX}")
    documents = tuple(_documents(corpus))
    by_title = grouped((document.title, document.key) for document in documents)
    by_passage = {_folded(document.title, document.text): document.key for document in documents}

    def key_of(passage: Passage, where: str) -> str:
        key = by_passage.get(_folded(*passage))
        titled = by_title[passage[0].strip()]
        if key is None and len(titled) != 1:
            raise QuerySetError(
                f"{where}: the passage {passage[0]!r}, which answers it, is not in the corpus",
                "Give the corpus that was published with the questions.",
            )
        return key or titled[0]

    queries: dict[str, Query] = {}
    unjudged = []
    for place, entry in enumerate(_listed(read_json(questions, _GUARD), questions), 1):
        where = f"{questions}, question {place}"
        query_id, text = str(entry.get("_id", entry.get("id", place))), entry.get("question")
        if not isinstance(text, str) or not text.strip():
            raise QuerySetError(f"{where} has the question {text!r:.80}", "Give it a question.")
        if query_id in queries:
            raise QuerySetError(f"{where}: the id {query_id!r} was used before", "Give every question its own id.")
        relevant = {key_of(passage, where): 1.0 for passage in _supporting(entry, where)}
        if relevant:
            answers = answer_texts(entry.get("answer"), entry.get("answers"), entry.get("answer_aliases"))
            queries[query_id] = Query(query_id, text, relevant, answers=answers)
        else:
            unjudged.append(query_id)
    if not queries:
        raise QuerySetError(f"{questions} has no question with a passage that answers it", _FIX)
    return Dataset(questions.stem, tuple(queries.values()), tuple(unjudged), documents=documents)


def _documents(path: Path) -> Iterator[Document]:
    """Yield the documents of a corpus; a repeated passage comes once."""
    seen: set[Passage] = set()
    keys: set[str] = set()
    for place, (title, text) in enumerate(_passages(path), 1):
        if (title, text) in seen:
            continue
        seen.add((title, text))
        name = title[:_LONGEST_TITLE] or f"passage {place}"
        numbered = (f"{name} ({number})" for number in count(2))
        key = next(free for free in chain([name], numbered) if free not in keys)
        keys.add(key)
        yield Document(key, title, text, tuple(paragraphs(text)), path=str(path))


def _passages(path: Path) -> Iterator[Passage]:
    loaded = read_json(path, _GUARD)
    if isinstance(loaded, dict):
        for title, sentences in loaded.items():
            where = f"{path}, {title!r}"
            yield title.strip(), _joined(sentences, where)
        return
    for place, entry in enumerate(_listed(loaded, path), 1):
        where = f"{path}, passage {place}"
        text = entry.get("text")
        if not isinstance(text, str):
            raise QuerySetError(f"{where} has no text", _FIX)
        yield str(entry.get("title") or "").strip(), text


def _supporting(entry: Mapping[str, Any], where: str) -> list[Passage]:
    """Return the passages that answer a question."""
    try:
        if "supporting_facts" in entry:
            titles = {fact[0] for fact in entry["supporting_facts"]}
            return [(title, _joined(text, where)) for title, text in entry["context"] if title in titles]
        marked = entry.get("contexts", entry.get("paragraphs"))
        return [
            (str(passage["title"]), str(passage.get("text", passage.get("paragraph_text"))))
            for passage in marked
            if passage.get("is_supporting", True)
        ]
    except (TypeError, KeyError, IndexError, ValueError, AttributeError) as error:
        raise QuerySetError(f"{where} doesn't say which passages answer it ({error!r})", _FIX) from error


def _joined(sentences: object, where: str) -> str:
    if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
        raise QuerySetError(f"{where} is no list of sentences", _FIX)
    spaced = any(sentence[:1].isspace() for sentence in sentences[1:])
    return ("" if spaced else " ").join(sentences)


def _listed(loaded: object, path: Path) -> list[dict[str, Any]]:
    if not isinstance(loaded, list) or not loaded or not all(isinstance(entry, dict) for entry in loaded):
        raise QuerySetError(f"{path} is not a list of objects", _FIX)
    return loaded


def _folded(title: str, text: str) -> Passage:
    """Return a passage in the form it is compared in: without white space, since joined sentences may lack spaces."""
    return title.strip(), "".join(text.split())
