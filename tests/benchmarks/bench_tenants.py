"""Many tenants: what the last of them costs beside the first, and whether others notice.

    uv run python tests/benchmarks/bench_tenants.py --corpora 1000 --memories 300

On a server in a temporary home a first corpus is asked its questions. Then corpora of five documents are made, and
memories of one text; after each making the first corpus is asked again, at once. Of the tenants 1% are dropped, then
90%; the scores of the first corpus are compared with those that it had when it was alone. Times are medians of ten, in
milliseconds, in a warm process.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import list_corpora
from pipeline.db.embedded import ServerOptions, ensure_running, stop
from pipeline.domains.memory.api import Memory
from pipeline.flows import maintain
from pipeline.settings import load_settings

_FIRST, _TEN, _NEAREST = "first", 10, 20
_QUESTIONS = ("Which ship left the harbour?", "Who repaired the lantern?", "Where does the river end?")
_NOUNS = "ship harbour lantern river keeper tower letter garden engine bridge".split()


def documents(tenant: int, count: int) -> list[dict[str, str]]:
    """Documents of a tenant, whose words most tenants share."""
    texts = [" ".join(_NOUNS[(tenant * 7 + number * step) % 10] for step in range(1, 40)) for number in range(count)]
    return [{"id": f"{tenant}-{place}", "title": f"Note {tenant}", "text": text} for place, text in enumerate(texts)]


def timed(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


class Tenants:
    """A server with one corpus, beside which others come and go."""

    def __init__(self, hoprank: HopRank) -> None:
        self.hoprank = hoprank
        hoprank.add(documents(0, 200), _FIRST)
        for _ in range(_TEN):
            self.ask()
        self.warm = statistics.median(timed(self.ask) for _ in range(_TEN))
        self.alone = self.scores()

    def ask(self, corpus: str = _FIRST) -> None:
        self.hoprank.search(_QUESTIONS[0], corpus=corpus)

    def scores(self) -> list[float]:
        found = [self.hoprank.search(asked, corpus=_FIRST, leg="fulltext", top_k=_NEAREST) for asked in _QUESTIONS]
        return [item.metadata["score"] for result in found for item in result.items]

    def make(self, kind: str, count: int) -> tuple[list[float], list[float]]:
        """Make tenants; return the time of each, and of a search on the first corpus right after it."""
        making: list[float] = []
        after: list[float] = []
        for number in range(1, count + 1):
            name = f"{kind}-{number}"
            if kind == "corpus":
                making.append(timed(lambda: self.hoprank.add(documents(number, 5), name)))  # noqa: B023
            else:
                making.append(timed(lambda: Memory(self.hoprank, name).add(documents(number, 1)[0]["text"])))  # noqa: B023
            after.append(timed(self.ask))
        return making, after

    def in_turn(self, count: int) -> float:
        """Return the median time of a question, asked of many corpora in turn, twice."""
        names = [f"corpus-{number}" for number in range(1, count + 1)] * 2
        return statistics.median(timed(lambda name=name: self.ask(name)) for name in names)  # type: ignore[misc]

    def drop(self, names: Sequence[str]) -> tuple[float, float]:
        """Drop corpora; return the median time, and the greatest difference of the first corpus's scores then."""
        times = [timed(lambda name=name: maintain.drop(self.hoprank.client, name)) for name in names]  # type: ignore[misc]
        self.hoprank.client.finish_background()
        pairs = zip(self.alone, self.scores(), strict=True)
        return statistics.median(times), max(abs(one - other) for one, other in pairs)


def at(values: Sequence[float], place: int) -> float:
    """Return the median of the ten values that end at a place, counted from 1."""
    return statistics.median(values[max(place - _TEN, 0) : place])


def rows(tenants: Tenants, corpora: int, memories: int) -> Iterator[tuple[str, str]]:
    yield "search on a lone corpus", f"{tenants.warm:.1f}"
    for kind, count in (("corpus", corpora), ("memory", memories)):
        making, after = tenants.make(kind, count)
        first, last = at(making, 2 * _TEN), at(making, count)
        yield f"make the {2 * _TEN}th, the {count:,}th {kind}", f"{first:.0f}, {last:.0f}: {last / first:.2f} times"
        slower = statistics.median(after[_TEN:]) / tenants.warm
        yield f"search on another right after each {kind}", f"{slower:.2f} times, at most {max(after[_TEN:]):.0f}"
    turn, one = tenants.in_turn(min(200, corpora)), statistics.median(timed(tenants.ask) for _ in range(5 * _TEN))
    yield f"search of {min(200, corpora)} corpora in turn beside one", f"{turn:.1f}, {one:.1f}: {turn / one:.2f} times"
    yield (
        "list the corpora",
        f"{statistics.median(timed(lambda: list_corpora(tenants.hoprank.client)) for _ in range(_TEN)):.0f}",
    )
    names = [f"corpus-{number}" for number in range(1, corpora + 1)]
    few = max(corpora // 100, 1)
    for share, dropped in (("1%", names[:few]), ("90%", names[few : corpora * 9 // 10])):
        median, difference = tenants.drop(dropped)
        yield f"drop {share}, each; scores differ by at most", f"{median:.0f}; {difference:.1e}"


@contextmanager
def server() -> Iterator[tuple[HopRank, ServerOptions]]:
    with tempfile.TemporaryDirectory(prefix="hoprank-tenants-", ignore_cleanup_errors=True) as home:
        options = ServerOptions(Path(home), jars=load_settings().data_home / "jars")
        address = ensure_running(options)
        try:
            with HopRank.connect(settings=load_settings({"neo4j": asdict(address)})) as hoprank:
                yield hoprank, options
        finally:
            stop(options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=int, default=1000)
    parser.add_argument("--memories", type=int, default=300)
    arguments = parser.parse_args()
    table = Table("tenants", "milliseconds")
    with server() as (hoprank, options):
        for row in rows(Tenants(hoprank), arguments.corpora, arguments.memories):
            table.add_row(*row)
        used = sum(
            one.memory_info().rss for one in psutil.process_iter() if str(options.home) in " ".join(one.cmdline())
        )
        table.add_row("memory of the server", f"{used / 2**20:,.0f} MB")
        stop(options)
        table.add_row("start of the server again", f"{timed(lambda: ensure_running(options)):,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main()
