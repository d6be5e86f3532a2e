"""A question as the legs need it: checked, as full-text terms, and as the names that it may hold."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.errors import QuestionError
from pipeline.identifiers import is_identifier
from pipeline.names import ARTICLES, FUNCTION_WORDS, Word, name_key, singular, without_middle_initials, words

LONGEST = 10_000
"""Characters; a longer text is a document, not a question."""

_OPERATOR = re.compile(r"[-+&|!(){}\[\]^\"~*?:\\/]")
_AROUND = "\"'.,;:!?()[]{}…"
_TOKEN = re.compile(r"[^\W\u2e80-\U0010ffff]+|[\u2e80-\U0010ffff]")
"""What an analyser makes of a text at most: words, and ideographs by themselves."""

_MOST_TOKENS = 256
"""Lucene takes 1,024 clauses in a query, and each token is one in each of three fields."""

_MOST_NAME_WORDS = 8
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class PossibleName:
    """Words ``first`` to ``last`` (inclusive) of a question that may be the name of an entity with this key."""

    key: str
    first: int
    last: int


def check_question(text: str) -> str:
    """Return the question without outer white space; raises QuestionError if nothing is left or it is too long."""
    # Bytes of a command line that aren't UTF-8 come as lone surrogates, which neither tokenizer nor server takes.
    question = text.strip().encode("utf-8", "replace").decode("utf-8")
    if not question:
        raise QuestionError("The question is empty.", "Ask something.")
    if len(question) > LONGEST:
        raise QuestionError(
            f"The question has {len(question):,} characters; {LONGEST:,} are the most.", "Ask for less at a time."
        )
    return question


def check_vector(vector: Sequence[float], dimension: int) -> None:
    """Raise QuestionError unless a vector has ``dimension`` numbers and points somewhere."""
    if len(vector) != dimension:
        raise QuestionError(
            f"The vector has {len(vector)} numbers; the corpus has {dimension}.",
            "Embed the question with the corpus's model.",
        )
    if not 0 < math.hypot(*vector) < math.inf:
        raise QuestionError(
            "The vector is zero, or holds a number that isn't finite.", "Embed the question with the corpus's model."
        )


def fulltext_terms(question: str) -> str:
    """Return the question for Lucene, its operators made text; the analyser cuts its words as it did the passages'.

    Repeated words are left out, and all that follows the first 256 tokens.
    """
    terms = []
    room = _MOST_TOKENS
    words_of = (term.strip(_AROUND) for term in question.lower().split())
    for term in dict.fromkeys(filter(None, words_of)):
        size = len(_TOKEN.findall(term))
        kept = term if size <= room else term[:room]
        terms.append(_OPERATOR.sub(r"\\\g<0>", kept))
        room -= min(size, room)
        if not room:
            break
    return " ".join(terms)


def possible_names(question: str) -> list[PossibleName]:
    """Return all runs of up to eight words that may be a name: as it is, in the singular, without middle initials.

    A run holds a word with a capital or a figure, or two words at least; function words (who, in, the) neither begin
    nor end it, except for an article before a name. In a question without capitals any word may be a name. The
    graph then says which of them are. An identifier (snake_case, --flag) is one by itself.
    """
    # Where all is in capitals they say nothing, and one word in capitals alone is an acronym.
    if question.isupper() and " " in question.strip():
        question = question.lower()
    found = words(question)[:_MOST_WORDS]
    no_capitals = not any(word.text[0].isupper() for word in found[1:])
    runs = []
    for first in range(len(found)):
        for last in range(first, min(first + _MOST_NAME_WORDS, len(found))):
            run = found[first : last + 1]
            text = question[run[0].start : run[-1].end]
            written = len(run) == 1 and is_identifier(question, run[0].start, run[0].end)
            if written or _may_be_name(run, no_capitals):
                runs += [PossibleName(key, first, last) for key in _keys(text) if len(key) > 1]
    return runs


def longest_names(possible: Sequence[PossibleName], known: Mapping[str, object]) -> list[str]:
    """Return the keys of the possible names that are ``known``: the longest first, and none that overlaps another."""
    taken: set[int] = set()
    chosen: list[str] = []
    for name in sorted(possible, key=lambda name: (name.first - name.last, name.first)):
        span = range(name.first, name.last + 1)
        if name.key in known and taken.isdisjoint(span):
            taken.update(span)
            if name.key not in chosen:
                chosen.append(name.key)
    return chosen


def _may_be_name(run: Sequence[Word], no_capitals: bool) -> bool:
    bare = run[1:] if run[0].text.lower() in ARTICLES else run
    if not bare or _is_function_word(bare[0]) or _is_function_word(bare[-1]):
        return False
    return len(bare) > 1 or no_capitals or _looks_like_name(bare[0])


def _is_function_word(word: Word) -> bool:
    """Whether a word is one of grammar: lower-case, or capitalised only for a sentence begins with it."""
    acronym = len(word.text) > 1 and word.text.isupper()
    return word.text.lower() in FUNCTION_WORDS and ((word.initial and not acronym) or word.text[0].islower())


def _looks_like_name(word: Word) -> bool:
    return word.text[0].isupper() or any(char.isdigit() or char == "_" for char in word.text)


def _keys(text: str) -> list[str]:
    key = name_key(text)
    return list(dict.fromkeys([key, singular(key), name_key(without_middle_initials(text))]))
