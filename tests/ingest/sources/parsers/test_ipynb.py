"""Notebooks of both shapes: cells, what code printed, and what is no notebook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document
from tests.ingest.sources.documents import blocks, links


def parsed(value: Any) -> Document:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return parser_of("ipynb")(Source("notes/tide-tables.ipynb", "/root/tide-tables.ipynb", data))


def notebook(*cells: dict[str, Any], **metadata: str) -> dict[str, Any]:
    return {"nbformat": 4, "metadata": metadata, "cells": list(cells)}


def markdown(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source}


def code(source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def shown(**data: str | list[str]) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {name.replace("_", "/"): value for name, value in data.items()},
    }


def test_cells_keep_their_structure_and_code_its_outputs_of_text() -> None:
    progress = {"output_type": "stream", "text": ["10%\r", "99%\r100%\n", "\x1b[31mdone\x1b[0m\n"]}
    failed = {"output_type": "error", "ename": "ValueError", "evalue": "no tide", "traceback": ["\x1b[0m..."]}
    found = parsed(
        notebook(
            markdown(["# Tides\n", "\n", "See [the moon](moon.md) and [below](#x)."]),
            code("import tides\n\ntides.high()", progress, shown(text_plain="'04:12'")),
            code("plot()", shown(text_plain="<Figure size 640x480>", image_png="iVBORw0")),
            code("table()", shown(text_plain="x", text_markdown="## Table\n\n[sun](sun.md)"), failed),
            code("  \n"),
        )
    )

    assert (found.key, found.title, found.path) == ("notes/tide-tables.ipynb", "Tides", "/root/tide-tables.ipynb")
    assert blocks(found) == [
        ("heading", 1, "# Tides"),
        ("paragraph", 0, "See [the moon](moon.md) and [below](#x)."),
        ("code", 0, "import tides\n\ntides.high()"),
        ("code", 0, "100%\ndone"),
        ("code", 0, "'04:12'"),
        ("code", 0, "plot()"),
        ("code", 0, "table()"),
        ("heading", 2, "## Table"),
        ("paragraph", 0, "[sun](sun.md)"),
        ("code", 0, "ValueError: no tide"),
    ]
    assert links(found) == [
        ("moon.md", "[the moon](moon.md)"),
        ("sun.md", "[sun](sun.md)"),
    ]


def test_a_fence_that_never_ends_ends_with_its_cell() -> None:
    found = parsed(notebook(markdown("```\nnever closed"), markdown("## Next")))

    assert blocks(found)[-1] == ("heading", 2, "## Next")


def test_the_title_is_the_metadatas_the_front_matters_or_the_files() -> None:
    raw = {"cell_type": "raw", "source": "---\ntitle: Neaps\nauthor: Ada\n---"}

    assert parsed(notebook(markdown("# Heading"), title="Stated")).title == "Stated"
    found = parsed(notebook(raw, code("x")))
    assert (found.title, found.metadata, found.text) == ("Neaps", {"author": "Ada"}, "x")
    assert parsed(notebook(code("x"))).title == "tide tables"


def test_notebooks_of_before_format_4_are_read_too() -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Old"]},
        {"cell_type": "code", "input": ["x"], "outputs": [{"output_type": "stream", "text": ["printed"]}]},
    ]

    found = parsed({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})

    assert blocks(found) == [("heading", 2, "## Old"), ("code", 0, "x"), ("code", 0, "printed")]


def test_tables_and_formulas_that_have_no_text_are_read_from_their_html_and_latex() -> None:
    table = "<style>td {}</style><table><tr><td>Oldwick<td>40</table>"
    found = parsed(
        notebook(
            code("a", shown(text_html=table, text_plain="<IPython.core.display.HTML object>")),
            code("b", shown(text_html=["<p>", "no</p>"], text_plain="plain")),
            code("c", shown(text_latex="$x^2$"), shown(text_html="<style>td {}</style>")),
        )
    )
    before_4 = {"cell_type": "code", "input": "d", "outputs": [{"output_type": "pyout", "html": [table]}]}

    assert blocks(found)[1:] == [
        ("table", 0, "Oldwick | 40"),
        ("code", 0, "b"),
        ("code", 0, "plain"),
        ("code", 0, "c"),
        ("code", 0, "$x^2$"),
    ]
    assert parsed({"nbformat": 3, "metadata": {}, "worksheets": [{"cells": [before_4]}]}).text == "d\n\nOldwick | 40"


def test_a_cell_whose_outputs_are_null_is_read() -> None:
    assert parsed(notebook({"cell_type": "code", "source": "x", "outputs": None})).text == "x"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"{", "isn't JSON"),
        ([], "isn't well-formed notebook"),
        ({"nbformat": 4}, "isn't well-formed notebook"),
        (notebook({"cell_type": "code", "source": 7}), "isn't well-formed notebook"),
        (notebook(), "has no text"),
        (notebook(code(" \n")), "has no text"),
    ],
)
def test_what_is_no_notebook_is_unreadable(value: Any, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parsed(value)
