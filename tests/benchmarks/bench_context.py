"""How much of the answer a context holds, at equal budgets, by what its hits are expanded by.

    uv run python tests/benchmarks/bench_context.py DATA_DIR/docs/flask DATA_DIR/docs/httpx --corpus ev

The questions name the sections that answer: ``"sections": {document: [heading, ...]}`` in queries.jsonl. ``whole`` is
the share of questions with one of these sections whole in the context, ``text`` the mean share of the text of all of
them, both line by line without regard to white space. With ``--corpus`` corpora are kept as ``ev/its name`` and used
again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from pipeline import HopRank
from pipeline.flows.evaluate import temporary
from pipeline.ingest.sources import read
from pipeline.records import BlockKind, Document
from pipeline.retrieve.context import Context
from pipeline.retrieve.window import Expand
from pipeline.text.outline import Section, heading_text, outline

_LETTERS = 3  # of a line, at least: others are rules and fences

Lines = tuple[str, ...]


class Answered(NamedTuple):
    """Parts of the answer in a context: whether a section is whole, the share of the text, and the context's tokens."""

    whole: bool
    text: float
    tokens: int


def main() -> int:
    """Ask every question with each budget, number of hits and expansion; print a row for each of these."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    parser.add_argument("--corpus", help="keep the corpora under this name")
    parser.add_argument("--tokens", nargs="+", type=int, default=[500, 1000, 2000])
    parser.add_argument("--top-k", nargs="+", type=int, default=[3, 5, 20])
    arguments = parser.parse_args()
    cases = list(product(arguments.tokens, arguments.top_k, Expand))
    found: dict[tuple[str, int, int, Expand], list[Answered]] = defaultdict(list)
    with HopRank.connect() as hoprank:
        for folder in arguments.folders:
            name = folder.resolve().name
            with temporary(hoprank.client, f"{arguments.corpus}/{name}" if arguments.corpus else None) as corpus:
                hoprank.ingest(folder / "corpus.jsonl", corpus=corpus)
                for question, answers in questions(folder):
                    for tokens, top_k, expand in cases:
                        context = hoprank.context(question, corpus=corpus, tokens=tokens, top_k=top_k, expand=expand)
                        found[name, tokens, top_k, expand].append(answered(context, answers))
    Console().print(table(found, cases))
    return 0


def questions(folder: Path) -> Iterator[tuple[str, Mapping[str, list[Lines]]]]:
    """Yield each question of a queryset, and the lines of the sections that answer it, by document."""
    read_ = read([str(folder / "corpus.jsonl")])
    documents = {one.key: sections(one) for one in read_ if isinstance(one, Document)}
    for line in (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        answers = {
            key: [lines for heading in headings for lines in documents[key].get(heading_text(heading), ())]
            for key, headings in row.get("sections", {}).items()
        }
        if any(answers.values()):
            yield row["query"], answers


def sections(document: Document) -> dict[str, list[Lines]]:
    """Return the lines of the sections of a document, up to the next heading, by their headings."""
    found: dict[str, list[Lines]] = defaultdict(list)
    pending = [outline(document)]
    while pending:
        section = pending.pop()
        if lines := tuple(_lines(document, section)):
            found[section.path[-1] if section.path else ""].append(lines)
        pending += section.children
    return found


def _lines(document: Document, section: Section) -> Iterator[str]:
    texts = (document.text[block.start : block.end] for block in section.body if block.kind is not BlockKind.HEADING)
    for line in (line for text in texts for line in text.splitlines()):
        if sum(map(str.isalnum, line)) >= _LETTERS:
            yield _plain(line)


def _plain(text: str) -> str:
    return " ".join(text.split())


def answered(context: Context, answers: Mapping[str, Sequence[Lines]]) -> Answered:
    """Return what a context holds of the sections that answer."""
    texts: dict[str, str] = defaultdict(str)
    for passage in context.passages:
        texts[passage.document] += f"\n{_plain(passage.text)}"
    held, whole = 0, 0
    for key, lines in ((key, lines) for key, of_document in answers.items() for lines in of_document):
        held += sum(len(line) for line in lines if line in texts[key])
        whole += all(line in texts[key] for line in lines)
    size = sum(len(line) for of_document in answers.values() for lines in of_document for line in lines)
    return Answered(whole > 0, held / size, context.tokens)


def _percent(of: Sequence[Answered]) -> str:
    return f"{100 * fmean(one.whole for one in of):.1f} / {100 * fmean(one.text for one in of):.1f}"


def table(
    found: Mapping[tuple[str, int, int, Expand], list[Answered]], cases: Iterable[tuple[int, int, Expand]]
) -> Table:
    """Draw a row for each case, with the figures of each set and of all questions."""
    names = list(dict.fromkeys(name for name, *_ in found))
    shown = Table(title="Percent: whole / text", width=100)
    for column in ("tokens", "top k", "expand", *names, "all", "tokens used"):
        shown.add_column(column, justify="left" if column == "expand" else "right")
    for case in cases:
        sets = [found[name, *case] for name in names]
        together = [one for of_set in sets for one in of_set]
        figures = map(_percent, (*sets, together))
        shown.add_row(*map(str, case), *figures, f"{fmean(one.tokens for one in together):.0f}")
    return shown


if __name__ == "__main__":
    sys.exit(main())
