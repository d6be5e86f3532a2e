"""Hostile files of each format, counted: a part of bench_faults.py.

Each file is read by the command that reads its format, in a process of its own, with two good files beside it. The good
ones must arrive. A command that takes one file, or refuses all of several if one is bad, is run again with good ones
alone. The bad one must be *read*, be *named* as skipped, or have the command *refused*; else it is *silent*. A command
that prints a traceback, calls itself a bug, dies or takes too long has *crashed*.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import neo4j
from rich.table import Table

from pipeline import HopRank
from pipeline.db.catalogue import drop_corpus, list_corpora
from pipeline.flows.maintain import export_corpus
from pipeline.progress import Progress
from tests.benchmarks.faults_commands import Commands, Ended, running
from tests.benchmarks.faults_hostile import FORMATS, Hostile, hostile

SECONDS, MEGABYTES = 60.0, 3_000.0
"""What a command may take with all that it starts. Chosen by hand: many times what it takes without a bad file."""
OUTCOMES = ("files", "read", "named", "refused", "silent", "good lost", "crashed", "too large")
ARRIVED = "MATCH (n) WHERE any(key IN keys(n) WHERE toStringOrNull(n[key]) CONTAINS $word) RETURN count(n) AS found"
BUG = re.compile(r"Traceback \(most recent|This is a bug|Segmentation|MemoryError|RecursionError")

Write = Callable[[Path, Sequence[str]], object]


def write_texts(folder: Path, words: Sequence[str]) -> None:
    for word in words:
        (folder / f"{word}.md").write_text(f"# {word}\n\nThe moon raises the tides, says {word}.\n")


def write_chats(folder: Path, words: Sequence[str]) -> None:
    for word in words:
        told = {"id": word, "text": f"I saw the tide, says {word}.", "date": "2025-01-31T12:00:00+00:00"}
        (folder / f"{word}.json").write_text(json.dumps(told))


def write_registry(folder: Path, words: Sequence[str]) -> None:
    (folder / "good.yaml").write_text("projects:\n" + "".join(f"  {word}: {{domains: [tides]}}\n" for word in words))


def write_composes(folder: Path, words: Sequence[str]) -> None:
    for word in words:
        (folder / word).mkdir()
        (folder / word / "compose.yml").write_text(f"services:\n  {word}: {{image: 'tide:1'}}\n")


def write_listings(folder: Path, words: Sequence[str]) -> None:
    for word in words:
        tool = {"name": word, "description": f"Tells the tide of {word}.", "inputSchema": {"type": "object"}}
        (folder / f"{word}.json").write_text(json.dumps({"tools": [tool]}))


def write_graph(folder: Path, words: Sequence[str]) -> None:
    lines = [{"node": {"id": word, "type": "tide"}} for word in words]
    (folder / "good.graph.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def write_queryset(folder: Path, words: Sequence[str]) -> None:
    write_texts(folder, words)
    rows = [{"id": word, "text": f"The moon raises the tides, says {word}."} for word in words]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "qrels.tsv").write_text(f"q\td\tr\na\t{words[0]}\t1\n1\t{words[1]}\t1\n")


@dataclass(frozen=True, slots=True)
class Kind:
    """How a format is read: a command, what writes good files, and a command that reads these alone.

    {folder}, {bad} and {good} stand for the paths, of which {good} are several.
    """

    command: str
    write: Write
    good: str = ""
    name: str = ""
    """The name that the command expects of the bad file."""


DOCUMENTS = Kind("sync {folder} -c files --json", write_texts, "sync {good} -c files")
CHATS = Kind("memory import {good} {bad} -m chats", write_chats, "memory import {good} -m chats")
GRAPHS = Kind("graph import {bad} -g graph", write_graph, "graph import {good} -g graph")
KINDS = {
    **dict.fromkeys(
        "md txt rst org asciidoc latex html pdf docx csv xlsx pptx odt epub ipynb mail mailbox jsonl".split(), DOCUMENTS
    ),
    "code": Kind("sync {folder} -c files --set sources.code=true --json", write_texts, "sync {good} -c files"),
    "notes": Kind("vault sync {folder} --vault notes", write_texts, "sync {good} -c files"),
    "chats": CHATS,
    "chat lines": CHATS,
    "registries": Kind("route sync {bad} -g projects", write_registry, "route sync {good} -g projects"),
    "compose files": Kind("memory scan {folder} -m scan", write_composes, "", "bad/compose.yml"),
    "listings": Kind("tools build {good} {bad} -g listed", write_listings, "tools build {good} -g listed"),
    "GraphML": GRAPHS,
    "graph lines": GRAPHS,
    "graph documents": GRAPHS,
    "exports": Kind("corpus import {bad} --as bad-export", write_texts, "sync {good} -c files"),
    "querysets": Kind("evaluate {folder} --leg fulltext", write_queryset, "sync {good} -c files", "queries.jsonl"),
}


class Reading:
    """Reads hostile files on a server."""

    def __init__(self, hoprank: HopRank, commands: Commands, folder: Path) -> None:
        self._client, self._commands, self._folder = hoprank.client, commands, folder
        address = hoprank.client.address
        self._driver = neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password))
        self._turn = 0

    def close(self) -> None:
        self._driver.close()

    def judge(self, kind: Kind, bad: Hostile) -> tuple[Ended, list[str]]:
        """Read a file; return how the command ended, and the outcomes."""
        self._turn += 1
        words = [f"good{letter}x{self._turn}x" for letter in "ab"]
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        kind.write(self._folder, words)
        good = sorted(str(one) for one in self._folder.iterdir() if one.suffix != ".tsv")
        path = self._folder / (kind.name or bad.name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bad.content)
        ended = self._commands.run(self._argv(kind.command, str(path), good), SECONDS)
        lost = not self._arrived(words)
        if lost and kind.good:
            # It takes one file, or refused them all: that must not hinder the good ones.
            path.unlink()
            self._commands.run(self._argv(kind.good, "", good), SECONDS)
            lost = not self._arrived(words) or (ended.status == 0 and kind.command.startswith("sync"))
        self._clear()
        return ended, [judged(ended, bad, path), *["good lost"] * lost, *["too large"] * (ended.megabytes > MEGABYTES)]

    def _argv(self, command: str, bad: str, good: Sequence[str]) -> list[str]:
        stands: dict[str, Sequence[str]] = {"{folder}": [str(self._folder)], "{bad}": ["--", bad], "{good}": good}
        if bad and "{bad} -" in command:  # a name may begin like an option
            stands["{bad}"] = [bad]
        return [part for word in command.split() for part in stands.get(word, [word])]

    def _arrived(self, words: Sequence[str]) -> bool:
        return all(self._driver.execute_query(ARRIVED, word=word).records[0]["found"] for word in words)

    def _clear(self) -> None:
        for corpus in list_corpora(self._client):
            if corpus.name.startswith("bad"):
                drop_corpus(self._client, corpus)


def judged(ended: Ended, bad: Hostile, path: Path) -> str:
    """Return what became of the bad file."""
    if ended.status not in (0, 2) or BUG.search(ended.said):
        return "crashed"
    if ended.status == 2:
        return "refused" if "bad" in ended.said.lower() or path.name in ended.said else "silent"
    if (at := re.search(r"^\{", ended.said, re.MULTILINE)) is None:
        return "named" if re.search(r"\bskipped\b", ended.said) else "read"
    done = json.JSONDecoder().raw_decode(ended.said[at.start() :])[0]["done"]
    # A file without a line has nothing to read.
    return "named" if done["skipped"] else "read" if done["documents"] > 2 or not bad.content.strip() else "silent"


def exported(hoprank: HopRank) -> bytes:
    """Return the export of a small corpus."""
    hoprank.add([{"id": f"d{at}", "text": f"Ada Lovelace met Charles Babbage {at} times."} for at in range(3)], "made")
    with tempfile.TemporaryDirectory() as folder:
        export_corpus(hoprank.client, "made", path := Path(folder) / "made.jsonl", progress=Progress())
        return path.read_bytes()


def run(hoprank: HopRank, number: int, seed: int, only: Sequence[str]) -> tuple[Table, int]:
    """Read so many files of each format; return the table of counts, and how many were wrong."""
    table = Table("format", *OUTCOMES, "slowest", "largest", title=f"{number} hostile files a format")
    total, sample = Counter[str](), exported(hoprank)
    with tempfile.TemporaryDirectory() as home, running(Path(home)) as commands:
        reading = Reading(hoprank, commands, Path(home) / "work")
        for name in [name for name in FORMATS if not only or name in only]:
            counts, slowest, largest = Counter[str](), (0.0, ""), (0.0, "")
            for bad in hostile(name, number, seed, sample if name == "exports" else b""):
                ended, outcomes = reading.judge(KINDS[name], bad)
                counts.update(["files", *outcomes])
                slowest = max(slowest, (ended.seconds, bad.kind))
                largest = max(largest, (ended.megabytes, bad.kind))
                if wrong := {*outcomes}.intersection(OUTCOMES[4:]):
                    said = os.linesep.join(ended.said.strip().splitlines()[-4:])[-500:]
                    print(f"{name}, {bad.kind}, {bad.name!r}: {wrong}, {ended.status}: {said}", file=sys.stderr)
            total += counts
            print(f"{name}: {dict(counts)}", file=sys.stderr)
            took = (f"{slowest[0]:.1f} s: {slowest[1]}", f"{largest[0]:,.0f} MB: {largest[1]}")
            table.add_row(name, *(f"{counts[outcome]:,}" for outcome in OUTCOMES), *took)
        reading.close()
    table.add_section()
    table.add_row("all", *(f"{total[outcome]:,}" for outcome in OUTCOMES))
    return table, sum(total[outcome] for outcome in OUTCOMES[4:])
