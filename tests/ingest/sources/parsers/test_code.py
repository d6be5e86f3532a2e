"""Source code as documents: sections, summaries and chunks, and the files of a source tree that are read."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.ingest.chunking.chunk import Chunker
from pipeline.ingest.sources import read
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.ignored import git_rules
from pipeline.ingest.sources.parsers.code import structure
from pipeline.ingest.sources.source import Source
from pipeline.records import Chunk, Document, Skipped

SESSIONS = '''\
# Copyright 2020 Ada. Licensed under the MIT licence.

"""Sessions keep cookies. And more."""

import os


class Session(Base):
    """A session."""

    limit = 3

    def __init__(self, size):
        self.size = size

    def prepare_hooks(self, hooks):
        """Prepare the hooks. They run later."""
        first(hooks)

        second(hooks)

    timeout = 4


def _quiet():
    def inner():
        return 1
    return inner


LAST = 5
'''


def document(text: str = SESSIONS, key: str = "web/sessions.py") -> Document:
    return parser_of("code")(Source(key, f"/root/{key}", text.encode()))


def blocks(found: Document) -> list[tuple[str, int, str, str]]:
    return [(block.kind.value, block.level, block.name, found.text[block.start : block.end]) for block in found.blocks]


def words(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]


def chunks(found: Document, max_tokens: int) -> list[Chunk]:
    return next(Chunker(words, max_tokens, 0).chunk_all([found], "corpus"))


def test_definitions_are_headings_and_the_code_after_them_is_not_theirs() -> None:
    assert blocks(document()) == [
        ("code", 0, "", '"""Sessions keep cookies. And more."""'),
        ("code", 0, "", "import os"),
        ("heading", 3, "Session", "class Session(Base):\n    "),
        ("code", 0, "", '"""A session."""'),
        ("code", 0, "", "limit = 3"),
        ("code", 4, "", "def __init__(self, size):\n        self.size = size"),
        ("heading", 4, "prepare_hooks", "def prepare_hooks(self, hooks):\n        "),
        ("code", 0, "", '"""Prepare the hooks. They run later."""\n        first(hooks)'),
        ("code", 0, "", "second(hooks)"),
        ("code", 4, "", "timeout = 4"),
        ("heading", 3, "_quiet", "def _quiet():\n    "),
        ("heading", 4, "inner", "def inner():\n        "),
        ("code", 0, "", "return 1"),
        ("code", 4, "", "return inner"),
        ("code", 3, "", "LAST = 5"),
    ]


def test_a_summary_stands_before_the_code_as_it_is() -> None:
    found = document()
    summary = found.text[slice(*found.summary)]

    assert summary.splitlines() == [
        "web/sessions.py",
        "Sessions keep cookies.",
        "Session: A session.",
        "prepare_hooks (prepare hooks): Prepare the hooks.",
        "_quiet (quiet)",
    ]
    assert found.text == f"{summary}\n\n{SESSIONS}"
    assert found.title == "web/sessions.py"
    assert found.metadata == {"language": "python"}


@pytest.mark.parametrize("max_tokens", [20, 40, 100, 1000])
def test_chunks_have_the_lines_of_the_file(max_tokens: int) -> None:
    found = document()
    lines = SESSIONS.split("\n")

    cut = chunks(found, max_tokens)

    for chunk in cut:
        if chunk.start >= found.body_start:
            own = chunk.text.split("\n")
            assert [line.strip() for line in lines[chunk.line_start - 1 : chunk.line_end]] == [x.strip() for x in own]
        else:
            assert (chunk.line_start, chunk.line_end) == (1, 1)
    assert cut[0].start == 0


def test_headings_of_chunks_are_the_paths_to_their_definitions() -> None:
    headed = {chunk.text.split("\n")[0]: chunk.heading for chunk in chunks(document(), 24)}

    assert headed["def prepare_hooks(self, hooks):"] == "Session > prepare_hooks"
    assert headed["def __init__(self, size):"] == "Session"
    assert [chunk.heading for chunk in chunks(document("def f():\n    return 1\n\n\nLAST = 5\n"), 8)][-1] == ""


def test_methods_declared_outside_their_type_are_headed_by_both() -> None:
    found = document("package a\n\nfunc (s *Server) Serve() {}\n", "a.go")

    assert [name for kind, _, name, _ in blocks(found) if kind == "heading"] == ["Server.Serve"]


def test_a_function_that_fits_is_a_single_chunk_and_no_chunk_is_a_header_alone() -> None:
    functions = "\n\n".join(f"def f{n}(a, b):\n    x = a + b\n\n    return x * {n}" for n in range(30))

    cut = [chunk.text for chunk in chunks(document(functions), 60)][1:]

    assert sum(text.count("def ") for text in cut) == 30
    assert all(text.startswith("def ") and "return" in text.rsplit("def ", 1)[1] for text in cut if "def " in text)
    assert not [text for text in cut if text.rstrip().endswith("):")]


def test_closing_brackets_stay_with_the_code_before_them() -> None:
    found = document("class A {\n  f() {\n    x();\n\n  }\n\n}\n", "a.js")

    assert blocks(found)[-1][3] == "x();\n\n  }\n\n}"


@pytest.mark.parametrize(
    ("licence", "kept"),
    [
        ("# Copyright Ada\n# MIT licence\n\n", False),
        ("#!/usr/bin/env python\n\n# Copyright Ada\n\n", False),
        ("# Loads things.\n\n", True),
        ("# Copyright Ada\nimport os\n", True),
    ],
)
def test_the_licence_of_a_file_makes_no_chunk(licence: str, kept: bool) -> None:
    found = document(f"{licence}x = 1\n")

    assert (licence.strip() in "".join(chunk.text for chunk in chunks(found, 1000))) == kept
    assert chunks(found, 1000)[-1].line_end == licence.count("\n") + 1


def test_a_long_summary_drops_sentences_before_names() -> None:
    def summary(methods: int) -> str:
        code = "".join(f'    def m{n}(self):\n        """Do {n} things."""\n' for n in range(methods))
        found = document(f'class Long:\n    """A class."""\n{code}')
        return found.text[slice(*found.summary)]

    assert "Do 1 things" in summary(10)
    assert "A class" in summary(100)
    assert "Do 1 things" not in summary(100)
    assert "m99" in summary(100)
    assert len(summary(2000)) <= 1500
    assert summary(2000).endswith("\n" + re.findall(r"m\d+", summary(2000))[-1])


def test_code_in_jsonl_goes_by_the_suffix_of_the_id(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    row = {"id": "ada/web:web/sessions.py", "title": "sessions", "text": SESSIONS, "metadata": {"language": "mine"}}
    path.write_text(json.dumps(row))

    (found,) = read([str(path)])

    assert isinstance(found, Document)
    assert blocks(found) == blocks(document())
    assert (found.title, found.metadata) == ("sessions", {"language": "mine"})


@given(
    st.text(st.sampled_from("def class f():{}\n\n\t '\"#é😀;//*"), max_size=200), st.sampled_from([".py", ".js", ".go"])
)
def test_blocks_of_any_text_are_in_order_and_hold_all_of_it(text: str, suffix: str) -> None:
    found = structure(Document(f"a{suffix}", "", text))

    ends = [found.body_start, *(block.end for block in found.blocks)]
    starts = [*(block.start for block in found.blocks), len(found.text)]
    assert all(end <= start and not found.text[end:start].strip() for end, start in zip(ends, starts, strict=True))


def files(root: Path, names: dict[str, str]) -> Path:
    for name, text in names.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def keys(*paths: str | Path, code: bool = True) -> list[str]:
    return [item.key for item in read([str(path) for path in paths], code=code) if isinstance(item, Document)]


def skipped(path: Path, *, code: bool = True) -> dict[str, str]:
    found = read([str(path)], code=code)
    return {Path(item.source).name: item.reason for item in found if isinstance(item, Skipped)}


def test_code_below_a_folder_is_read_on_request(tmp_path: Path) -> None:
    root = files(tmp_path, {"a.md": "# A", "src/b.py": "x = 1", "src/c.rs": "fn f() {}"})

    assert keys(root, code=False) == ["a.md"]
    assert keys(root) == ["a.md", "src/b.py", "src/c.rs"]
    assert "--set sources.code=true" in skipped(root, code=False)["b.py"]


def test_a_file_of_code_that_is_named_is_read(tmp_path: Path) -> None:
    root = files(tmp_path, {"b.min.js": "x()", "node_modules/c.py": "x = 1"})

    assert keys(root / "b.min.js", root / "node_modules/c.py", code=False) == ["b.min.js", "c.py"]


def test_code_of_others_is_left_out(tmp_path: Path) -> None:
    others = ["node_modules/a", "sub/__pycache__/a", "lib/site-packages/a", "build/a", "my_env/lib/a", "x.egg-info/a"]
    root = files(
        tmp_path,
        {f"{name}.py": "x = 1" for name in others}
        | {"my_env/pyvenv.cfg": "", "vendor/a.md": "# A", "pkg/build/__init__.py": "x = 1", "pkg/build/a.py": "x = 1"},
    )

    assert keys(root) == ["pkg/build/__init__.py", "pkg/build/a.py"]
    assert not skipped(root)
    assert "vendor/a.md" in keys(root, code=False)
    assert keys(root / "node_modules") == ["a.py"]


def test_what_git_ignores_is_left_out(tmp_path: Path) -> None:
    root = files(
        tmp_path / "repository",
        {
            ".git/config": "",
            ".gitignore": "*.log.py\n/out/\n**/secret*\n!secret_not.py\n[\n",
            "a.py": "x = 1",
            "b.log.py": "x = 1",
            "out/c.py": "x = 1",
            "sub/out/d.py": "x = 1",
            "sub/secret.py": "x = 1",
            "sub/secret_not.py": "x = 1",
            "sub/.gitignore": "!b.log.py\nlocal.py",
            "sub/b.log.py": "x = 1",
            "sub/local.py": "x = 1",
        },
    )
    inner = ["b.log.py", "out/d.py", "secret_not.py"]

    assert keys(root) == ["a.py", *(f"sub/{name}" for name in inner)]
    assert keys(root / "sub") == inner
    assert keys(f"{root}/**/*.py") == keys(root)
    assert keys(root / "out") == ["c.py"]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a.js", "x();" * 2000, "is minified or generated code"),
        ("a.min.js", "x()", "is minified or generated code"),
        ("a_pb2.py", "x = 1", "is minified or generated code"),
        ("a.go", "// Code generated by protoc. DO NOT EDIT.\npackage a\n", "says that it is generated"),
        ("A.java", "/* @generated by a tool */ class A {}", "says that it is generated"),
    ],
)
def test_minified_and_generated_code_is_skipped(tmp_path: Path, name: str, text: str, reason: str) -> None:
    root = files(tmp_path, {name: text})

    assert skipped(root) == {name: reason}
    assert keys(root / name) == [name]
    with pytest.raises(SourceError, match=f"{name} {reason}"):
        list(read([str(root)], code=True, strict=True))


@pytest.mark.parametrize(
    ("pattern", "path", "is_ignored"),
    [
        ("*a*b", "x/caacab", True),
        ("*a*b", "a/b", False),
        ("a*b/**/c*d*e", "a1b/x/y/c2d3e", True),
        ("a*b/**/c*d*e", "a1b/c2d/e", False),
        ("**/a/**/b/**/c", "x/a/y/b/a/b/c", True),
        ("**/a/**/b/**/c", "a/bc/c", False),
        ("*[!a]*a", "b/a", False),
        ("*[!a]*a", "bca", True),
        ("*a" * 40 + "b", "a" * 250, False),
        ("**/a/" * 40 + "b", "a/" * 1_000, False),
    ],
)
def test_git_ignores_by_any_pattern_in_no_time(pattern: str, path: str, is_ignored: bool) -> None:
    assert bool(git_rules([pattern]).check_file(path).include) is is_ignored
