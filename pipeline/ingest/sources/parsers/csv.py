"""CSV, with commas, semicolons, tabs or bars: a line for each row, each cell behind the name of its column."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator

from pipeline.ingest.sources.parsers.encodings import decoded_page
from pipeline.ingest.sources.parsers.rows import write_rows
from pipeline.ingest.sources.source import Source, TextBuilder, parser_errors
from pipeline.records import Document

_STATED = re.compile(r"sep=(.)\n")
"""How Excel states what separates the cells."""

_SAMPLE = 10_000
"""Characters by which the separator is found, or two lines if these are longer. Chosen by hand; not measured."""

_NEVER = "\x1f"
"""A separator that no text has: the file has a single column."""


def parse(source: Source) -> Document:
    """Return a file of rows as a document. Raises Unreadable."""
    text = decoded_page(source.data)
    # the size of the file bounds the size of a cell
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    stated = _STATED.match(text)
    separator = stated[1] if stated else _separator(text, "\t" if source.key.lower().endswith(".tsv") else ",;\t|")
    built = TextBuilder()
    with parser_errors("CSV"):
        write_rows(built, _rows(text[stated.end() if stated else 0 :], separator))
    return built.document(source, source.stem, "Leave it out, or write something into it.")


def _separator(text: str, candidates: str) -> str:
    """Return the separator that gives the most rows the same number of cells, and the most cells.

    csv.Sniffer takes letters for separators, and takes minutes for some texts.
    """
    second = text.find("\n", text.find("\n") + 1)
    sample = text[: max(second, text.rfind("\n", 0, _SAMPLE))] if second > 0 and len(text) > _SAMPLE else text
    counted = {candidate: _cells(sample, candidate) for candidate in candidates}
    best = max(counted, key=lambda candidate: counted[candidate])
    return best if counted[best][1] > 1 else _NEVER


def _cells(sample: str, separator: str) -> tuple[float, int]:
    """Return the share of the rows that have the most frequent number of cells, and that number; (0, 1) for one."""
    widths = Counter(len(row) for row in _rows(sample, separator) if row)
    width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
    return (count / widths.total(), width) if width > 1 else (0, 1)


def _rows(text: str, separator: str) -> Iterator[list[str]]:
    # a blank after the separator would make quotes a part of the cell
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
