"""What a filter costs: few of generated documents against many, on a declared field and on one that isn't.

    uv run python tests/benchmarks/bench_filters.py --documents 20000 200000 1000000

Every document brings a vector of its own, and two fields of metadata with the same hundred values, so that one value
admits 1%: the corpus declares ``declared``, and not ``plain``. First uses are of values that weren't asked before, the
median of a few; questions are given with their vectors. Hits are compared with the plain model of the filter. Beside
wall-clock times stand those of the processor in this process. ``anonymous`` is what the process itself holds.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows.maintain import drop

_VALUES = 100
_CENTRES = 500
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()
_QUESTIONS, _UNTIMED, _FIRSTS = 60, 30, 9
_OPERATORS: tuple[Callable[[int], Any], ...] = (
    lambda value: value,
    lambda value: {"$between": [value, value]},
    lambda value: {"$in": [value]},
)


def main() -> None:
    """Generate, ingest and search, for each size in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[20_000])
    parser.add_argument("--leg", default="hoprank")
    arguments = parser.parse_args()
    table = Table(title="Filters that admit 1%, milliseconds (of the processor, here)")
    for column in ("documents", "search", "p50", "first use", "against none", "first against none", "anonymous MB"):
        table.add_column(column, justify="right")
    with HopRank.connect() as hoprank:
        for documents in arguments.documents:
            corpus = f"bench-{uuid.uuid4().hex[:8]}"
            try:
                start = time.perf_counter()
                hoprank.add(_rows(documents, hoprank.embedder.dimension), corpus, filterable=["declared"])
                print(f"{documents:,} documents in {time.perf_counter() - start:.0f} s")
                for row in _measured(hoprank, corpus, documents, arguments.leg):
                    table.add_row(*row)
            finally:
                drop(hoprank.client, corpus)
    Console(width=140).print(table)


class _Spent(NamedTuple):
    """Milliseconds by the clock and of the processor."""

    wall: float
    processor: float


def _measured(hoprank: HopRank, corpus: str, documents: int, leg: str) -> Iterator[tuple[str, ...]]:
    chance = random.Random(2)  # noqa: S311 - the same questions every time
    questions = [_question(chance, hoprank.embedder.dimension) for _ in range(_QUESTIONS + _UNTIMED)]
    plain = _median([_search(hoprank, corpus, leg, one, None) for one in questions][_UNTIMED:])
    yield f"{documents:,}", "unfiltered", _told(plain), "", "", "", _anonymous()
    for field in ("declared", "plain"):
        spent = [
            _search(hoprank, corpus, leg, question, {field: _OPERATORS[place % len(_OPERATORS)](7)})
            for place, question in enumerate(questions)
        ]
        # After the others: the server has planned the queries, and knows none of these values.
        firsts = [
            _search(hoprank, corpus, leg, question, {field: value})
            for value, question in zip(range(10, 10 + _FIRSTS), questions, strict=False)
        ]
        usual, first = _median(spent[_UNTIMED:]), _median(firsts)
        against = f"{usual.wall / plain.wall:.2f}", f"{first.wall / plain.wall:.2f}"
        yield f"{documents:,}", f"1% {field}", _told(usual), _told(first), *against, _anonymous()


def _search(
    hoprank: HopRank, corpus: str, leg: str, question: tuple[str, Sequence[float]], filters: Mapping[str, Any] | None
) -> _Spent:
    wall, processor = time.perf_counter(), time.process_time()
    found = hoprank.search(*question, corpus=corpus, leg=leg, filters=filters)
    spent = _Spent((time.perf_counter() - wall) * 1000, (time.process_time() - processor) * 1000)
    for field, condition in (filters or {}).items():
        value = next(iter(condition.values())) if isinstance(condition, dict) else condition
        value = value[0] if isinstance(value, list) else value
        admitted = [int(hit.document) % _VALUES == value for hit in found.hits]
        assert all(admitted), f"{field} {condition}: a hit that the filter doesn't admit"
        assert len(admitted) == (10 if value < _VALUES else 0), (
            "a search that finds little is quick for the wrong reason"
        )
    return spent


def _median(spent: Sequence[_Spent]) -> _Spent:
    return _Spent(*(statistics.median(column) for column in zip(*spent, strict=True)))


def _told(spent: _Spent) -> str:
    return f"{spent.wall:.1f} ({spent.processor:.1f})"


def _anonymous() -> str:
    memory = psutil.Process().memory_info()
    return f"{(memory.rss - getattr(memory, 'shared', 0)) / 2**20:,.0f}"


def _rows(documents: int, dimension: int) -> Iterator[dict[str, Any]]:
    chance, numbers = random.Random(1), np.random.default_rng(1)  # noqa: S311 - the same documents every time
    names, words = _vocabulary()
    centres = numbers.normal(size=(_CENTRES, dimension))
    for place in range(documents):
        text = " ".join(f"{chance.choice(names)} saw {' '.join(chance.choices(words, k=12))}." for _ in range(3))
        vector = centres[place % _CENTRES] + numbers.normal(size=dimension)
        value = place % _VALUES
        yield {
            "id": str(place),
            "title": chance.choice(names),
            "metadata": {"declared": value, "plain": value},
            "chunks": [{"text": text, "embedding": vector.round(3).tolist()}],
        }


def _question(chance: random.Random, dimension: int) -> tuple[str, list[float]]:
    names, words = _vocabulary()
    one, other = chance.choices(names, k=2)
    asked = f"What did {one} see that {other} saw too, {' '.join(chance.choices(words, k=3))}?"
    return asked, [chance.gauss(0, 1) for _ in range(dimension)]


@cache
def _vocabulary() -> tuple[list[str], list[str]]:
    chance = random.Random(3)  # noqa: S311 - the same words every time
    names = [" ".join(_word(chance).capitalize() for _ in range(2)) for _ in range(20_000)]
    return names, [_word(chance) for _ in range(2_000)]


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=3))


if __name__ == "__main__":
    main()
