"""The page of what was measured, and the README's table: what they say of the results in measured.json."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from pipeline.retrieve.legs import Leg

BEGIN, END = "<!-- measured.py writes this table -->\n", "<!-- until here -->\n"

LEGS = (Leg.VECTOR, Leg.HYBRID, Leg.WHOLE)
MEASURES = ("recall@5", "recall@10", "ndcg@10")
BY_HOPS = ("recall@5", "recall@10", "perfect@5")
_EDGES = "┃│"
"""Edges of the cells of a table that a benchmark prints, in its head and in its rows."""
_CORNER = "┏"
"""Begins such a table."""

_WIDEST = 90
"""Characters of a line of a command: with its backslash it fits a terminal."""

_SAID = 0.005
"""Smallest lead that is set in bold."""

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Set:
    """A queryset: its folder below DATA_DIR, its name on the page, and how its questions were drawn."""

    folder: str
    name: str
    drawn: str

    @property
    def key(self) -> str:
        """The name of its corpus and of its results."""
        return Path(self.folder).name


SETS = (
    Set("multihop/2wiki-dev146", "2WikiMultiHopQA", "dev: 146 questions that MIGRES sampled, their paragraphs pooled"),
    Set(
        "multihop/2wiki-bigpool-dev",
        "2WikiMultiHopQA, large pool",
        "dev: 250 others, drawn at random from a sample of 500 whose paragraphs are pooled",
    ),
    Set("multihop/hotpotqa-train100", "HotpotQA", "train: the 100 questions that HippoRAG was tuned on"),
    Set(
        "multihop/hotpotqa-bigpool-dev",
        "HotpotQA, large pool",
        "dev: 195 questions; also what a retriever returned for them, as distractors",
    ),
    Set("multihop/musique-train100", "MuSiQue", "train: the 100 questions that HippoRAG was tuned on"),
    Set(
        "multihop/musique-bigpool-dev",
        "MuSiQue, large pool",
        "dev: 158 questions with 2, 3 and 4 hops as in all of dev; 1 judgement in 100 may be wrong",
    ),
    Set("ir/scifact-train", "SciFact", "train, as in BEIR: all 809 questions"),
    Set("ir/cisi", "CISI", "all 76 judged questions"),
    Set("ir/cranfield", "Cranfield", "all 225 questions"),
    Set("docs/flask", "Flask's documentation", "40 questions as developers ask them"),
    Set("docs/httpx", "HTTPX's documentation", "40 questions as developers ask them"),
    Set("docs/sqlite-utils", "sqlite-utils' documentation", "40 questions as developers ask them"),
    Set("docs/kubernetes", "Kubernetes' documentation", "215 questions, one judged page each"),
)
PUBLISHED = Set("multihop/2wikimultihopqa", "2WikiMultiHopQA", "HippoRAG's 1,000 questions")
"""The set that papers report, which nothing was chosen on."""

LANGUAGES = {"zh": "Chinese", "ja": "Japanese", "de": "German", "ru": "Russian"}
"""Sets of the tests: folder, and name of the language."""

IN_README = (
    "2wiki-dev146",
    "hotpotqa-train100",
    "musique-train100",
    "musique-bigpool-dev",
    "scifact-train",
    "kubernetes",
)


_SPEED = {
    "search": "A search beside neo4j-graphrag's `HybridRetriever`, on one server, one corpus and one model, in"
    " milliseconds; 8 is of eight clients at once, CPU the processor time of one of their questions, R@10 the recall:",
    "many": "The same over generated passages, few and many:",
    "ingest": "An ingest in passages a second, beside the bare `SentenceTransformer.encode` of the same texts in the"
    " same precision; peer is langchain-neo4j's `Neo4jVector.from_documents`, which makes no links and no full text, as"
    " it comes (float32) and by that bare encoder; CPU in seconds: bare, of hoprank, of the server:",
    "startup": "Commands that need no server:",
    "walk": "The whole by GDS and by the local engine:",
    "graph": "A knowledge graph:",
    "scale": "Generated documents, few and many; searches in milliseconds, the rest in seconds:",
}


def page(results: Mapping[str, Facts]) -> str:
    """Return the page of what was measured; it states nothing else."""
    parts = [_INTRODUCTION, *_sets(results), *_by_hops(results), *_of_languages(results), *_of_models(results)]
    parts.append(_published(results))
    if any(step in results for step in _SPEED):
        parts.append("## Speed and memory\n")
        parts += [_printed(_SPEED[step], results[step]) for step in _SPEED if step in results]
    return "\n".join(parts)


def with_table(readme: str, results: Mapping[str, Facts]) -> str:
    """Return the README with its table written anew, once both steps that it states have run."""
    if not {"quality", "tune"} <= results.keys():
        return readme
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{_readme_table(results)}{END}{after}" if after else readme


def _sets(results: Mapping[str, Facts]) -> list[str]:
    if "quality" not in results:
        return []
    sets, tuned = results["quality"]["sets"], results.get("tune", {})
    precisions = " and ".join(sorted({one["precision"] for one in sets.values()}))
    drawn = _table(
        ("set", "questions", "documents", "drawn from"),
        [(one.name, f"{sets[one.key]['questions']:,}", f"{sets[one.key]['documents']:,}", one.drawn) for one in SETS],
    )
    rows = [
        (
            one.name,
            *(_triple(sets[one.key]["legs"][leg]) for leg in (Leg.VECTOR, Leg.HYBRID)),
            _bold(sets[one.key]["legs"]),
            _triple(tuned["left_out"][one.key]) if tuned else "",
            f"{sets[one.key]['p50_ms']:.0f}",
        )
        for one in SETS
    ]
    measured = _table(("set", "vector", "hybrid", "hoprank", "left out", "ms (p50)"), rows)
    parts = [drawn, _FIGURES.format(run=_said(results["quality"]["run"]), precisions=precisions), measured]
    return [*parts, _tuned(tuned, results["shipped"])] if tuned else parts


def _by_hops(results: Mapping[str, Facts]) -> list[str]:
    sets = results.get("quality", {}).get("sets", {})
    rows = [
        (one.name, hops, f"{of['questions']:,}", *(f"{100 * of[name]:.1f}" for name in BY_HOPS))
        for one in SETS
        for hops, of in sorted(sets.get(one.key, {}).get("hops", {}).items())
    ]
    if not rows:
        return []
    table = _table(("set", "hops", "questions", *BY_HOPS), rows)
    return [f"By the number of passages that a question takes, the whole:\n\n{table}"]


def _of_languages(results: Mapping[str, Facts]) -> list[str]:
    if "languages" not in results:
        return []
    sets = results["languages"]["sets"]
    rows = [
        (
            name,
            f"{sets[key]['questions']:,}",
            f"{sets[key]['documents']:,}",
            *(_triple(sets[key]["legs"][leg]) for leg in LEGS),
        )
        for key, name in LANGUAGES.items()
    ]
    table = _table(("language", "questions", "documents", "vector", "hybrid", "hoprank"), rows)
    return [_LANGUAGES.format(table=table, run=_said(results["languages"]["run"]))]


def _of_models(results: Mapping[str, Facts]) -> list[str]:
    if "models" not in results:
        return []
    found = results["models"]
    rows = [
        (
            one.name,
            *(_triple(found["sets"][one.key][leg]) for leg in (Leg.VECTOR, Leg.HYBRID)),
            _bold(found["sets"][one.key]),
        )
        for one in SETS
        if one.key in found["sets"]
    ]
    table = _table(("set", "vector", "hybrid", "hoprank"), rows)
    which = "The same sets" if len(rows) == len(SETS) else f"The {len(rows)} smallest of these sets"
    return [_MODELS.format(which=which, model=found["model"], table=table, run=_said(found["run"]))]


def _tuned(tuned: Facts, shipped: Facts) -> str:
    gains = ", ".join(
        f"{100 * gain['mean']:.1f} of {name} ({100 * gain['low']:.1f} to {100 * gain['high']:.1f})"
        for name, gain in tuned["gains"].items()
    )
    names = _table(
        ("confidence in a name", "names", "lead to a relevant document"),
        [(f"{row['low']} to {row['high']}", f"{row['count']:,}", f"{row['leads']:.0%}") for row in tuned["names"]],
    )
    differs = f"{tuned['shipped_differs']:.1%}"
    runs = {"run": _said(tuned["run"]), "shipped": _said(shipped["run"])}
    return _LEFT_OUT.format(gains=gains, names=names, differs=differs, **runs)


def _readme_table(results: Mapping[str, Facts]) -> str:
    sets, tuned = results["quality"]["sets"], results["tune"]["left_out"]
    named = {one.key: one.name for one in SETS}
    rows = [
        (
            named[key],
            f"{sets[key]['questions']:,}",
            f"{sets[key]['documents']:,}",
            *(f"{100 * sets[key]['legs'][leg]['recall@5']:.1f}" for leg in LEGS),
            f"{100 * tuned[key]['recall@5']:.1f}",
        )
        for key in IN_README
    ]
    table = _table(("set", "questions", "documents", "vector", "hybrid", "HopRank", "HopRank, left out"), rows)
    times = [one["p50_ms"] for one in sets.values()]
    machine = results["quality"]["run"]["machine"]
    said = f"A search takes {min(times):.0f} to {max(times):.0f} ms (p50) on {machine}."
    if "published" in results:
        said += _README_PUBLISHED.format(recall=f"{100 * results['published']['legs'][Leg.WHOLE]['recall@5']:.1f}")
    return f"\n{table}\n{said}\n\n"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _triple(measures: Mapping[str, float]) -> str:
    return "/".join(f"{100 * measures[name]:.1f}" for name in MEASURES)


def _bold(legs: Mapping[str, Mapping[str, float]]) -> str:
    """Return the whole's figures; in bold what leads vector and hybrid by more than half a point."""
    best = {name: max(legs[leg][name] for leg in (Leg.VECTOR, Leg.HYBRID)) for name in MEASURES}
    figures = {name: f"{100 * legs[Leg.WHOLE][name]:.1f}" for name in MEASURES}
    return "/".join(
        f"**{figure}**" if legs[Leg.WHOLE][name] > best[name] + _SAID else figure for name, figure in figures.items()
    )


def _printed(title: str, facts: Facts) -> str:
    _, *printed = "\n".join(facts["printed"]).split(_CORNER)
    tables = "\n".join(_drawn(one.splitlines()) for one in printed)
    words = textwrap.wrap(facts["command"], _WIDEST, break_long_words=False, break_on_hyphens=False)
    command = " \\\n    ".join(words)
    return f"{title}\n\n```sh\n{command}\n```\n\n{tables}\n({_said(facts['run'])})\n"


def _drawn(printed: Sequence[str]) -> str:
    """Return a table as Markdown, with each row that was wrapped on one line."""
    rows = [_cells(line) for line in printed if line[:1] in _EDGES]
    for row, wrapped in reversed(list(pairwise(rows))):
        if not wrapped[0]:
            row[:] = [f"{cell} {more}".strip() for cell, more in zip(row, wrapped, strict=True)]
    return _table(rows[0], [row for row in rows[1:] if row[0]])


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in re.split(f"[{_EDGES}]", line)[1:-1]]


def _said(run: Mapping[str, str]) -> str:
    return f"{run['date']}, commit {run['commit']}, {run['machine']}"


_INTRODUCTION = """\
# Measured

Quality and speed on public sets: what was tuned on what, and how to repeat it.

`python tests/benchmarks/measured.py DATA_DIR` ran all of it and wrote this page. What it found is in
`tests/benchmarks/measured.json`, to the last digit. Two commands repeat what can be built from public repositories,
and print each figure beside the one of this page:

```sh
python tests/benchmarks/fetch_sets.py DATA_DIR
python tests/benchmarks/measured.py DATA_DIR quality
```

The first fetches MuSiQue, HotpotQA, SciFact, CISI, Cranfield and Kubernetes' documentation, each from a commit of its
repository. The others can't be built by it: the small set and the large pools of 2WikiMultiHopQA, HotpotQA and MuSiQue
were joined from several sources for this page, and the questions about Flask, HTTPX and sqlite-utils written for it.

## The sets

The sets are folders as `hoprank evaluate` takes them. They are not the 1,000 questions of each set that
HippoRAG reports: those of 2WikiMultiHopQA, HotpotQA and MuSiQue are other questions, and the smaller of
these sets have 5 to 10 times fewer passages to choose from.
"""

_FIGURES = """\
**What was tuned on what.** The confidence in names and the weights of the scorer were learned from these
sets, up to 200 questions of each. The settings of the walk were chosen on the smaller multi-hop sets,
SciFact and Cranfield; the features of the scorer on all sets, and so was the share of a document's centroid
in the vector score of its passages. In the column "left out" the set's own questions taught neither the
confidence nor the weights. The rest was chosen with them all the same, so a set of a new kind may lie below
that column.

## Recall and ranking

Figures are recall@5/recall@10/nDCG@10 in percent, with all-MiniLM-L6-v2, passages in {precisions}, no LLM
and the default configuration. Bold is what leads vector and hybrid by more than half a point. The column
"left out" is over the up to 200 questions that the learning takes. ({run})

```sh
hoprank evaluate DATA_DIR/multihop/2wiki-dev146 --json report.json
```
"""

_LANGUAGES = """\
## Other languages

Two-hop questions over texts of the tests' own (`tests/flows/languages`), by the same model, which was trained on
English: recall@5/recall@10/nDCG@10 in percent. ({run})

{table}"""

_MODELS = """\
## Another model

{which} by {model}, with the same settings and weights: recall@5/recall@10/nDCG@10 in percent. ({run})

```sh
python tests/benchmarks/measured.py DATA_DIR models --model FOLDER
```

{table}"""

_LEFT_OUT = """\
Left out, the whole adds to hybrid {gains}: points, as the mean over the sets with the interval of 95%.

How often names of each confidence lead to a relevant document, in sets left out:

{names}
```sh
hoprank tune DATA_DIR/docs/* DATA_DIR/ir/* DATA_DIR/multihop/*-dev* \\
    DATA_DIR/multihop/*-train100 --corpus measured --anew
```

({run}. The shipped weights are those that this command learned before the centroids of documents counted
({shipped}); what it learns now differs by {differs} at most.)
"""

_PUBLISHED = """\
## Published figures

Recall@5 in percent on HippoRAG's 1,000 questions of each set, of whose supporting passages the titles count; those of
2WikiMultiHopQA are sought among 6,119 passages. Of HopRank's this set alone was at hand, with judgements rebuilt from
the questions' evidence. Nothing was chosen on it. Empty is what wasn't measured, or wasn't read in the paper.

{table}
{ours}
What an LLM reads and writes to index MuSiQue's 11,656 passages, by table 12 of arXiv 2502.14802 as others quote it:
HippoRAG 2 9.2 and 3.0 million tokens; LightRAG reads 68.5 million, GraphRAG 115.5 million. HopRank asks none. How many
minutes theirs took wasn't read.
"""

_README_PUBLISHED = """

On HippoRAG's own 1,000 questions of 2WikiMultiHopQA, on which nothing was chosen, it is {recall}; what papers report
stands beside it [here](pipeline/docs/measured.md#published-figures)."""
_PAPERS = (
    ("BM25", "no", "", "65.3", "", "", "Gutiérrez et al. 2025, arXiv 2502.14802"),
    ("NV-Embed-v2", "no", "7 billion", "76.5", "94.5", "69.7", "the same"),
    ("HippoRAG, ColBERTv2", "yes", "110 million", "89.1", "77.7", "51.9", "Gutiérrez et al. 2024, arXiv 2405.14831"),
    ("HippoRAG 2, NV-Embed-v2", "yes", "7 billion", "90.4", "96.3", "74.7", "Gutiérrez et al. 2025"),
    ("GFM-RAG", "yes", "", "95.6", "", "", "Luo et al. 2025, arXiv 2502.01113"),
)
"""What papers report: system, language model, parameters of the embedder, recall@5 of each set, source."""

_OURS = {Leg.VECTOR: "all-MiniLM-L6-v2", Leg.HYBRID: "the same and full text", Leg.WHOLE: "HopRank"}
_SAID_OF_OURS = """\
HopRank's recall@2 is {recall}. Its {documents:,} passages, {tokens:,} tokens of the embedder's, took {minutes:.1f}
minutes to index, and a question takes {p50_ms:.0f} ms (p50), both without a GPU. ({date}, commit {commit},
{machine})"""


def _published(results: Mapping[str, Facts]) -> str:
    """Return the section that puts HopRank beside what papers report."""
    rows, said = [*_PAPERS], "HopRank wasn't measured on these yet."
    if "published" in results:
        found = results["published"]
        for leg, name in _OURS.items():
            recall = f"{100 * found['legs'][leg]['recall@5']:.1f}"
            rows.append((name, "no", "22 million", recall, "", "", "measured here"))
        said = _SAID_OF_OURS.format(
            recall=f"{100 * found['legs'][Leg.WHOLE]['recall@2']:.1f}", **{**found, **found["run"]}
        )
    columns = ("", "LLM", "embedder", PUBLISHED.name, "HotpotQA", "MuSiQue", "source")
    return _PUBLISHED.format(table=_table(columns, rows), ours=said)
