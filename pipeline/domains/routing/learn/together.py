"""LEARNS_FROM and SIBLING: projects that one asked for from another, and that one opened in the same sittings."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import combinations

from pipeline.domains.routing.learn.clues import LOG, Clue
from pipeline.domains.routing.learn.log import Entry
from pipeline.grouping import grouped

_MOST = 0.3
"""The most that the log counts, as the weakest place in a file that is listed alone: an import in a test. So nothing
that the log says is above what a file says, or accepted unseen."""

_ENOUGH = 3
"""Times that count as much; fewer count in proportion. With fewer than three sittings, some more wrong pairs would be
proposed: 0.14 in place of 0.09 from 60 sittings over 20 projects, of which three pairs belong together (the simulation
of tests/domains/routing/test_together.py, 200 runs). With four, 55% of the right ones in place of 67%."""

_SURPRISE = 10.83
"""The least log-likelihood ratio (Dunning, 1993) of two projects in the same sittings: chance reaches it once in 1,000
pairs. Busy projects meet by chance: counts alone propose 7.4 wrong pairs in that simulation, this 0.09."""

_OTHER_SITTINGS = 12
"""Sittings without either project that are counted besides: if the log has nothing but two projects, it couldn't tell
them from projects that are always open. They cost 0.03 wrong pairs there; as many as ``routing.prior``."""

_PAUSE = timedelta(minutes=30)
"""Between two sittings, as sessions are told apart in logs of web sites (25.5 minutes in Catledge and Pitkow, 1995)."""


def asking_clues(entries: Iterable[Entry]) -> dict[str, list[Clue]]:
    """Return a clue for each project that was asked for from another, by the other."""
    times = grouped(((one.opened, asked), one.time) for one in entries if one.opened for asked in one.asked)
    clues: dict[str, list[Clue]] = {}
    for (source, asked), found in sorted(times.items()):
        number, last = len(found), max(found)
        clues.setdefault(source, []).append(
            _clue(asked, number, f"{LOG}: asked for {_times(number)}, last {last:%Y-%m-%d}")
        )
    return clues


def opening_clues(entries: Iterable[Entry]) -> dict[tuple[str, str], Clue]:
    """Return a clue for two projects, by their ids in order, that were opened or asked for together."""
    entries = sorted(entries, key=lambda entry: entry.time)
    asked = Counter(pair for entry in entries for pair in combinations(entry.asked, 2))
    opened = _more_than_chance([{entry.opened for entry in sitting} - {""} for sitting in _sittings(entries)])
    clues = {}
    for pair in sorted({*asked, *opened}):
        texts = [f"opened in the same {opened[pair]} sittings"] if pair in opened else []
        texts += [f"asked for together {_times(asked[pair])}"] if pair in asked else []
        clues[pair] = _clue(pair[1], opened.get(pair, 0) + asked[pair], f"{LOG}: {', '.join(texts)}")
    return clues


def _clue(target: str, number: int, text: str) -> Clue:
    return Clue(target, _MOST * min(1.0, number / _ENOUGH), text, LOG)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _sittings(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield the entries without a longer pause between them."""
    sitting: list[Entry] = []
    for entry in entries:
        if sitting and entry.time - sitting[-1].time > _PAUSE:
            yield sitting
            sitting = []
        sitting.append(entry)
    if sitting:
        yield sitting


def _more_than_chance(sittings: Sequence[set[str]]) -> Mapping[tuple[str, str], int]:
    """Return the number of sittings in which two projects met, of pairs that meet more often than by chance."""
    alone = Counter(project for sitting in sittings for project in sitting)
    both = Counter(pair for sitting in sittings for pair in combinations(sorted(sitting), 2))
    total = len(sittings) + _OTHER_SITTINGS
    return {
        pair: number
        for pair, number in both.items()
        if number * total > alone[pair[0]] * alone[pair[1]]
        and surprise(number, alone[pair[0]], alone[pair[1]], total) >= _SURPRISE
    }


def surprise(both: int, first: int, second: int, total: int) -> float:
    """Return the log-likelihood ratio of two events that occur so often, and together, in ``total`` trials."""
    rest, without = total - first, total - second
    cells = (
        (both, first * second),
        (first - both, first * without),
        (second - both, rest * second),
        (rest - second + both, rest * without),
    )
    return 2 * math.fsum(seen * math.log(seen * total / expected) for seen, expected in cells if seen)
