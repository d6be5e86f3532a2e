"""Searches beside writers, counted: a part of bench_faults.py.

Sixteen threads ask two corpora and a knowledge graph by their names, by every leg, with and without a filter or an
explanation, as contexts and as paths, while one thread replaces all texts again and again, renames the corpora there
and back, links one anew, drops the other and makes it anew, and replaces the graph. Each text says which
replacement it is of. An answer is *empty* if it has no passage, though its corpus was never without; *mixed* if it
has passages of two replacements; *absent* if nothing had the name at that time, which is right between a rename and
the next. Nothing may be empty, mixed or an error.
"""

from __future__ import annotations

import itertools
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from rich.table import Table

from pipeline import HopRank, KnowledgeEdge, KnowledgeNode
from pipeline.errors import Unknown
from pipeline.flows.maintain import drop, relink, rename
from pipeline.knowledge import explore
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg

_THREADS = 16
_PEOPLE = "Ada Lovelace|Charles Babbage|Mary Somerville|Luigi Menabrea|Joseph Jacquard|Augustus De Morgan".split("|")
_STAMP = re.compile(r"edition(\d+)")
_KEPT, _DROPPED, _GRAPH = "kept", "dropped", "graph"


class Writers:
    """Writes the corpora and the graph; ``edition`` counts the replacements, and every text says its own."""

    def __init__(self, hoprank: HopRank) -> None:
        self._hoprank = hoprank
        self._editions = itertools.count(1)
        self.done: Counter[str] = Counter()

    def replace(self, corpus: str) -> None:
        """Replace every text of a corpus."""
        edition = next(self._editions)
        texts = [
            f"{first} met {second} in edition{edition}. {first} built the engine. See {second}."
            for first, second in itertools.permutations(_PEOPLE, 2)
        ]
        documents = [{"id": str(at), "text": text, "metadata": {"year": 1833}} for at, text in enumerate(texts)]
        self._hoprank.replace(documents, corpus)
        self.done["replaced"] += 1

    def replace_graph(self) -> None:
        """Replace the graph by another."""
        edition = next(self._editions)
        nodes = [KnowledgeNode(name, "person", properties={"text": f"edition{edition}"}) for name in _PEOPLE]
        edges = [KnowledgeEdge(*pair, "met") for pair in itertools.pairwise(_PEOPLE)]
        load(self._hoprank.client, _GRAPH, (iter(nodes), iter(edges)), Progress())
        self.done["graph replaced"] += 1

    def go_on(self, over: threading.Event) -> None:
        """Write until it is over."""
        hoprank, client = self._hoprank, self._hoprank.client
        for turn in itertools.count():
            if over.is_set():
                return
            self.replace(_KEPT)
            self.replace(_DROPPED)
            self.replace_graph()
            if turn % 4 == 1:
                for corpus in (_KEPT, _DROPPED):
                    rename(client, corpus, f"{corpus}-aside")
                    rename(client, f"{corpus}-aside", corpus)
                    self.done["renamed"] += 2
            elif turn % 4 == 2:
                link = hoprank.settings.link
                threshold = 0.5 if turn % 8 == 2 else link.similar_threshold
                links = link.model_copy(update={"similar_threshold": threshold})
                relink(
                    client,
                    hoprank.embedder,
                    hoprank.settings.model_copy(update={"link": links}),
                    _KEPT,
                    progress=Progress(),
                )
                self.done["linked anew"] += 1
            elif turn % 4 == 3:
                drop(client, _DROPPED)
                self.done["dropped"] += 1


def asked(hoprank: HopRank) -> Iterator[tuple[str, Callable[[], list[str]]]]:
    """Yield what is asked, in turn, each with its name: functions that return texts."""

    def search(corpus: str, leg: Leg, filters: dict[str, Any] | None, *, explain: bool) -> list[str]:
        question = "Who met Ada Lovelace, and who built the engine?"
        found = hoprank.search(question, corpus=corpus, leg=leg, filters=filters, explain=explain)
        return [item.content for item in found.items]

    def context(corpus: str) -> list[str]:
        return [one.text for one in hoprank.context("Who met Ada Lovelace?", corpus=corpus).passages]

    def walked() -> list[str]:
        found = hoprank.read_graph(_GRAPH, lambda graph: explore.path(graph, _PEOPLE[0], _PEOPLE[-1]))
        return [str(node.properties["text"]) for node in found.nodes]

    legs = [leg for leg in Leg for _ in range(4 if leg is Leg.WHOLE else 1)]
    for turn, leg in enumerate(itertools.cycle(legs)):
        corpus = _KEPT if turn % 3 else _DROPPED
        if turn % 23 == 0:
            yield "path in a graph", walked
        elif turn % 17 == 0:
            yield f"context, {corpus}", partial(context, corpus)
        else:
            filters = {"year": 1833} if turn % 5 == 0 else None
            kind = "filtered search" if filters else "search"
            yield f"{kind}, {corpus}", partial(search, corpus, leg, filters, explain=turn % 7 == 0)


def judged(name: str, ask: Callable[[], list[str]]) -> str:
    """Return what came of an answer."""
    try:
        texts = ask()
    except Unknown:
        return "absent"
    except Exception as error:  # each is counted and named
        print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
        return "error"
    editions = {edition for text in texts for edition in _STAMP.findall(text)}
    if len(editions) > 1:
        return "mixed"
    # A corpus that is made anew has no text before its first generation.
    return "whole" if editions else "not yet" if _DROPPED in name else "empty"


def run(hoprank: HopRank, wanted: int) -> tuple[Table, int]:
    """Ask and write; return the table of counts, and how many answers were wrong."""
    counts, writers, seconds = measure(hoprank, wanted)
    outcomes = ("whole", "absent", "not yet", "empty", "mixed", "error")
    written = ", ".join(f"{kind} {count:,}" for kind, count in writers.done.items())
    table = Table("asked", *outcomes, title=f"{wanted:,} answers beside writers, {seconds:.0f} s", caption=written)
    for name in sorted({name for name, _ in counts}):
        table.add_row(name, *(f"{counts[name, outcome]:,}" for outcome in outcomes))
    return table, sum(counts[key] for key in counts if key[1] in ("empty", "mixed", "error"))


def measure(hoprank: HopRank, wanted: int) -> tuple[Counter[tuple[str, str]], Writers, float]:
    """Ask ``wanted`` questions by 16 threads beside the writers."""
    writers, over = Writers(hoprank), threading.Event()
    for corpus in (_KEPT, _DROPPED):
        writers.replace(corpus)
    writers.replace_graph()
    counts: Counter[tuple[str, str]] = Counter()
    questions, lock = itertools.islice(asked(hoprank), wanted), threading.Lock()

    def ask_on() -> None:
        while True:
            with lock:
                question = next(questions, None)
            if question is None:
                return
            outcome = judged(*question)
            with lock:
                counts[question[0], outcome] += 1

    began = time.monotonic()
    with ThreadPoolExecutor(_THREADS + 1) as pool:
        writing = pool.submit(writers.go_on, over)
        for asking in [pool.submit(ask_on) for _ in range(_THREADS)]:
            asking.result()
        over.set()
        writing.result()
    return counts, writers, time.monotonic() - began
