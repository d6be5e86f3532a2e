"""Windows: the chunks around a hit in its document, its neighbours or its section, by which a context expands it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate, count
from typing import TYPE_CHECKING, NamedTuple

from pipeline.errors import QuestionError

if TYPE_CHECKING:
    # numpy comes with the records, and every command imports the names of the expansions.
    from pipeline.records import Hit
    from pipeline.retrieve.filters.matches import Matches
    from pipeline.retrieve.reader import CorpusReader

_CHARACTERS = 8
"""Characters of a token, mostly fewer. Chosen by hand, to bound the texts that are read for a budget."""

_SHORTEST = 16
"""Tokens of a chunk, mostly more. Chosen by hand, to bound how far a section is looked through for a budget."""


class Expand(StrEnum):
    """Expansion of hits by nothing, by the chunk before and the one after, or by the rest of the section.

    Elsewhere the second is called a (sentence) window, and the third a parent document, or auto-merging.
    """

    NONE = "none"
    NEIGHBOURS = "neighbours"
    SECTION = "section"


def expand_named(name: str) -> Expand:
    """Return the expansion of that name; raises QuestionError, listing all, if there is none."""
    if name not in set(Expand):
        raise QuestionError(f"There is no expansion {name!r}.", f"Use one of {', '.join(Expand)}.")
    return Expand(name)


class Window(NamedTuple):
    """The chunks before a hit and those after it, the nearest first."""

    before: tuple[Hit, ...]
    after: tuple[Hit, ...]


class _Near(NamedTuple):
    id: str
    characters: int


def read_windows(
    reader: CorpusReader, hits: Sequence[Hit], generation: int, expand: Expand, budget: int, matches: Matches | None
) -> dict[str, Window]:
    """Return the windows of hits, given best first, by id, with as much text as a budget of tokens may have room for.

    A section is the run of chunks around the hit whose heading is that of the hit or below it. A window ends before a
    chunk that isn't among ``matches``. Raises Superseded if the chunks may be gone by now.
    """
    if expand is Expand.NONE or not hits:
        return {}
    reach = 1 if expand is Expand.NEIGHBOURS else 1 + budget // _SHORTEST
    given = [{"id": hit.id, "document": hit.document, "ordinal": hit.ordinal, "heading": hit.heading} for hit in hits]
    rows = reader.corpus.at(generation).read("chunks_around", hits=given, reach=reach, section=expand is Expand.SECTION)
    around = {row["hit"]: {ordinal: _Near(*chunk) for ordinal, *chunk in row["chunks"]} for row in rows}
    ids = {chunk.id for chunks in around.values() for chunk in chunks.values()}
    admitted = ids if matches is None else matches.keep(ids)
    found = _within({hit.id: _sides(hit, around.get(hit.id, {}), admitted) for hit in hits}, _CHARACTERS * budget)
    shown = dict.fromkeys(chunk.id for sides in found.values() for side in sides for chunk in side)
    stored = reader.hits.read(list(shown), generation)
    return {id_: Window(*(tuple(stored[one.id].hit for one in side) for side in sides)) for id_, sides in found.items()}


_Sides = tuple[list[_Near], list[_Near]]


def _sides(hit: Hit, around: Mapping[int, _Near], admitted: Container[str]) -> _Sides:
    """Return the chunks before and after a hit, as far as they follow each other and are admitted."""

    def outward(step: int) -> Iterator[_Near]:
        for ordinal in count(hit.ordinal + step, step):
            chunk = around.get(ordinal)
            if chunk is None or chunk.id not in admitted:
                return
            yield chunk

    return list(outward(-1)), list(outward(1))


def _within(windows: Mapping[str, _Sides], room: int) -> dict[str, _Sides]:
    """Return the windows of the first hits, each side cut off where it exceeds the characters that are left for it."""
    kept: dict[str, _Sides] = {}
    for id_, (before, after) in windows.items():
        if room <= 0:
            break
        kept[id_] = _cut(before, room), _cut(after, room)
        room -= sum(chunk.characters for side in kept[id_] for chunk in side)
    return kept


def _cut(side: Sequence[_Near], room: int) -> list[_Near]:
    sums = accumulate(chunk.characters for chunk in side)
    return [chunk for chunk, total in zip(side, sums, strict=True) if total <= room]
