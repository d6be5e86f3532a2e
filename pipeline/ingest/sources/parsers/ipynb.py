"""Jupyter notebooks: the cells, Markdown with its structure and code as it is, and what code printed below it."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pipeline.files import Guard, Unreadable, decode, parse_json
from pipeline.ingest.sources.parsers import html
from pipeline.ingest.sources.parsers.markdown import blocks_and_links, parsed, structure
from pipeline.ingest.sources.source import Source, join, parser_errors
from pipeline.records import Block, BlockKind, Document
from pipeline.text.outline import first_heading

_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_OBJECT = re.compile(r"<[^\n]*>")
"""How Python prints an object that has no text of its own, such as a figure."""


def parse(source: Source) -> Document:
    """Return a notebook as a document: its cells in order, each code cell with its outputs of text.

    The title comes from the notebook's metadata or the front matter in its first cell, else from the first heading of
    level 1, else from the file's stem. Raises Unreadable.
    """
    value = parse_json(decode(source.data), Guard(Unreadable, limits=source.limits, mend=True))
    with parser_errors("notebook"):
        title = value.get("metadata", {}).get("title")
        (kind, text), *others = [*_cells(value)] or [("code", "")]
        # front matter for other programs stands in a first cell of text
        first = _structured(kind, text) if kind == "code" else structure(Document("", "", text))
        cells = [first, *(_structured(kind, text) for kind, text in others)]
        joined = join(cells)
    if not joined.blocks:
        raise Unreadable("has no text", "Leave it out, or write something into it.")
    title = (isinstance(title, str) and title) or first.title or first_heading(joined.text, joined.blocks)
    return replace(joined, key=source.key, path=source.path, title=title or source.stem)


def _cells(notebook: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of each cell and output; ``code`` is that of outputs, too."""
    # until format 4, worksheets held the cells, and headings were cells of their own
    sheets = [notebook] if "cells" in notebook else notebook["worksheets"]
    for cell in (cell for sheet in sheets for cell in sheet["cells"]):
        text = _text(cell.get("source", cell.get("input")))
        if cell["cell_type"] == "heading":
            yield "markdown", f"{'#' * int(cell.get('level', 1))} {' '.join(text.split())}"
        else:
            yield cell["cell_type"], text
        for output in cell.get("outputs") or ():
            yield _output(output)


def _output(output: Mapping[str, Any]) -> tuple[str, str]:
    """Return what an output says: the text of a stream, the message of an error, else the value in the best format."""
    if "ename" in output:
        return "code", f"{output['ename']}: {output.get('evalue', '')}"
    if "text" in output:
        return "code", "\n".join(map(_last_state, _COLOURS.sub("", _text(output["text"])).split("\n")))
    # until format 4, values stood beside the kind of the output
    data = output.get("data") or {f"text/{name}": output[name] for name in ("html", "latex") if name in output}
    if "text/markdown" in data:
        return "markdown", _text(data["text/markdown"])
    plain = _text(data.get("text/plain"))
    if plain and not _OBJECT.fullmatch(plain.strip()):
        return "code", plain
    return ("html", _text(data["text/html"])) if "text/html" in data else ("code", _text(data.get("text/latex")))


def _last_state(line: str) -> str:
    """Return what is seen of a line in the end, which a progress bar writes again and again."""
    return line.rstrip("\r").rpartition("\r")[2]


def _text(written: Any) -> str:
    """Return a text that stands as one, or as a list of its lines."""
    return "".join(written) if isinstance(written, list) else written or ""


def _structured(kind: str, text: str) -> Document:
    text = text.replace("\r\n", "\n").strip("\n").rstrip()
    if kind == "code":
        return Document("", "", text, (Block(BlockKind.CODE, 0, len(text)),) if text else ())
    if kind == "html":
        with suppress(Unreadable):
            return replace(html.parse(Source("", "", text.encode())), links=())
        return Document("", "", "")
    blocks, links = blocks_and_links(parsed(text))
    return Document("", "", text, blocks, tuple(link for link in links if link.target))
