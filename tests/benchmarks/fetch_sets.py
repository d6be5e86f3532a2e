"""Build the public sets that the benchmarks measure, from where they were published, into DATA_DIR.

    python tests/benchmarks/fetch_sets.py DATA_DIR
    python tests/benchmarks/measured.py DATA_DIR quality

Each set comes from a commit of a repository, which git fetches by its hash, and so checks; of a repository only the
files that are wanted are fetched. A set that is there already is left as it is. The others of the page can't be built:
the pools of HotpotQA, MuSiQue and 2WikiMultiHopQA that were joined for it, and the questions about the documentations
of Flask, HTTPX and sqlite-utils, which were written for it.
"""

from __future__ import annotations

import argparse
import ast
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import read_dataset

GITHUB = "https://github.com/{owner}/{name}.git"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source:
    """Paths of a commit of a repository on GitHub."""

    repository: str
    commit: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Published:
    """A set: its sources, the function that builds it from their checkouts, and how many questions it has."""

    sources: tuple[Source, ...]
    build: Callable[[Sequence[Path], Path], None]
    questions: int


def main() -> int:
    """Build all sets, or those named, and print what was done."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DATA_DIR")
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)}; by default all")
    parser.add_argument("--from", dest="url", default=GITHUB, metavar="URL", help="with {owner} and {name}: a mirror's")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.sets if name not in SETS]:
        parser.error(f"there is no set {unknown[0]!r}; there are {', '.join(SETS)}")
    failed = False
    for name in arguments.sets or SETS:
        try:
            print(f"{name}: {fetch(name, arguments.folder, arguments.url)}", flush=True)
        except (FetchError, QuerySetError, OSError) as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            failed = True
    return int(failed)


class FetchError(Exception):
    """A set can't be fetched, or isn't what it was."""


def fetch(name: str, folder: Path, url: str = GITHUB) -> str:
    """Build a set in ``folder`` and say what it holds; nothing is left of one that can't be built."""
    target, wanted = folder / name, SETS[name]
    if target.exists():
        return "is there already"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as work:
        checkouts = [checked_out(source, Path(work) / str(place), url) for place, source in enumerate(wanted.sources)]
        built = Path(work) / "built"
        built.mkdir()
        wanted.build(checkouts, built)
        questions = len(read_dataset(built).queries)
        if questions != wanted.questions:
            raise FetchError(f"has {questions:,} questions, not {wanted.questions:,}")
        built.rename(target)
    return f"{questions:,} questions"


def checked_out(source: Source, folder: Path, url: str) -> Path:
    """Fetch the paths of a source into a folder, and return it."""
    owner, name = source.repository.split("/")
    for step in (
        ("init", "--quiet", str(folder)),
        ("-C", str(folder), "remote", "add", "origin", url.format(owner=owner, name=name)),
        ("-C", str(folder), "fetch", "--quiet", "--depth=1", "--filter=blob:none", "origin", source.commit),
        ("-C", str(folder), "checkout", "--quiet", source.commit, "--", *source.paths),
    ):
        try:
            subprocess.run(["git", *step], check=True, capture_output=True, text=True)
        except FileNotFoundError:
            raise FetchError("needs git") from None
        except subprocess.CalledProcessError as error:
            said = (error.stderr.strip().splitlines() or ["nothing"])[-1]
            raise FetchError(f"git says of {source.repository} {source.commit[:10]}: {said}") from None
    return folder


def write_set(
    folder: Path, documents: Iterable[Row], queries: Iterable[Row], qrels: Iterable[tuple[str, str, int]]
) -> None:
    """Write a set as HopRank reads it."""
    for name, rows in (("corpus", documents), ("queries", queries)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    judged = "".join(f"{query}\t{document}\t{relevance}\n" for query, document, relevance in qrels)
    (folder / "qrels.tsv").write_text(f"query_id\tdoc_id\trelevance\n{judged}", encoding="utf-8")


def hipporag(checkouts: Sequence[Path], folder: Path) -> None:
    """Take HippoRAG's two files as they are: HopRank reads them."""
    for path in checkouts[0].glob("data/*.json"):
        shutil.copy(path, folder)


_FIELD = re.compile(r"^\.([A-Z])[ \t]*(.*)$")


def smart(text: str) -> Iterator[dict[str, str]]:
    """Yield the entries of a file of the SMART system: the lines of each field, joined by blanks."""
    for part in re.split(r"^(?=\.I )", text, flags=re.MULTILINE)[1:]:
        entry: dict[str, list[str]] = {}
        lines: list[str] = []
        for line in part.splitlines():
            if match := _FIELD.match(line):
                lines = entry.setdefault(match[1], [])
                line = match[2]
            lines.append(line)
        yield {name: " ".join(" ".join(words).split()) for name, words in entry.items()}


def cisi(checkouts: Sequence[Path], folder: Path) -> None:
    """Build CISI: abstracts of information science, all judgements of relevance 1."""
    (checkout,) = checkouts
    texts = {name: (checkout / f"CISI.{name}").read_text(encoding="utf-8", errors="replace") for name in _CISI}
    pairs = [line.split()[:2] for line in texts["REL"].splitlines() if line.strip()]
    judged = dict.fromkeys((query, document, 1) for query, document in pairs)
    asked = {query for query, _, _ in judged}
    write_set(
        folder,
        ({"id": one["I"], "title": one.get("T", ""), "text": one.get("W", "")} for one in smart(texts["ALL"])),
        (
            {"id": one["I"], "query": " ".join(filter(None, (one.get("T"), one.get("W"))))}
            for one in smart(texts["QRY"])
            if one["I"] in asked
        ),
        judged,
    )


_CISI = ("ALL", "QRY", "REL")


def cranfield(checkouts: Sequence[Path], folder: Path) -> None:
    """Build Cranfield: its judgements number the queries by their places; grade 1, the best, becomes 4."""
    (checkout,) = checkouts
    documents = []
    for one in smart((checkout / "cran.all.1400").read_text(encoding="utf-8")):
        title, text = one.get("T", ""), one.get("W", "")
        documents.append({"id": one["I"], "title": title.rstrip(" ."), "text": text.removeprefix(title).strip()})
    queries = [
        {"id": str(place), "query": one["W"].rstrip(" ."), "orig_id": one["I"]}
        for place, one in enumerate(smart((checkout / "cran.qry").read_text(encoding="utf-8")), 1)
    ]
    judged: dict[tuple[str, str], int] = {}
    for line in (checkout / "cranqrel").read_text(encoding="utf-8").splitlines():
        if columns := line.split():
            query, document, code = columns
            if int(code) in range(1, 5):
                judged.setdefault((query, document), 5 - int(code))
    write_set(folder, documents, queries, ((*pair, grade) for pair, grade in judged.items()))


def scifact(checkouts: Sequence[Path], folder: Path) -> None:
    """Build SciFact's training questions as BEIR has them; the abstracts are written as arrays of sentences."""
    abstracts, beir = checkouts
    with zipfile.ZipFile(abstracts / "data/scifact.zip") as archive, archive.open("corpus_train.csv") as file:
        rows = list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline="")))
    qrels = (beir / "data/scifact/qrels/train.tsv").read_text(encoding="utf-8").splitlines()[1:]
    judged = [(query, document, int(grade)) for query, document, grade in (line.split("\t") for line in qrels)]
    asked = {query for query, _, _ in judged}
    lines = (beir / "data/scifact/queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = [row for row in map(json.loads, lines) if row["_id"] in asked]
    write_set(
        folder,
        ({"id": row["doc_id"], "title": row["title"], "text": " ".join(strings(row["abstract"]))} for row in rows),
        ({"id": row["_id"], "query": row["text"]} for row in queries),
        judged,
    )


def strings(text: str) -> Iterator[str]:
    """Yield the strings of a text of Python's: an array of them as numpy prints it."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            yield ast.literal_eval(token.string)


def kubernetes(checkouts: Sequence[Path], folder: Path) -> None:
    """Build the questions about Kubernetes' documentation that the page measures, half of those published."""
    pages, asked = checkouts
    documents = [
        {
            "id": path.stem,
            "title": page_title(text) or path.stem.rpartition("_")[2].replace("-", " "),
            "text": text,
            "metadata": {"section": path.stem.partition("_")[0] or "root"},
        }
        for path in sorted((pages / _PAGES).glob("*.md"), key=lambda path: path.stem)
        for text in [path.read_text(encoding="utf-8")]
    ]
    queries, judged = [], []
    for kind in ("realistic", "informed"):
        file = asked / _QUESTIONS / f"{kind}_benchmark.json"
        for row in json.loads(file.read_text(encoding="utf-8"))["per_question"]:
            if int(row["id"].split("_")[1]) in _MEASURED[kind]:
                queries.append({"id": row["id"], "query": row["question"], "type": kind})
                judged.append((row["id"], row["target_doc_id"], 1))
    write_set(folder, documents, queries, judged)


def page_title(text: str) -> str:
    """Return the title in a page's front matter, else its heading, empty without either."""
    front = re.match(r"---\n(.*?)\n---", text, re.DOTALL)
    found = (
        re.search(r"^title: *(.+)$", front[1], re.MULTILINE) if front else re.search(r"^# +(.+)$", text, re.MULTILINE)
    )
    return found[1].strip().strip("\"'") if found else ""


_REALISTIC = """
0 1 9 12 13 15 19 25 26 28 30 31 33 34 36 38 39 40 41 42 44 46 48 50 52 56 59 62 63 65 67 68 69 70 73 74 77 80 81 84 85
89 90 93 95 97 98 99 101 103 109 111 112 113 115 116 119 121 124 125 127 128 130 132 133 134 138 139 141 142 143 144 145
148 149 152 154 155 156 159 160 161 162 163 164 168 169 170 171 172 175 182 183 184 185 186 188 189 190 192 194 195 196
198"""
_MEASURED = {"realistic": {*map(int, _REALISTIC.split())}, "informed": {0, 1, 9, 12, 13, 15, 19}}
"""Numbers of the questions that the page measures; the others judge what was chosen on these."""

_PAGES = "poc/chunking_benchmark_v2/corpus/kubernetes"
_QUESTIONS = "src/plm/benchmark/corpus"


_HIPPORAG = ("OSU-NLP-Group/HippoRAG", "3d95d255a8db0c1699b853cfb4fbe5056708162d")
_PLM = "LichHunter/personal-library-manager"


def _of_hipporag(name: str, questions: int) -> Published:
    paths = (f"data/{name}.json", f"data/{name}_corpus.json")
    return Published((Source(*_HIPPORAG, paths),), hipporag, questions)


SETS = {
    "multihop/musique-train100": _of_hipporag("musique_train", 100),
    "multihop/hotpotqa-train100": _of_hipporag("hotpotqa_train", 100),
    "multihop/2wikimultihopqa": _of_hipporag("2wikimultihopqa", 1000),
    "ir/cisi": Published(
        (
            Source(
                "PsychoProg/tf-idf",
                "beee251dd1356ee4ffb453ac60cf8f9112840f5d",
                tuple(f"CISI.{name}" for name in _CISI),
            ),
        ),
        cisi,
        76,
    ),
    "ir/cranfield": Published(
        (
            Source(
                "xyxxyyxy/cranvectors",
                "78c84cb834dfa003715b9a7c091548a49682bf86",
                ("cran.all.1400", "cran.qry", "cranqrel"),
            ),
        ),
        cranfield,
        225,
    ),
    "ir/scifact-train": Published(
        (
            Source("sumithra-p-v/claimverifier", "b42f1c3444b28884ddcfadffafbfe223646c6c37", ("data/scifact.zip",)),
            Source(
                "TwistXXF/PaperPilot-Reproduction",
                "5471766d700d7825c2aad84a37f2746698ade6f5",
                ("data/scifact/queries.jsonl", "data/scifact/qrels/train.tsv"),
            ),
        ),
        scifact,
        809,
    ),
    "docs/kubernetes": Published(
        (
            Source(_PLM, "9c3bb1ce29d0b4f0733ffeb309b60c9af934e56c", (_PAGES,)),
            Source(_PLM, "679118b6c2823317d0f7131b1dfe4ddc16bab292", (_QUESTIONS,)),
        ),
        kubernetes,
        215,
    ),
}
"""The sets by their folders below DATA_DIR."""


if __name__ == "__main__":
    raise SystemExit(main())
