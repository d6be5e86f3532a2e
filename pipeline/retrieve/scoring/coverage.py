"""Coverage: the words of a question that candidates say in a single sentence, and the words they say close together.

Two passages that answer a question together cover it together, each in one of its sentences.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import ahocorasick
import numpy as np
from numpy.typing import NDArray

from pipeline.records import Vector
from pipeline.text.cached import cached
from pipeline.text.fold import MARKS, bare
from pipeline.text.index_words import compared_words
from pipeline.text.inflection import snowball, stemmed
from pipeline.text.names import FUNCTION_WORDS
from pipeline.text.scripts import is_run

_WORD = re.compile(f"[^\\W_]+(?:[{MARKS}]+[^\\W_]*)*")
_SPACE, _LINE_END = ord(" "), ord("\n")
_FULL_STOPS = tuple(map(ord, ".!?"))
_WIDE_STOPS = tuple(map(ord, "。！？"))  # no space follows them
_ENDINGS = frozenset(("s", "t"))  # of a possessive (Ada's) or a contraction (can't)
_CLOSE = 30  # characters, at most, between the beginnings of two words that stand close together: about four words
_NEXT = 6  # following words that may stand close to a word; chosen by hand, not measured
_PIECES = 3  # of a passage: title, heading and text


class Bared(NamedTuple):
    """The title, heading and text of a passage, a line each, folded for comparison.

    ``pieces`` is where the three begin, ``sentences`` where sentences do, both rising; the former are among the latter.
    """

    text: str
    pieces: NDArray[np.intp]
    sentences: NDArray[np.intp]


@dataclass(frozen=True)
class Passage:
    """A candidate as the scorer reads it.

    ``centroid`` is that of its document's vectors, None for a document of one chunk.
    """

    text: str
    title: str
    heading: str
    document: str
    centroid: Vector | None = None

    @cached_property
    def bared(self) -> Bared:
        """The passage for comparison, kept with it: other questions find it too."""
        return _bared_together([self])[0]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The terms of a question that passages hold.

    ``sentences`` has a row for each sentence and a column for each term, 1 where the sentence or the title of its
    passage holds it: sentences often say "she". Those of a passage begin at its row in ``starts``. ``weights`` are the
    terms' inverse document frequencies among the passages, at most 1 in all. ``pairs`` has a row for each passage and a
    column for each two terms that follow each other in the question, 1 where they stand close together;
    ``pair_weights`` weighs these as ``weights`` does terms. ``held`` is the share of the terms that each passage holds.
    """

    sentences: NDArray[np.float64]
    starts: NDArray[np.intp]
    weights: NDArray[np.float64]
    pairs: NDArray[np.float64]
    pair_weights: NDArray[np.float64]
    held: NDArray[np.float64]

    def alone(self) -> NDArray[np.float64]:
        """Return for each passage the largest share of the question that a single sentence covers."""
        best: NDArray[np.float64] = np.maximum.reduceat(self.sentences @ self.weights, self.starts)
        return best

    def proximity(self) -> NDArray[np.float64]:
        """Return for each passage the share of the question's pairs of terms that stand close together in it."""
        close: NDArray[np.float64] = self.pairs @ self.pair_weights
        return close

    def together(self, first: Sequence[int]) -> NDArray[np.float64]:
        """Return the largest share that a sentence of each passage and one of each of ``first`` cover together."""
        if not first:
            return np.zeros((len(self.starts), 0))
        ends = np.append(self.starts[1:], len(self.sentences))
        rows = np.concatenate([np.arange(self.starts[row], ends[row]) for row in first])
        lengths = [ends[row] - self.starts[row] for row in first]
        others = self.sentences[rows]
        alone = self.sentences @ self.weights
        pairs = alone[:, None] + alone[rows][None, :] - (self.sentences * self.weights) @ others.T
        columns = np.maximum.reduceat(pairs, np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp), axis=1)
        best: NDArray[np.float64] = np.maximum.reduceat(columns, self.starts, axis=0)
        return best


def terms_of(question: str) -> list[str]:
    """Return the stems of a question's words, each once; function words only if there are no others."""
    return list(words_by_term(question))


def words_by_term(question: str) -> dict[str, str]:
    """Return the terms of a question, in order, each with the first word that has this stem."""
    every = compared_words(question.replace("_", " "))
    telling = [word for word in every if word not in FUNCTION_WORDS and word not in _ENDINGS]
    words: dict[str, str] = {}
    for word in telling or every:
        words.setdefault(stem(word), word)
    return words


def coverage(terms: Sequence[str], passages: Sequence[Passage], named: Mapping[str, float]) -> Coverage:
    """Find the terms of a question in passages, at least one.

    ``named`` holds the terms of the question's names with the confidence in their name, 0 to 1. A term loses this share
    of its weight, since a passage about another thing of that name ("Charley's Aunt" of another year) is no answer.
    """
    _keep_bared(passages)
    # All passages are searched as one text: a call for each sentence would take several times as long.
    bared = [each.bared for each in passages]
    offsets = np.cumsum([0, *(len(each.text) + 1 for each in bared)])[:-1]
    begins = (offsets[:, None] + np.array([each.pieces for each in bared])).ravel()
    counts = [len(each.sentences) for each in bared]
    sentences = np.concatenate([each.sentences for each in bared]) + np.repeat(offsets, counts)
    places, columns = _occurrences("\n".join(each.text for each in bared), terms)
    piece = np.searchsorted(begins, places, side="right") - 1
    passage, field = np.divmod(piece, _PIECES)
    whole, titles = np.zeros((2, len(passages), len(terms)))
    whole[passage, columns] = 1
    titles[passage[field == 0], columns[field == 0]] = 1
    in_text = field == _PIECES - 1
    sentence = np.searchsorted(sentences, places[in_text], side="right") - 1
    first = np.searchsorted(sentences, begins[_PIECES - 1 :: _PIECES])
    # The first sentence of each passage, and the sentences that hold a term.
    rows = np.union1d(first, sentence)
    starts = np.searchsorted(rows, first)
    sentence_terms = titles[np.searchsorted(starts, np.arange(len(rows)), side="right") - 1]
    sentence_terms[np.searchsorted(rows, sentence), columns[in_text]] = 1
    shares = np.array([1 - named.get(term, 0.0) for term in terms])
    close = np.zeros((len(passages), max(len(terms) - 1, 0)))
    close[_pairs(places, columns, piece)] = 1
    pair_shares = np.maximum(shares[:-1], shares[1:])
    held = whole.mean(axis=1) if terms else np.zeros(len(passages))
    return Coverage(sentence_terms, starts, _weights(whole, shares), close, _weights(close, pair_shares), held)


def terms_held(terms: Sequence[str], passages: Sequence[Passage]) -> NDArray[np.bool_]:
    """Return which terms of a question each passage holds in its title, heading or text, a row for each passage."""
    texts = [_bared("\n".join((each.title, each.heading, each.text))) for each in passages]
    held = np.zeros((len(passages), len(terms)), dtype=np.bool_)
    places, columns = _occurrences("\n".join(texts), terms)
    begins = np.cumsum([0, *(len(text) + 1 for text in texts)])
    held[np.searchsorted(begins, places, side="right") - 1, columns] = True
    return held


def _keep_bared(passages: Sequence[Passage]) -> None:
    """Fold those that no question has met yet: one by one they take more than twice as long."""
    new = [each for each in passages if "bared" not in vars(each)]
    for passage, bared in zip(new, _bared_together(new), strict=True):
        vars(passage)["bared"] = bared  # where the property keeps it


def _bared_together(passages: Sequence[Passage]) -> list[Bared]:
    """Return passages for comparison, their sentences found in one text; each is as it would be alone."""
    if not passages:
        return []
    pieces = [_bared(piece) for each in passages for piece in (each.title, each.heading, each.text)]
    sizes = np.array([len(piece) + 1 for piece in pieces])
    begins = np.cumsum(sizes) - sizes
    text = "\n".join(pieces)
    firsts = begins[::_PIECES]
    sentences = np.union1d(begins, _sentence_starts(text))
    ends = [*firsts[1:].tolist(), len(text) + 1]
    of_each = np.split(sentences, np.searchsorted(sentences, firsts[1:]))
    rows = zip(firsts.tolist(), ends, begins.reshape(-1, _PIECES), of_each, strict=True)
    return [Bared(text[first : end - 1], at - first, starts - first) for first, end, at, starts in rows]


def _bared(text: str) -> str:
    # Most texts have nothing to fold; a question has a hundred of them.
    return text.lower() if text.isascii() else bare(text)


def _sentence_starts(text: str) -> NDArray[np.intp]:
    """Return where sentences begin: after a line end, or after white space that follows a full stop or the like."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    blank = (codes == _SPACE) | (codes == _LINE_END)
    ends = codes == _LINE_END
    stops = np.logical_or.reduce([codes[:-1] == stop for stop in _FULL_STOPS])
    ends[1:] |= stops & blank[1:]
    ends |= np.logical_or.reduce([codes == stop for stop in _WIDE_STOPS])
    return np.flatnonzero(ends) + 1


def _occurrences(text: str, terms: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of words with the stems ``terms`` in a lower-case text, and the column of each one's stem."""
    columns = {term: column for column, term in enumerate(terms)}
    automaton = ahocorasick.Automaton()
    for term in terms:
        # A stem may end differently from its words (studi, study), but seldom begins differently.
        run = is_run(term)
        beginning = term if run else term[: max(2, len(term) - 1)]
        automaton.add_word(beginning, (len(beginning) - 1, columns[term] if run else None))
    automaton.make_automaton()
    column_at: dict[int, int] = {}
    column_of: dict[str, int | None] = {}  # of the words so far: few words make most places
    match = _WORD.match
    for last, (before, column) in automaton.iter(text) if terms else ():
        place = last - before
        if column is None:
            if (place and text[place - 1].isalnum()) or (found := match(text, place)) is None:
                continue
            word = found.group()
            if word not in column_of:
                column_of[word] = columns.get(stem(word))
            column = column_of[word]
        if column is not None:
            column_at[place] = column
    return np.array(list(column_at), dtype=np.intp), np.array(list(column_at.values()), dtype=np.intp)


def _pairs(
    places: NDArray[np.intp], columns: NDArray[np.intp], pieces: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pairs of terms close together as rows (passages) and columns (pairs), possibly with repeats.

    ``places`` rise; ``columns`` is the term at each place, and ``pieces`` the title, heading or text that holds it.
    """
    pairs = []
    for apart in range(1, _NEXT + 1):
        left, right = slice(None, -apart), slice(apart, None)
        near = (places[right] - places[left] <= _CLOSE) & (pieces[right] == pieces[left])
        near &= np.abs(columns[right] - columns[left]) == 1
        pairs.append((pieces[left][near] // _PIECES, np.minimum(columns[left], columns[right])[near]))
    rows, firsts = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return rows, firsts


def _weights(whole: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    frequencies = whole.sum(axis=0)
    rarity = np.where(frequencies > 0, np.log1p(len(whole) / np.maximum(frequencies, 1)), 0.0)
    weights: NDArray[np.float64] = rarity * shares / (rarity.sum() or 1.0)
    return weights


def named_share(terms: Sequence[str], named: Mapping[str, float]) -> float:
    """Return the share of a question's terms that are in its names, each weighted by the confidence; 0 to 1."""
    return sum(named.get(term, 0.0) for term in terms) / max(len(terms), 1)


def stems(text: str) -> list[str]:
    """Return the stems of the words of a text, with repeats."""
    return list(map(stem, compared_words(text)))


@cached(100_000)  # chosen by hand, to bound memory
def stem(word: str) -> str:
    """Return the stem of a word in lower case: by its script, or the English one."""
    if not word.isascii() and (of_script := stemmed(word)) != word:
        return of_script
    return snowball(word)
