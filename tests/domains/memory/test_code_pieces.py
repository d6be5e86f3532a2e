"""Source code by pieces: the same as if it were parsed as a whole, and what stays as it is is parsed once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.code.languages import LANGUAGES
from pipeline.code.parse import parse_code
from pipeline.code.records import SourceCode
from pipeline.domains.memory.code import pieces
from pipeline.domains.memory.code.pieces import Code, read_code

PYTHON = next(language for language in LANGUAGES if language.name == "python")

DEFINITIONS = "def f(a):\n    return g(a)\n", 'class A:\n    """An A."""\n\n    def f(self, b):\n        self.g()\n'
LINES = [
    *DEFINITIONS,
    *('"""A docstring."""\n', "import a.b as c\n", "from .d import (\n    e as f,\n    g,\n)\n", "# about f(x, y)\n"),
    *("import h  # (\n", "@a.b(\n    c=f(1)\n)\n", "@property\n", "async def f(b): 'Twice.'\n", "\n", "\n\n", " \n"),
    *('x = """\n', "'''\n", "call(\n", ")\n", "x = 1 \\\n", "if x:\n", "else:\n", "    pass\n", "é = f\n", "\x0c"),
]
"""What files are made of, whole and broken: strings, brackets and lines that go on past a blank line among it."""


def as_a_whole(text: str) -> Code:
    """What a text holds, parsed at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "_APART", {})
        return read_code(text, PYTHON)


@given(st.lists(st.sampled_from(LINES), max_size=30).map("".join))
def test_a_file_by_pieces_is_as_it_is_as_a_whole(text: str) -> None:
    read, whole = read_code(text, PYTHON), as_a_whole(text)

    assert read == whole
    assert list(read.symbols) == list(whole.symbols)  # calls and texts go by this order


@pytest.mark.parametrize(
    "text",
    [
        'x = """\n\ndef f(): pass\n"""\n',
        "x = f(\n\n@y\n)\n",
        "x = 1 \\\n\n@y\ndef f(): pass\n",
        "# A licence.\n\n# about f(a)\ndef f(b): pass\n",
        "class f: pass\n\ndef f(a): 'Documented.'\n",
        "import a  # (\n\ndef f(): pass\n\nx = a as b  # )\n",
    ],
)
def test_what_only_looks_like_the_begin_of_a_definition(text: str) -> None:
    assert len(pieces._texts(text, PYTHON)) > 1
    assert read_code(text, PYTHON) == as_a_whole(text)


def test_what_stays_as_it_is_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def parsing(text: str, language: object) -> SourceCode:
        parsed.append(text)
        return parse_code(text, PYTHON)

    monkeypatch.setattr(pieces, "parse_code", parsing)
    first, second = ("def only_here_first(): pass\n", "def only_here_second(a):\n    return only_here_first()\n")

    read_code(f"import os\n\n{first}\n\n{second}", PYTHON)
    assert len(parsed) == 3
    moved = read_code(f"import os\nimport sys\n\n{first}\n\n{second}", PYTHON)

    assert parsed[3:] == ["import os\nimport sys\n\n"]
    assert [item.module for item in moved.imports] == ["os", "sys"]
    assert moved.references == as_a_whole(f"{first}\n\n{second}").references
