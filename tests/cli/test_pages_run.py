"""Every command on the README and the pages runs as it stands there, or is an exception that says why not."""

from __future__ import annotations

import asyncio
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus, find_graph
from pipeline.embedding.embedder import Embedder
from pipeline.flows.maintain import drop
from pipeline.knowledge.catalogue import drop_graph
from tests.cli.page_files import write_all
from tests.cli.test_readme import FILES, README, TEXTS, blocks, shell

INSTALLS = "installs or tests HopRank: what .ci/run does with a clone"
SERVES = "serves until it is stopped: tests/serve/http/test_command.py"
SERVER = "the embedded server's own: tests/db/embedded and tests/cli/test_backup.py"
DATA = "needs sets of questions that aren't in the repository"
EXCEPTIONS = {
    r"pip |uv |UV_|python3 |export UV_|\.ci/run|\.venv/bin/": INSTALLS,
    r"hoprank serve|HOPRANK_(SERVE__TOKEN|OBSERVE__TRACES)=|curl ": SERVES,
    r"hoprank db ": SERVER,
    r"NEO4J_PASSWORD=\S+ .*docker|NEO4J_PASSWORD=\S+ docker": "needs Docker: tests/serve/test_container.py",
    r"kubectl ": "needs a cluster of Kubernetes: tests/serve/test_container.py",
    r"export ": "names a server, a model or a file of the reader's own",
    r"python tests/benchmarks/|.*DATA_DIR": DATA,
    r"hoprank reembed .*BAAI": "needs a model hub: tests/flows/test_maintain.py",
    r"hoprank .*retrieve\.reranker=OWNER/NAME": "needs a model hub: tests/retrieve/test_reranker.py",
    r"hoprank tools connect": "needs a live server of tools: tests/domains/tools/test_live.py",
    r"hoprank (ingest|sync) .*(s3|https)://": "needs an object store: tests/ingest/sources/test_urls.py",
    r"ray start |hoprank (ingest|sync) .*--(engine|address) ": "needs Ray: tests/ingest/distributed/test_ray.py",
    r"hoprank memory dedupe undo": "needs a merge: tests/domains/memory/test_dedupe_undo.py",
    r"hoprank (corpus judgements|evaluate handbook-questions)": "needs judged hits: tests/serve/http/test_questions.py",
    r"hoprank ask (?!.*--dry-run)": "needs a language model: tests/serve/http/test_ask.py",
}
"""Commands by a pattern of their beginning, each with the reason why they aren't run here."""

ENDLESS = ("--watch", "--open", "--follow")
"""Options that wait for the reader, or open a browser; a command is run without them."""

GIVEN = {
    "...": "Which island is the founder of the observatory buried on?",
    "KEY": "harbour/migration:1",
}
PLACES = {"routing": {"DIR": "joined"}, "tools": {"DIR": "tasks"}}
"""What stands for something of the reader's own, on all pages and on one."""

ORDER = ["README", "ingest", "search", "ask", "evaluate", "tune", "knowledge", "corpora"]
"""Pages whose commands go on from one another's corpora; the others stand alone."""

ASKING = re.compile(r"hoprank (?:corpus|graph|vault|memory) drop|hoprank memory forget (?!.*--dry-run)")
"""Commands that ask whether they are to do it, which a test answers by --yes."""

BEFORE: dict[str, Callable[[Path], object]] = {
    "hoprank compare runs/hoprank.trec other-system.run --qrels runs/qrels.trec --measure AP": lambda root: shutil.copy(
        root / "runs/hybrid.trec", root / "other-system.run"
    ),
    "hoprank compare before.json after.json": lambda root: [
        shutil.copy(root / "report.json", root / name) for name in ("before.json", "after.json")
    ],
}
"""What a reader has by then."""

PREPARED = {
    "search": ["hoprank route sync registry.yaml", "hoprank route index"],
    "evaluate": ["hoprank ingest docs/ --corpus handbook"],
}
INSERTED = {
    "hoprank graph list big --type concept --limit 20": "hoprank graph import big.jsonl --graph big",
    'hoprank route used "how are hooks called" --from patina --project dojo --rank 2': (
        'hoprank route link patina USES dojo --evidence "its worlds run on dojo"'
    ),
}
"""Commands that a page needs first, and those that one of its commands does: what was dropped is there again."""

PROGRAMS_ELSEWHERE = {
    "python": "tests/domains/python_page.py",
    "frameworks": "tests/serve/adapters/test_frameworks_page.py",
    "domains": "tests/domains/test_recipe.py",
    "ingest": "tests/ingest/sources/test_brought_formats.py",
    "ask": "tests/serve/http/test_ask.py",
}
"""Pages whose pieces of Python, those that don't begin with an import from hoprank, another test runs."""

CORPORA = "notes handbook manual copy default kept vault memory patina shop dojo-docs".split()
GRAPHS = "big support memory skills tools projects".split()


def pages() -> dict[str, list[str]]:
    """The commands of each page, in order, without comments."""
    texts = {"README": README, **{topic: TEXTS[path] for topic, path in FILES.items()}}
    every = {topic: [bare(line) for line in shell(text).splitlines() if line.strip()] for topic, text in texts.items()}
    return dict(sorted(every.items(), key=lambda page: ORDER.index(page[0]) if page[0] in ORDER else len(ORDER)))


def bare(line: str) -> str:
    return re.sub(r" +#.*$", "", line).strip()


def reason(command: str) -> str:
    return next((why for pattern, why in EXCEPTIONS.items() if re.match(pattern, command)), "")


def test_every_line_of_shell_is_a_command_that_runs_or_an_exception() -> None:
    every = [command for commands in pages().values() for command in commands]

    assert len(every) > 150
    assert [command for command in every if not reason(command) and not command.startswith("hoprank ")] == []
    assert [pattern for pattern in EXCEPTIONS if not any(re.match(pattern, command) for command in every)] == []
    files = [name for why in EXCEPTIONS.values() for name in re.findall(r"tests/[\w/]+(?:\.py)?", why)]
    assert [name for name in files if not Path(name).exists()] == []


def programs() -> dict[str, list[str]]:
    """The Python of each page that stands for itself."""
    texts = {"README": README, **{topic: TEXTS[path] for topic, path in FILES.items()}}
    every = {topic: [block for block in blocks(text, "python") if is_whole(block)] for topic, text in texts.items()}
    return {topic: found for topic, found in every.items() if found and topic not in ("frameworks", "domains")}


def is_whole(block: str) -> bool:
    return block.startswith("from hoprank import ")


def test_every_piece_of_python_runs_here_or_in_another_test() -> None:
    pieces = {topic for topic, path in FILES.items() if not all(map(is_whole, blocks(TEXTS[path], "python")))}

    assert pieces <= PROGRAMS_ELSEWHERE.keys()
    assert not [name for name in PROGRAMS_ELSEWHERE.values() if not Path(name).exists()]
    assert sum(map(len, programs().values())) >= 10


def words_of(page: str, command: str) -> tuple[str, ...]:
    """The words of a command, with what stands for something of the reader's own in its place."""
    given = {**GIVEN, **PLACES.get(page, {})}
    return tuple(given.get(word, word) for word in shlex.split(command)[1:] if word not in ENDLESS)


Reader = Callable[[str, str], str]


@pytest.fixture
def reader(
    hoprank: HopRank,
    server_environment: dict[str, str],
    embedder: Embedder,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Iterator[Reader]:
    """Run a command of a page where a reader has what it names; return what is wrong, "" if nothing."""
    write_all(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipeline.api.make_embedder", lambda _: embedder)
    environment = {**server_environment, "HOME": str(tmp_path / "home"), "COLUMNS": "100"}

    def run(page: str, command: str) -> str:
        if before := BEFORE.get(command):
            before(tmp_path)
        words = words_of(page, command)
        places = [str(tmp_path / "home" / word[2:]) if word.startswith("~/") else word for word in words]
        sure = ["--yes"] if ASKING.match(command) else []
        result = CliRunner().invoke(app, [*places, *sure], env=environment)
        return "" if result.exit_code == 0 else f"{page}: {command}\n{result.output}"

    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    forget(hoprank)
    yield run
    forget(hoprank)


def forget(hoprank: HopRank) -> None:
    for name in CORPORA:
        if corpus := find_corpus(hoprank.client, name):
            drop(hoprank.client, name, kind=corpus.kind)
    for name in GRAPHS:
        if graph := find_graph(hoprank.client, name):
            drop_graph(hoprank.client, graph)


@pytest.mark.slow
def test_the_commands_and_programs_of_every_page_run(reader: Reader) -> None:
    faults, done = list[str](), set[tuple[str, ...]]()
    for page, commands in pages().items():
        for command in [*PREPARED.get(page, []), *commands]:
            if not reason(command) and words_of(page, command) not in done:
                faults += [reader(page, one) for one in (INSERTED.get(command, ""), command) if one]
                done.add(words_of(page, command))

    faults += [fault_of(page, program) for page, found in programs().items() for program in found]

    found = "\n\n".join(filter(None, faults))
    assert not found, found


def fault_of(page: str, program: str) -> str:
    """Run a program; return what is wrong, "" if nothing."""
    names: dict[str, Any] = {}
    try:
        exec(compile(program, page, "exec"), names)  # noqa: S102 - the page's own code
        if answer := names.get("answer"):
            assert "## [1]" in asyncio.run(answer("Who founded the observatory?"))
    except Exception as error:
        return f"{page}: {program}\n{error!r}"
    return ""
