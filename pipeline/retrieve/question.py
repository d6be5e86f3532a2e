"""The question: checks, its full-text query, and the names that it may contain."""

import logging
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import accumulate

from pipeline.errors import QuestionError
from pipeline.text.fold import fold
from pipeline.text.index_words import query_words
from pipeline.text.names import (
    ARTICLES,
    CONNECTORS,
    FUNCTION_WORDS,
    Word,
    entity_key,
    is_identifier,
    singular,
    without_middle_initials,
    words,
)
from pipeline.text.scripts import is_run

LONGEST = 10_000
"""Characters of a question that are read: more than the model and the full-text query take of it. Chosen by hand."""

_LONGEST_WRITTEN = 4 * LONGEST
"""Characters of a question that are folded, of which some are dropped: however long it is, it costs no more."""

_log = logging.getLogger(__name__)
_remarks: ContextVar[tuple[list[str], ...]] = ContextVar("remarks", default=())

_JOINERS = "._'’,"
_SHAPING = "\u200c\u200d"
_KEPT = f"{_JOINERS}{_SHAPING}"  # those that shape words of Persian and of India
_WITHIN = re.compile(r"\w['’](?!s\Z)\w")
_OTHER_APOSTROPHE = str.maketrans("'’", "’'")
"""The analyser keeps an apostrophe within a word as it is written, and drops a possessive with either."""

_JOINED = re.compile("[._'’,]+")
_COMMA = re.compile(r"(?<!\d),|,(?!\d)")  # one that doesn't join digits, as in 10,000

_TOKEN = re.compile(r"[^\W\u2e80-\U0010ffff]+|[\u2e80-\U0010ffff]")
"""The most tokens that an analyser makes of a text: words, and single ideographs."""

_MOST_TOKENS = 256  # Lucene allows 1,024 clauses in a query; each token is one in each of four fields

_HEAD_BOOST = 0.6
"""Weight of a match in title or heading; 1 in the text. Chosen on SciFact, CISI and three documentations."""

_MOST_NAME_WORDS, _MOST_NAME_SYLLABLES = 8, 16
_MOST_WORDS = 200
"""Words of a name, or its syllables in a script without spaces, and words of a question that are looked at for names.

Few names are longer. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class PossibleName:
    """Words ``first`` to ``last`` (inclusive) of a question that may name the entity with this key.

    ``capitalised``: all words are, except articles and connectors. A single word at the beginning of a sentence doesn't
    count as capitalised.
    """

    key: str
    first: int
    last: int
    capitalised: bool


def check_question(text: str, kind: str = "question") -> str:
    """Return the question folded, without outer white space and as far as it is read; raises QuestionError if empty.

    That a longer one is cut is logged as a warning, and told to :func:`remarks`. ``kind`` is what its asker calls it.
    """
    refuse_empty(text, kind)
    written = text.strip()
    question = _folded(written)
    read = as_read(question)
    if len(read) < len(question) or len(written) > _LONGEST_WRITTEN:
        remark = f"The {kind} has {len(written):,} characters; its first {len(read):,} are read."
        _log.warning("%s", remark)
        for told in _remarks.get():
            told += [remark] if remark not in told else []
    return read


@contextmanager
def remarks() -> Iterator[list[str]]:
    """Yield the list of what is to be said of the questions that are checked meanwhile: which were read in part."""
    told: list[str] = []
    token = _remarks.set((*_remarks.get(), told))
    try:
        yield told
    finally:
        _remarks.reset(token)


def refuse_empty(text: str, kind: str = "question") -> None:
    """Raise QuestionError if a question has no character that shows."""
    if not as_asked(text):
        raise QuestionError(f"The {kind} is empty.", "Ask something." if kind == "question" else "Say what it is.")


def as_asked(text: str) -> str:
    """Return a question as it is asked: folded, without outer white space, as far as it is read; empty if it is."""
    return as_read(_folded(text.strip()))


def _folded(question: str) -> str:
    # Bytes of a command line that aren't UTF-8 arrive as lone surrogates, which tokenizer and server refuse.
    return fold(question[:_LONGEST_WRITTEN].encode("utf-8", "replace").decode("utf-8")).strip()


def as_read(question: str) -> str:
    """Return the part of a question that is read: whole words of its first 10,000 characters."""
    if len(question) <= LONGEST:
        return question
    start = question[: LONGEST + 1]
    whole = start.rsplit(maxsplit=1)[0] if start.split(maxsplit=1)[1:] else ""
    return whole or start[:LONGEST]


def check_vector(vector: Sequence[float], dimension: int) -> None:
    """Raise QuestionError unless a vector has ``dimension`` numbers, all finite and not all zero."""
    if len(vector) != dimension:
        raise QuestionError(
            f"The vector has {len(vector)} numbers; the corpus has {dimension}.",
            "Embed the question with the corpus's model.",
        )
    if not 0 < math.hypot(*vector) < math.inf:
        raise QuestionError(
            "The vector is zero, or holds a number that isn't finite.", "Embed the question with the corpus's model."
        )


def fulltext_query(question: str) -> str:
    """Return the question as a Lucene query over the text, title and heading of chunks; empty without a word.

    Words that these hold in another form, such as with soft hyphens, or within a run count as words of the text. Title
    and heading weigh less than the text: they are short, so BM25 overrates a match in them.
    """
    terms = fulltext_terms(question)
    heads = f"title:({terms})^{_HEAD_BOOST} heading:({terms})^{_HEAD_BOOST}"
    return f"text:({terms}) {heads} folded:({terms})" if terms else ""


def fulltext_terms(question: str) -> str:
    """Return the question's words as a Lucene query, split as the index splits text; a repeated word weighs more.

    Words joined by dots, underscores or apostrophes stand beside their parts, since the index holds ``max_tokens`` as
    one word, and with either apostrophe. Runs of scripts without spaces are asked for by their pairs. The query ends
    after 256 tokens.
    """
    counts: dict[str, int] = {}
    room = _MOST_TOKENS
    for term in _terms(question):
        size = 0 if term in counts else len(_TOKEN.findall(term))
        if size > room:
            if not term.startswith('"'):  # a long word of letters and signs, not a pair of ideographs
                counts[term[:room]] = 1
            break
        counts[term] = counts.get(term, 0) + 1
        room -= size
        if not room:
            break
    return " ".join(term if count == 1 else f"{term}^{count}" for term, count in counts.items())


def _terms(question: str) -> Iterator[str]:
    """Yield the words of a question in lower case, in order; a joined word comes before its parts."""
    kept = (
        char if char.isalnum() or char in _KEPT or unicodedata.category(char).startswith("M") else " "
        for char in _COMMA.sub(" ", question.lower())
    )
    for joined in "".join(kept).split():
        whole = joined.strip(_KEPT)
        parts = [part.strip(_SHAPING) for part in _JOINED.split(whole) if any(map(str.isalnum, part))]
        if len(parts) > 1:
            yield whole
        if _WITHIN.search(whole):
            yield whole.translate(_OTHER_APOSTROPHE)
        for part in parts:
            yield from query_words(part)


def possible_names(question: str, language: str = "") -> list[PossibleName]:
    """Return all runs of words that may be a name: as written, in the singular, without middle initials.

    They have up to eight words, or 16 syllables of a script without spaces.

    A run contains a word with a capital or a digit, or at least two words. It neither begins nor ends with a function
    word (who, in, the), except for an article before a name. In a question without capitals any word may be a name, and
    an identifier (snake_case, --flag) always may. ``language`` is that of the corpus (see
    :func:`pipeline.text.names.entity_key`). The graph decides which of them are names.
    """
    # In a question all in capitals they tell nothing. A single word in capitals is an acronym.
    if question.isupper() and " " in question.strip():
        question = question.lower()
    tokens = words(question)[:_MOST_WORDS]
    no_capitals = not any(word.text[0].isupper() for word in tokens[1:])
    runs = []
    grammar = [_is_function_word(word) for word in tokens]
    tells = [word.text[0].isupper() or any(char.isdigit() or char == "_" for char in word.text) for word in tokens]
    is_capitalised = _capitalised_runs(tokens)
    for first, opening in enumerate(tokens):
        article = opening.text.lower() in ARTICLES
        if grammar[first] and not article and not is_identifier(question, opening.start, opening.end):
            continue
        most = _MOST_NAME_SYLLABLES if is_run(opening.text) else _MOST_NAME_WORDS
        for last in range(first, min(first + most, len(tokens))):
            end = tokens[last]
            # An article before a name isn't part of it.
            size = last + 1 - first - article
            named = size > 0 and not (grammar[first + article] or grammar[last])
            named = named and (size > 1 or no_capitals or tells[last])
            if named or (first == last and is_identifier(question, opening.start, opening.end)):
                capitalised = is_capitalised(first, last)
                text = question[opening.start : end.end]
                key, shorter = entity_key(text, language), without_middle_initials(text)
                keys = key, singular(key), key if shorter is text else entity_key(shorter, language)
                runs += [PossibleName(key, first, last, capitalised) for key in dict.fromkeys(keys) if len(key) > 1]
    return runs


def longest_names(possible: Sequence[PossibleName], known: Mapping[str, object]) -> list[PossibleName]:
    """Return the possible names that are ``known``, by key: longest first, without overlaps.

    A name that occurs twice is returned once, as its first capitalised occurrence.
    """
    taken: set[int] = set()
    chosen: dict[str, PossibleName] = {}
    for name in sorted(possible, key=lambda name: (name.first - name.last, name.first)):
        span = range(name.first, name.last + 1)
        if name.key in known and taken.isdisjoint(span):
            taken.update(span)
            if name.key not in chosen or name.capitalised > chosen[name.key].capitalised:
                chosen[name.key] = name
    return list(chosen.values())


def _capitalised_runs(tokens: Sequence[Word]) -> Callable[[int, int], bool]:
    """Return the test of whether words, from one place to another, are capitalised as a name is.

    Words are counted once for all runs: a question of a sentence has dozens.
    """
    telling = [word.text.lower() not in ARTICLES and word.text not in CONNECTORS for word in tokens]
    small = [tells and not word.text[0].isupper() for tells, word in zip(telling, tokens, strict=True)]
    opening = [tells and word.initial for tells, word in zip(telling, tokens, strict=True)]
    told, lower, first = ([0, *accumulate(flags)] for flags in (telling, small, opening))

    def test(begin: int, last: int) -> bool:
        end = last + 1
        count = told[end] - told[begin]
        return lower[end] == lower[begin] and (count > 1 or count > first[end] - first[begin])

    return test


def _is_function_word(word: Word) -> bool:
    """Return whether a word is a function word in lower case, or capitalised only because it begins a sentence."""
    acronym = len(word.text) > 1 and word.text.isupper()
    return word.text.lower() in FUNCTION_WORDS and ((word.initial and not acronym) or word.text[0].islower())
