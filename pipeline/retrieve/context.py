"""Passages as a language model reads them best: in the order of a chain, with sources, within a budget of tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipeline.records import Hit
from pipeline.retrieve.passage_relations import Tie, Ties
from pipeline.retrieve.results import RetrieverResult

Count = Callable[[str], int]
"""Says how many tokens a text has."""

_CUT = " ..."


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document: a chunk, or several that follow each other, joined.

    ``rank`` is that of its best chunk, ``source`` its file and lines, or its key in a .jsonl file. ``tie`` says what it
    shares with an earlier passage, whose number, from 1, is ``after``; both are None where it stands by itself.
    """

    text: str
    document: str
    title: str
    heading: str
    source: str
    rank: int
    chunks: tuple[str, ...]
    after: int | None = None
    tie: Tie | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What is given to a language model: passages in reading order, and how many tokens they take as Markdown.

    ``left_out`` counts the hits for which there was no room; ``metadata`` is that of the search.
    """

    question: str
    passages: tuple[Passage, ...]
    tokens: int
    budget: int
    left_out: int
    metadata: Mapping[str, Any]

    def to_markdown(self) -> str:
        """Return the passages as Markdown, numbered so that they can be cited."""
        return _markdown(self.passages)

    def to_json(self) -> dict[str, Any]:
        """Return the context as plain JSON values, its Markdown included."""
        return {**asdict(self), "markdown": self.to_markdown()}


def build_context(question: str, result: RetrieverResult, ties: Ties, budget: int, count: Count) -> Context:
    """Take hits, best first, as long as the whole has at most ``budget`` tokens, and put them in reading order.

    A hit that has no room is left out, and later ones are tried. Of a first one without room the beginning is taken.
    """
    hits: list[Hit] = []
    passages: tuple[Passage, ...] = ()
    for hit in result.hits:
        longer = _chained(_joined([*hits, hit]), ties)
        if count(_markdown(longer)) <= budget:
            hits.append(hit)
            passages = longer
        elif not hits:
            passages = _shortened(longer[0], budget, count)
            hits += [hit] if passages else []
    tokens, left_out = count(_markdown(passages)), len(result.hits) - len(hits)
    return Context(question, passages, tokens, budget, left_out, result.metadata)


def _joined(hits: Sequence[Hit]) -> list[Passage]:
    """Return hits as passages, best first; chunks that follow each other in a document become one."""
    runs: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: (hit.document, hit.ordinal)):
        if runs and _follows(runs[-1][-1], hit):
            runs[-1].append(hit)
        else:
            runs.append([hit])
    return sorted(map(_passage, runs), key=lambda passage: passage.rank)


def _follows(before: Hit, after: Hit) -> bool:
    return before.document == after.document and before.ordinal + 1 == after.ordinal


def _passage(run: Sequence[Hit]) -> Passage:
    first, last = run[0], run[-1]
    in_lines = not first.path or first.path.endswith((".json", ".jsonl"))
    text, end = "", 0
    for hit in run:
        # A chunk begins with the last sentences of the one before it, or after white space.
        overlap = max(0, end - hit.start)
        text += ("\n\n" if text and not overlap else "") + hit.text[overlap:]
        end = hit.end
    return Passage(
        text=text.strip(),
        document=first.document,
        title=first.title or first.document,
        heading=first.heading,
        source=first.document if in_lines else f"{first.path}:{first.line_start}-{last.line_end}",
        rank=min(hit.rank for hit in run),
        chunks=tuple(hit.id for hit in run),
    )


def _chained(passages: Sequence[Passage], ties: Ties) -> tuple[Passage, ...]:
    """Return passages, given best first, so that each follows what it hangs together with: the best one first.

    Next comes the one most strongly tied to the last, weighed by its rank; without such a tie the one tied to any
    before it; without that the best that is left.
    """
    left = list(passages)
    placed = [left.pop(0)] if left else []
    while left:
        best = max(left, key=lambda passage: (_pull(passage, placed[-1:], ties), _pull(passage, placed, ties)))
        left.remove(best)
        placed.append(_tied(best, placed, ties))
    return tuple(placed)


def _pull(passage: Passage, placed: Sequence[Passage], ties: Ties) -> float:
    found = [tie.strength for one in placed if (tie := _tie(passage, one, ties))]
    return max(found, default=0.0) / math.log2(1 + passage.rank)


def _tied(passage: Passage, placed: Sequence[Passage], ties: Ties) -> Passage:
    """Return a passage with its strongest tie to those before it, the nearest of equals."""
    found = [(tie.strength, number, tie) for number, one in enumerate(placed, 1) if (tie := _tie(passage, one, ties))]
    if not found:
        return passage
    _, number, tie = max(found, key=lambda one: one[:2])
    return replace(passage, after=number, tie=tie)


def _tie(passage: Passage, earlier: Passage, ties: Ties) -> Tie | None:
    return ties.between(passage.chunks, earlier.chunks, same_document=passage.document == earlier.document)


def _shortened(passage: Passage, budget: int, count: Count) -> tuple[Passage, ...]:
    """Return a passage cut to the budget, at a word's end where it has spaces; nothing if not even its head fits."""
    low, high = 0, len(passage.text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count(_markdown((replace(passage, text=passage.text[:middle] + _CUT),))) <= budget
        low, high = (middle, high) if fits else (low, middle - 1)
    text = passage.text[:low]
    text = text if passage.text[low : low + 1].isspace() else (text.rpartition(" ")[0] or text)
    return (replace(passage, text=text.rstrip() + _CUT),) if text.strip() else ()


def _markdown(passages: Sequence[Passage]) -> str:
    return "\n".join(_section(number, passage) for number, passage in enumerate(passages, 1))


def _section(number: int, passage: Passage) -> str:
    head = " > ".join(part for part in (passage.title, passage.heading) if part)
    tie = "" if passage.tie is None else f"; {passage.tie} [{passage.after}]"
    return f"## [{number}] {head}\n\nSource: {passage.source}{tie}\n\n{passage.text}\n"
