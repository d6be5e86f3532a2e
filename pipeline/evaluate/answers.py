"""Answers in contexts: in how many questions the text that a language model reads holds an answer.

A context holds an answer if its words hold those of the answer in a row, as SQuAD's evaluation compares them: without
case, punctuation and English articles. Questions whose answers are all "yes" or "no" aren't looked at.
"""

import unicodedata
from collections.abc import Iterable, Sequence

from pipeline.evaluate.datasets import Query

BUDGETS = (500, 1000, 2000, 4000)
"""Tokens of a context, chosen by hand: from a few passages to as much as a prompt mostly has room for."""

_ARTICLES = frozenset(("a", "an", "the"))
_OPINIONS = frozenset(("yes", "no"))


def with_answers(queries: Iterable[Query]) -> list[Query]:
    """Return the queries that have an answer which a text can hold."""
    return [query for query in queries if any(map(_sought, query.answers))]


def holds_answer(context: str, answers: Sequence[str]) -> bool:
    """Return whether a text holds one of the answers."""
    text = f" {' '.join(_words(context))} "
    return any(f" {' '.join(words)} " in text for words in map(_sought, answers) if words)


def _sought(answer: str) -> list[str]:
    words = _words(answer)
    return [] if set(words) <= _OPINIONS else words


def _words(text: str) -> list[str]:
    spaced = "".join(" " if unicodedata.category(sign)[0] in "PSZC" else sign for sign in text.casefold())
    return [word for word in spaced.split() if word not in _ARTICLES]
