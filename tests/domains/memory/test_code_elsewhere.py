"""A change of one file changes the facts of others that it doesn't touch."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.domains.memory.code.scan import scan
from tests.domains.memory.repositories import ANN, BOB, Repository, Tree, held

DAY = 86_400
C_CALL: Tree = {"a.c": "void f() { g(); }"}
GO_CALL: Tree = {"a.go": "package a\nfunc F() { g() }"}
GO_IMPORT: Tree = {"a/a.go": 'package a\nimport "example.org/x/store"\n', "store/s.go": "package store\n"}
GO_LIBRARY: Tree = {"a.go": 'package a\nimport "example.org/x/y/z/deep"\n'}
JAVA: Tree = {"A.java": "import com.fast.json.X;\nclass A {}"}
POM = (
    "<project><artifactId>a</artifactId><dependencies><dependency><groupId>com.fast.json</groupId>"
    "<artifactId>core</artifactId></dependency></dependencies></project>"
)
READS: Tree = {"app/a.py": "import os\nos.environ['A']\n"}
USES: Tree = {
    "a.py": "from pkg import build\nbuild()\n",
    "one.py": "def make(): pass\n",
    "two.py": "def make(): pass\n",
}
OWNED: Tree = {"CODEOWNERS": "* bob@example.org\n", "a.py": "", "b.py": ""}


@pytest.mark.parametrize(
    ("states", "fact", "holds"),
    [
        (
            [GO_CALL, {**GO_CALL, "b.go": "package a\nfunc g() {}"}, {**GO_CALL, "b.go": "package a\n"}],
            ("function a.go::F", "calls", "function b.go::g"),
            [False, True, False],
        ),
        (
            [{**C_CALL, "b.c": "void g() {}"}, {**C_CALL, "b.c": "void g() {}", "c.c": "void g() {}"}, C_CALL],
            ("function a.c::f", "calls", "function b.c::g"),
            [True, False, False],
        ),
        (
            [READS, {**READS, "app/pyproject.toml": '[project]\nname = "own"\n'}, READS],
            ("library own", "configured_by", "config A"),
            [False, True, False],
        ),
        (
            [GO_IMPORT, {**GO_IMPORT, "go.mod": "module example.org/x\n"}],
            ("file a/a.go", "imports", "file store/s.go"),
            [False, True],
        ),
        (
            [GO_LIBRARY, {**GO_LIBRARY, "go.mod": "module m\nrequire example.org/x/y/z v1\n"}],
            ("file a.go", "imports", "library example.org/x/y/z"),
            [False, True],
        ),
        ([JAVA, {**JAVA, "pom.xml": POM}], ("file A.java", "imports", "library com.fast.json:core"), [False, True]),
        (
            [
                {**USES, "pkg/__init__.py": "from one import make as build\n"},
                {**USES, "pkg/__init__.py": "from two import make as build\n"},
            ],
            ("file a.py", "calls", "function one.py::make"),
            [True, False],
        ),
        (
            [{"a.md": "x"}, {"a.md": "x", "b.py": ""}, {"a.md": "x"}],
            ("module .", "contains", "file a.md"),
            [False, True, False],
        ),
        (
            [{"a.py": ""}, {"a.py": "", "docs/CODEOWNERS": "* @x\n"}, {"a.py": "", "CODEOWNERS": "* @y\n"}],
            ("file a.py", "owned_by", "person @x"),
            [False, True, False],
        ),
        (
            [{"vendor/a.py": ""}, {"vendor/a.py": "", "vendor/__init__.py": ""}, {"vendor/a.py": ""}],
            ("module vendor", "contains", "file vendor/a.py"),
            [False, True, False],
        ),
    ],
    ids=["folder", "name", "package", "module", "required", "group", "passed-on", "code", "owners", "vendor"],
)
def test_facts_of_untouched_files_follow(
    tmp_path: Path, states: list[Tree], fact: tuple[str, str, str], holds: list[bool]
) -> None:
    repository = Repository(tmp_path / "repository")
    commits = [repository.commit(tree, day * DAY) for day, tree in enumerate(states)]

    found = scan(repository.path, scope="s", history=True)

    for day, (commit, expected) in enumerate(zip(commits, holds, strict=True)):
        fresh = scan(repository.path, scope="s", revision=str(commit))
        assert held(found, fresh.time) == held(fresh)
        assert (fact in {one[:3] for one in held(fresh)}) == expected, f"day {day}"


def test_an_owner_given_by_email_has_a_name_once_he_is_an_author(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit(OWNED, 0, ANN)
    repository.commit({**OWNED, "b.py": "1"}, DAY, BOB)

    found = scan(repository.path, scope="s", history=True)

    owners = {
        day: {one[2] for one in held(found, f"1970-01-0{day}") if one[:2] == ("file a.py", "owned_by")}
        for day in (1, 2)
    }
    assert owners == {1: {"person bob@example.org"}, 2: {"person Bob"}}
