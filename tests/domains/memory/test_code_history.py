"""Facts over the history of a repository: each holds from the commit that brings it to that which removes it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.domains.memory.code.facts import facts_of
from pipeline.domains.memory.code.files import first_parents, monotone_times, open_repository
from pipeline.domains.memory.code.findings import Findings, Scan
from pipeline.domains.memory.code.index import Index
from pipeline.domains.memory.code.parse import ParsedFile
from pipeline.domains.memory.code.scan import scan
from pipeline.errors import SourceError
from tests.domains.memory.repositories import ANN, BOB, Repository, Tree, export, facts, facts_at, held, said

DAY = 86_400
T1, T2, T3, T4, T5 = (f"1970-01-0{day}T00:00:00+00:00" for day in range(2, 7))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def periods(found: Scan, source: str, kind: str, target: str) -> list[tuple[str | None, str | None]]:
    """The periods of a fact."""
    return [(span.valid_at, span.invalid_at) for span in found.facts if said(span) == (source, kind, target)]


NUMPY, SCIPY, PANDAS = ({"a.py": f"import {name}\n"} for name in ("numpy", "scipy", "pandas"))
USER = {"user.py": "from old import work\nwork()\n"}
CY = ("Cy", "cy@example.org")


@pytest.mark.parametrize(
    ("commits", "expected"),
    [
        (
            [(1, NUMPY), (2, {"b.py": ""}), (3, {**NUMPY, "b.py": ""})],
            {
                ("file a.py", "imports", "library numpy"): [(T1, T2), (T3, None)],
                ("module .", "contains", "file a.py"): [(T1, T2), (T3, None)],
                ("module .", "contains", "file b.py"): [(T2, None)],
            },
        ),
        (
            [(1, {"old.py": "def work(): pass\n", **USER}), (2, {"new.py": "def work(): pass\n", **USER})],
            {
                ("file user.py", "imports", "file old.py"): [(T1, T2)],
                ("file user.py", "calls", "function old.py::work"): [(T1, T2)],
                ("file user.py", "imports", "library old"): [(T2, None)],
                ("file new.py", "contains", "function new.py::work"): [(T2, None)],
            },
        ),
        (
            [(1, NUMPY), (2, SCIPY), (2, PANDAS)],
            {
                ("file a.py", "imports", "library numpy"): [(T1, T2)],
                ("file a.py", "imports", "library scipy"): [],
                ("file a.py", "imports", "library pandas"): [(T2, None)],
            },
        ),
        ([(1, NUMPY), (2, {"b.py": ""}), (2, NUMPY)], {("file a.py", "imports", "library numpy"): [(T1, None)]}),
        (
            [(-1, {"a.py": ""}), (3, NUMPY), (1, SCIPY), (4, PANDAS)],
            {
                ("module .", "contains", "file a.py"): [("1969-12-31T00:00:00+00:00", None)],
                ("file a.py", "imports", "library scipy"): [(T3, T4)],
            },
        ),
        (
            [
                (1, {"a.py": "1", "b.py": "1"}, ANN),
                (2, {"a.py": "2", "b.py": "1"}, BOB),
                (3, {"b.py": "1"}, BOB),
                (4, {"a.py": "3", "b.py": "1"}, CY),
            ],
            {
                ("file a.py", "authored_by", "person Ann"): [(T1, T3), (T4, None)],
                ("file a.py", "authored_by", "person Bob"): [(T2, T3), (T4, None)],
                ("file a.py", "authored_by", "person Cy"): [(T4, None)],
                ("file b.py", "authored_by", "person Bob"): [],
            },
        ),
        (
            [
                (1, {"a.py": ""}, ("ann", "ann@old.org")),
                (2, {"a.py": "", ".mailmap": "Ann Lee <ann@new.org> <ann@old.org>\n"}, BOB),
            ],
            {
                ("file a.py", "authored_by", "person ann"): [(T1, T2)],
                ("file a.py", "authored_by", "person Ann Lee"): [(T2, None)],
            },
        ),
    ],
    ids=["removed and back", "renamed", "at one time", "never ended", "backwards, before 1970", "authors", "mailmap"],
)
def test_a_fact_holds_from_the_commit_that_brings_it(
    repository: Repository, commits: list[tuple[Any, ...]], expected: dict[tuple[str, str, str], list[Any]]
) -> None:
    for day, tree, *author in commits:
        repository.commit(tree, day * DAY, *author)

    found = scan(repository.path, scope="s", history=True)

    assert {fact: periods(found, *fact) for fact in expected} == expected


def test_only_what_is_there_has_a_text(repository: Repository) -> None:
    for day, tree in enumerate(({"a.py": "def f(): pass\ndef g(): pass\n"}, {"a.py": "def f(): pass\n"}), 1):
        repository.commit(tree, day * DAY)

    found = scan(repository.path, scope="s", history=True)

    texts = {entity.name: entity.metadata.get("text") for entity in found.entities if entity.type == "function"}
    assert texts == {"a.py::f": "a: f (f)", "a.py::g": None}


def test_of_the_emails_of_a_person_the_last_paths_counts(repository: Repository) -> None:
    """Whatever the order in which a set gives the paths, which differs from process to process."""
    tree: Tree = {}
    for person in range(8):
        for email in ("first", "second"):
            tree |= {f"{person}/{email}.py": ""}
            repository.commit(tree, DAY, (f"Person {person}", f"{email}{person}@example.org"))
    repository.commit(dict.fromkeys(tree, "import numpy\n"), 2 * DAY, BOB)

    found = scan(repository.path, scope="s", history=True)

    emails = {entity.name: entity.metadata["email"] for entity in found.entities if entity.type == "person"}
    assert emails == {"Bob": BOB[1]} | {f"Person {person}": f"second{person}@example.org" for person in range(8)}


def test_a_file_is_read_anew_only_if_what_it_takes_from_another_changed(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def reading(file: ParsedFile, index: Index, scope: str) -> Findings:
        read.append(file.path)
        return facts_of(file, index, scope)

    monkeypatch.setattr("pipeline.domains.memory.code.scan.facts_of", reading)
    own = {"user.py": "from own import work\nwork()\n", "passes.py": "from own import *\n"}
    for day, code in enumerate(("def work(): pass", "def work(): pass\ndef rest(): pass", "class work: pass"), 1):
        repository.commit({"own.py": f"{code}\n", **own}, day * DAY)

    found = scan(repository.path, scope="s", history=True)

    assert sorted(read[3:]) == ["own.py", "own.py", "user.py"]
    assert periods(found, "file user.py", "calls", "function own.py::work") == [(T1, T3)]
    assert periods(found, "file user.py", "calls", "class own.py::work") == [(T3, None)]


def test_a_merge_brings_the_authors_of_what_it_merges(repository: Repository) -> None:
    base = repository.commit({"a.py": "1", "b.py": "1"}, DAY, ANN)
    side = repository.commit({"a.py": "2", "b.py": "1"}, 2 * DAY, BOB, [base])
    main = repository.commit({"a.py": "1", "b.py": "2"}, 3 * DAY, ANN, [base])
    repository.commit({"a.py": "2", "b.py": "2", "c.py": "1"}, 4 * DAY, CY, [main, side])

    found = scan(repository.path, scope="s", history=True)

    assert periods(found, "file a.py", "authored_by", "person Bob") == [(T4, None)]
    assert facts(found, "authored_by") == {
        ("file a.py", "authored_by", "person Ann"),
        ("file a.py", "authored_by", "person Bob"),
        ("file b.py", "authored_by", "person Ann"),
        ("file c.py", "authored_by", "person Cy"),
    }


def test_codeowners_own_files_and_folders_and_an_email_means_its_author(repository: Repository) -> None:
    rules = "*.py @org/all\n/core/ ann@example.org @lead\n/core/free.py\n"
    tree = {"CODEOWNERS": rules, "a.py": "", "core/b.py": "", "core/free.py": "", "core/x.md": "text"}
    repository.commit(tree, DAY)

    found = scan(repository.path, scope="s")

    assert facts(found, "owned_by") == {
        ("file a.py", "owned_by", "person @org/all"),
        ("file core/b.py", "owned_by", "person Ann"),
        ("file core/b.py", "owned_by", "person @lead"),
        ("file core/x.md", "owned_by", "person Ann"),
        ("file core/x.md", "owned_by", "person @lead"),
        ("module core", "owned_by", "person Ann"),
        ("module core", "owned_by", "person @lead"),
    }


def test_bare_repositories_and_working_trees_are_scanned_but_no_subfolders(repository: Repository) -> None:
    repository.commit({"a.py": "import numpy\n"}, DAY)
    bare = repository.path.parent / "bare"
    pygit2.clone_repository(str(repository.path), str(bare), bare=True)
    (repository.path / "sub").mkdir()

    assert held(scan(bare, scope="s")) == held(scan(repository.path, scope="s"))
    with pytest.raises(SourceError, match="subfolder"):
        scan(repository.path / "sub", scope="s")


def test_a_wrong_path_or_revision_is_named(repository: Repository) -> None:
    with pytest.raises(SourceError, match="no commit"):
        scan(repository.path, scope="s")
    repository.commit({"a.py": ""}, DAY)
    with pytest.raises(SourceError, match="nowhere"):
        scan(repository.path, scope="s", revision="nowhere")
    with pytest.raises(SourceError, match="no folder"):
        scan(repository.path / "missing", scope="s")


NAMES = ("a", "b", "c")
PATHS = (
    *(f"{name}.py" for name in NAMES),
    *(f"pkg/{name}.py" for name in NAMES),
    "pkg/__init__.py",
    "build/__init__.py",
    "build/a.py",
    "web/a.ts",
    "web/b.ts",
    "cmd/a.go",
    "src/lib.rs",
    "src/a.rs",
    "c/a.h",
    "c/a.c",
)
LINES = (
    "import a",
    "import pkg.b as b",
    "from pkg import a, b",
    "from .b import run as go",
    "from pkg.c import *",
    "import numpy",
    "def run(x):\n    work()\n    b.run(1)\n    x.stop_now()",
    "def work(): return run(2)",
    "class Engine:\n    def stop_now(self): self.work()\n    def work(self): run(3)",
    "import os\nNAME = os.environ['NAME']",
)
OTHERS: dict[str, tuple[str, ...]] = {
    "ts": ("import { run } from './b'", "export function run() { work() }", "function work() { process.env.NAME }"),
    "go": ('package a\nimport "example.org/x/cmd"', "func Run() { cmd.Run(); work() }", "func work() {}"),
    "rs": ("mod a;", "use crate::a::run;", "pub fn run() { a::work(); }", "pub fn work() {}"),
    "h": ("void run(int x);",),
    "c": ('#include "a.h"', "void run(int x) { work(); }", "void work(void) { run(1); }"),
}
FIXED: Tree = {
    "CODEOWNERS": "pkg/ @team\n*.ts ann@example.org\n",
    "go.mod": "module example.org/x\nrequire github.com/y/z v1\n",
    "pyproject.toml": '[project]\nname = "Own_Name"\ndependencies = ["numpy>1"]\n',
    ".env": "NAME=1\nOTHER=2\n",
    ".mailmap": "Robert <bob@example.org>\n",
    "pkg/sub/package.json": '{"name": "sub", "dependencies": {"left": "1"}}',
}


@st.composite
def contents(draw: st.DrawFn, path: str) -> str:
    lines = OTHERS.get(path.rpartition(".")[2], LINES)
    return "\n".join(draw(st.lists(st.sampled_from(lines), max_size=4))) + "\n"


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[Tree, int, tuple[str, str]]]:
    """Trees that differ in a few files, with times that may be equal or go backwards, and authors."""
    tree: Tree = {}
    history: list[tuple[Tree, int, tuple[str, str]]] = []
    for _ in range(draw(st.integers(2, 5))):
        tree = dict(tree)
        for path in draw(st.lists(st.sampled_from((*PATHS, *FIXED)), min_size=1, max_size=6, unique=True)):
            if path in tree and draw(st.booleans()):
                del tree[path]
            else:
                tree[path] = FIXED.get(path) or draw(contents(path))
        history.append((tree, draw(st.integers(-2, 6)) * DAY, draw(st.sampled_from((ANN, BOB)))))
    return history


@pytest.mark.slow
@settings(max_examples=60)
@given(histories())
def test_the_history_at_each_commit_equals_a_fresh_scan_of_it(history: list[tuple[Tree, int, tuple[str, str]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository = Repository(Path(folder) / "repository")
        for tree, time, author in history:
            repository.commit(tree, time, author)
        whole = scan(repository.path, scope="s", history=True)
        opened = open_repository(repository.path)
        assert opened is not None
        commits = first_parents(opened)
        times = monotone_times(commits)
        for number, (commit, (tree, _, _)) in enumerate(zip(commits, history, strict=True)):
            if times[number] in times[number + 1 :]:
                continue
            fresh = scan(repository.path, scope="s", revision=str(commit.id))

            assert held(whole, times[number]) == held(fresh)
            assert facts_at(whole, times[number]) == {span.triple for span in fresh.facts}
            exported = scan(export(tree, Path(folder) / f"at-{number}"), scope="s")
            assert _without_people(exported) == _without_people(fresh)
        _check_spans(whole)


def _without_people(found: Scan) -> set[tuple[str, ...]]:
    return {fact for fact in held(found) if not fact[2].startswith("person ") or fact[2].startswith("person @")}


def _check_spans(found: Scan) -> None:
    """Check that the periods of a fact are maximal, in order and not empty, and that all ends are entities."""
    ids = {entity.id for entity in found.entities}
    for before, after in zip(found.facts, found.facts[1:], strict=False):
        if before.triple == after.triple:
            assert before.invalid_at is not None
            assert before.invalid_at <= str(after.valid_at)
            strengths = {(span.weight, span.confidence) for span in (before, after)}
            assert before.invalid_at < str(after.valid_at) or len(strengths) > 1
    assert all(span.invalid_at is None or str(span.valid_at) < span.invalid_at for span in found.facts)
    assert all({span.source, span.target} <= ids for span in found.facts)
