"""Content that is made to break a scan costs the file that holds it, and nothing else."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pygit2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.domains.memory.code.authors import Owners
from pipeline.domains.memory.code.parse import FileParser, ParsedFile, parse_file
from pipeline.domains.memory.code.scan import scan
from pipeline.errors import SourceError
from pipeline.files import DEFAULT_LIMITS, Limits
from tests.domains.memory.repositories import Repository, export, facts

ENDLESS = "class A {}\n" + "\n".join(["A<" * 2000] * 20)


@pytest.mark.slow
def test_a_file_that_its_parser_never_finishes_is_left_without_syntax(tmp_path: Path) -> None:
    code = "def f(): pass\n" + "# a comment\n" * 1000
    folder = export({"Endless.java": ENDLESS, "a.py": code}, tmp_path / "code")

    found = scan(folder, scope="s", limits=Limits(seconds=60))

    assert {target for _, _, target in facts(found, "contains")} == {
        "file Endless.java",
        "file a.py",
        "function a.py::f",
    }


def test_larger_files_read_the_same_in_the_process_as_without_it() -> None:
    code = Path(__file__).with_name("test_code_facts.py").read_bytes()
    assert len(code) > 10_000

    with FileParser(DEFAULT_LIMITS) as parser:
        read = [parser.parse(path, code) for path in ("a.py", "a.py")]

    assert read == [parse_file("a.py", code)] * 2


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.py", b"def f():\n    '\xff\xfe'\n"),
        ("a.py", b"\xff\xfed\x00e\x00f\x00"),
        ("a.js", b"f(" * 4900),
        ("a.py", b"[" * 9000),
        ("setup.py", b"setup(" + b"-" * 9000 + b"1)"),
        ("package.json", b"[" * 9000),
        ("package.json", b'{"name": 1, "dependencies": []}'),
        ("pom.xml", b'<!DOCTYPE a [<!ENTITY b "c">]><project>&b;</project>'),
        ("pyproject.toml", b"a = " + b"[" * 9000),
        ("compose.yml", b"services: " + b"[" * 9000),
        ("compose.yml", b"a: &a [*a]\nservices: *a\n"),
        ("CODEOWNERS", b"**/**/a*a*a*a*a*a*a*b @x\n[section\n/ @y\n"),
        ("go.mod", b"module \nrequire (\n"),
        (".env", b"=\n==\n" * 1000),
    ],
)
def test_malformed_content_is_read_without_an_error(path: str, content: bytes) -> None:
    start = time.process_time()

    assert parse_file(path, content).path == path

    assert time.process_time() - start < 5


@settings(max_examples=200)
@given(st.sampled_from(("a.py", "a.ts", "a.rs", "a.go", "a.c", "a.rb", "compose.yml", ".env")), st.binary(max_size=200))
def test_any_bytes_are_read(path: str, content: bytes) -> None:
    assert isinstance(parse_file(path, content), ParsedFile)


def test_patterns_of_owners_take_no_time() -> None:
    owners = Owners("a*a*a*a*a*a*a*a*b @x\n*.py @y\n")
    start = time.process_time()

    assert owners.of("a" * 200 + ".py") == ("@y",)

    assert time.process_time() - start < 1


def test_links_submodules_and_large_files_are_left_out_and_odd_names_are_spelt(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"a.py": "", "large.py": "#" * 2000}, 1, links={"etc.py": "/etc/passwd", "self.py": "self.py"})
    git = pygit2.Repository(str(repository.path))
    builder = git.TreeBuilder(git[git.head.target].peel(pygit2.Tree))
    builder.insert("module", git.head.target, pygit2.enums.FileMode.COMMIT)
    tree = builder.write()
    raw = git[tree].read_raw() + b"100644 \xff.py\x00" + git.create_blob(b"x = 1").raw
    odd = git.odb.write(pygit2.enums.ObjectType.TREE, raw)
    signature = pygit2.Signature("A", "a@b", 2)
    git.create_commit("HEAD", signature, signature, "odd", odd, [git.head.target])

    found = scan(repository.path, scope="s", history=True, limits=Limits(bytes_read=1000))

    assert {entity.name for entity in found.entities if entity.type == "file"} == {"a.py", "\\xff.py"}


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    folder = export({"a.py": ""}, tmp_path / "code")
    (folder / "root").symlink_to("/")
    (folder / "b.py").symlink_to(folder / "a.py")
    os.mkfifo(folder / "pipe.py")

    found = scan(folder, scope="s")

    assert {entity.name for entity in found.entities if entity.type == "file"} == {"a.py"}


def test_a_tree_that_names_a_folder_over_and_over_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.domains.memory.code.files._MOST_ENTRIES", 20_000)
    git = pygit2.init_repository(str(tmp_path / "bomb"))
    builder = git.TreeBuilder()
    builder.insert("f.txt", git.create_blob(b"x"), pygit2.enums.FileMode.BLOB)
    tree = builder.write()
    for _ in range(12):
        builder = git.TreeBuilder()
        for name in range(10):
            builder.insert(f"d{name}", tree, pygit2.enums.FileMode.TREE)
        tree = builder.write()
    signature = pygit2.Signature("A", "a@b", 1)
    git.create_commit("HEAD", signature, signature, "bomb", tree, [])

    with pytest.raises(SourceError, match="entries"):
        scan(tmp_path / "bomb", scope="s")
