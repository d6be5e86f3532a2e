"""The commands on a real server: a corpus from its first document to its end."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import requests

from pipeline.db.catalogue import find_corpus
from pipeline.db.client import Client
from pipeline.examples import example_questions
from tests.serve.service import serving

pytestmark = pytest.mark.slow

DOCUMENTS = {
    "stations/alpha.md": "# Alpha Station\n\nAlpha Station was built by Mira Holt in 1931.\n",
    "people/holt.txt": "Mira Holt was born in Westfold, and kept bees there.\n",
    "places.jsonl": '{"id": "westfold", "title": "Westfold", "text": "Westfold lies on the river Ane."}\n'
    '{"id": "nowhere", "title": "Nowhere", "text": ""}\n',
    "notes.bin": "\x00\x01",
    "nothing.md": "",
}
ROOT = Path(__file__).parents[2]
EXPLAINED = re.compile(r"```text\n(What had .*?\?)\n\n(.*?)```.*?Vector search alone puts ([^;.]*)", re.DOTALL)
"""A question of a page, what its explanation says there, and the ranks of the second hit by vector and full text."""
QUESTION = "Where was the builder of Alpha Station born?"
LEGS = ["vector", "fulltext", "bm25", "hybrid", "hops", "graph", "scorer", "hoprank"]
MEASURED = re.compile(r"^(\w+) +(?:\d+\.\d +){9}", re.MULTILINE)
"""A leg and its nine measures in percent."""


@pytest.fixture(scope="module")
def run(server_environment: dict[str, str], hoprank_in: Callable[[dict[str, str]], Any]) -> Any:
    return hoprank_in(server_environment)


def written(folder: Path) -> Path:
    for name, text in DOCUMENTS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return written(tmp_path / "archive")


@pytest.fixture(scope="module")
def archived(run: Any, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a corpus of the archive, to read."""
    run("ingest", str(written(tmp_path_factory.mktemp("archive"))), "--corpus", shared_corpus_name)
    return shared_corpus_name


@pytest.fixture
def queryset(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text(
        '{"id": "a", "title": "Alpha Station", "text": "Alpha Station was built by Mira Holt."}\n'
        '{"id": "b", "title": "Mira Holt", "text": "Mira Holt was born in Westfold."}\n'
    )
    query = {"id": "q1", "query": "Where was the builder of Alpha Station born?", "answer": "Westfold"}
    (tmp_path / "queries.jsonl").write_text(f"{json.dumps(query)}\n")
    (tmp_path / "qrels.tsv").write_text("query\tdocument\trelevance\nq1\ta\t1\nq1\tb\t1\n")
    return tmp_path


def test_ingest_tells_what_it_did_to_people_and_to_programs(run: Any, archive: Path, corpus_name: str) -> None:
    first = run("ingest", str(archive), "--corpus", corpus_name)
    again = run.json("ingest", str(archive), "--corpus", corpus_name)

    assert "4 (4 new or changed, 0 unchanged)" in first.stdout
    # A long path is broken or cut at the end of its line.
    assert re.search(r"nothing\S*isempty", "".join(first.stdout.split()))
    assert "want of text: nowhere" in first.stderr
    assert (again["changed"], again["unchanged"], again["documents"], again["empty"]) == (0, 4, 4, ["nowhere"])
    assert {Path(one["source"]).name for one in again["skipped"]} == {"notes.bin", "nothing.md"}


def test_search_cites_file_and_lines_and_explains(run: Any, archived: str) -> None:
    shown = run("search", QUESTION, "--corpus", archived, "--top-k", "2", "--explain").stdout
    found = run.json("search", QUESTION, "--corpus", archived, "--top-k", "2")

    assert "alpha.md:1-3" in shown
    assert "holt.txt:1-1" in shown
    assert "Names in the question: alpha station" in shown
    assert "path: " in shown
    assert {item["metadata"]["document"] for item in found["items"]} == {"stations/alpha.md", "people/holt.txt"}
    assert {"vector", "fulltext"} <= found["items"][0]["metadata"]["legs"].keys()


def test_context_is_printed_for_a_language_model(run: Any, archived: str) -> None:
    shown = run("context", QUESTION, "--corpus", archived).stdout
    as_json = run.json("context", QUESTION, "--corpus", archived, "--tokens", "60")
    nothing = run("context", QUESTION, "--corpus", archived, "--filter", '{"title": "none"}')

    assert shown.startswith("## [1] ")
    assert "alpha.md:1-3" in shown
    assert "[1]\n" in shown
    assert as_json["tokens"] <= 60
    assert as_json["markdown"]
    assert nothing.stdout == ""
    assert "Nothing in the corpus" in nothing.stderr


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("year > 1950", "isn't JSON"),
        ("[" * 100_000, "is nested too deeply"),
        ("[1]", "not an object"),
        ('{"year": {"$gtt": 1}}', "Did you mean $gt?"),
    ],
)
def test_a_filter_that_is_none_is_refused(run: Any, text: str, says: str) -> None:
    assert says in run("search", "voyage", "--filter", text, code=2).stderr


def test_remove_takes_documents_away_and_names_those_that_are_not_there(
    run: Any, archive: Path, corpus_name: str
) -> None:
    run("ingest", str(archive), "--corpus", corpus_name)

    unknown = run("remove", "--document", "people/hold.txt", "--corpus", corpus_name, code=2)
    removed = run.json("remove", "--document", "people/holt.txt", "--document", "nowhere", "--corpus", corpus_name)

    assert "'people/hold.txt'" in unknown.stderr
    assert removed["removed"] == ["people/holt.txt", "nowhere"]
    assert removed["documents"] == 2


def test_sync_prints_its_plan_and_does_it(run: Any, archive: Path, corpus_name: str) -> None:
    run("sync", str(archive), "--corpus", corpus_name)
    (archive / "people/holt.txt").unlink()
    (archive / "stations/alpha.md").rename(archive / "stations/first.md")

    planned = run("sync", str(archive), "--corpus", corpus_name, "--dry-run")
    plan = run.json("sync", str(archive), "--corpus", corpus_name, "--dry-run")["plan"]
    done = run("sync", str(archive), "--corpus", corpus_name)
    again = run.json("sync", str(archive), "--corpus", corpus_name)
    contradictory = run("sync", str(archive), "--dry-run", "--watch", code=2)

    assert "stations/alpha.md -> stations/first.md" in planned.stdout
    assert (plan["removed"], plan["renamed"]) == (["people/holt.txt"], [["stations/alpha.md", "stations/first.md"]])
    assert (plan["chunks_to_embed"], plan["unchanged"]) == (0, 2)
    assert "3 (1 new or changed, 2 unchanged)" in done.stdout
    assert (again["plan"]["unchanged"], again["done"]["documents"]) == (3, 3)
    assert "--watch" in contradictory.stderr


def test_a_corpus_is_looked_into_renamed_exported_and_imported(
    run: Any, archive: Path, corpus_name: str, tmp_path: Path, new_corpus: Callable[[], Any]
) -> None:
    run("ingest", str(archive), "--corpus", corpus_name)
    path = tmp_path / "corpus.jsonl"
    with new_corpus() as copy, new_corpus() as moved:
        run("corpus", "export", corpus_name, str(path))
        taken = run("corpus", "import", str(path), code=2)
        run("corpus", "import", str(path), "--as", copy)
        run("corpus", "rename", copy, moved)
        first, second = (run.json("corpus", "stats", name) for name in (corpus_name, moved))
        shown = run("corpus", "stats", moved)

    assert "--as" in taken.stderr
    assert first["top"] == second["top"]
    assert (second["corpus"]["documents"], second["corpus"]["edges"]) == (4, first["corpus"]["edges"])
    assert "Mira Holt (2)" in shown.stdout


def test_corpora_are_listed_and_dropped(run: Any, archive: Path, corpus_name: str, client: Client) -> None:
    run("ingest", str(archive), "--corpus", corpus_name)

    (listed,) = (one for one in run.json("corpus", "list") if one["name"] == corpus_name)
    unasked = run("corpus", "drop", corpus_name, code=2)
    kept = find_corpus(client, corpus_name)
    dropped = run("corpus", "drop", corpus_name, "--yes")

    assert listed["documents"] == 4
    assert "--yes" in unasked.stderr
    assert kept is not None
    assert dropped.stdout == f"Dropped {corpus_name}.\n"
    assert find_corpus(client, corpus_name) is None
    assert corpus_name not in run("corpus", "list").stdout


def test_a_corpus_whose_first_ingest_did_not_end_is_named_beside_the_list(
    run: Any, archive: Path, corpus_name: str, cypher: Callable[..., Any]
) -> None:
    run("ingest", str(archive), "--corpus", corpus_name)
    cypher("MATCH (corpus:HopRankCorpus {name: $name}) SET corpus.generation = 0, corpus.staging = 1", name=corpus_name)

    listed = run("corpus", "list")
    searched = run("search", QUESTION, "--corpus", corpus_name)

    assert corpus_name not in listed.stdout
    assert f"The first ingest of {corpus_name!r} isn't complete" in listed.stderr
    assert "isn't complete: it runs still, or was interrupted" in searched.stderr


def test_an_unknown_corpus_suggests_the_nearest(run: Any, archived: str) -> None:
    for arguments in (["search", QUESTION, "--corpus"], ["remove", "--document", "x", "--corpus"], ["corpus", "drop"]):
        failed = run(*arguments, f"{archived}x", code=2)
        assert f"Did you mean '{archived}'?" in failed.stderr
        assert failed.stdout == ""


def test_evaluate_prints_a_table_and_writes_the_report(run: Any, queryset: Path, client: Client) -> None:
    report_file = queryset / "report.json"

    runs = queryset / "runs"
    measured = ["--measure", "AP", "--measure", "Judged@2", "--run", str(runs), "--contexts"]
    measured += ["--failures", str(queryset / "failures.html")]

    shown = run("evaluate", str(queryset), "--json", str(report_file), "--per-query", *measured)
    report = json.loads(report_file.read_text())
    compared = run("compare", str(runs / "fulltext.trec"), str(runs / "hoprank.trec"), "--measure", "AP")
    worse = ("compare", str(report_file), str(runs / "hybrid.trec"), "--fail-if-worse", "AP:100")

    assert "Other measures" in shown.stdout
    assert report["answer_in_context"] == {"queries": 1, "tokens": dict.fromkeys(["500", "1000", "2000", "4000"], 1.0)}
    assert re.search(r"answer in context( +100\.0){4}", shown.stdout)
    assert "0 of 1 questions lack" in (queryset / "failures.html").read_text(encoding="utf-8")
    assert {path.name for path in runs.iterdir()} == {*(f"{leg}.trec" for leg in LEGS), "qrels.trec"}
    for leg in LEGS:
        ir = ir_measures.calc_aggregate(
            map(ir_measures.parse_measure, ["AP", "Judged@2", "RR", "nDCG@10"]),
            ir_measures.read_trec_qrels(str(runs / "qrels.trec")),  # type: ignore[no-untyped-call]
            ir_measures.read_trec_run(str(runs / f"{leg}.trec")),  # type: ignore[no-untyped-call]
        )
        known = {"RR": "mrr", "nDCG@10": "ndcg@10"}
        assert {str(name): report["metrics"][leg][known.get(str(name), str(name))] for name in ir} == pytest.approx(
            {str(name): value for name, value in ir.items()}, abs=1e-9
        )
    assert re.search(r"AP +\d+\.\d", compared.stdout)
    assert "p (Holm)" in run(*worse).stdout
    assert MEASURED.findall(shown.stdout) == LEGS
    assert "nDCG@10 by query" in shown.stdout
    assert list(report["metrics"]) == LEGS
    assert report["metrics"]["hoprank"]["recall@2"] == 1.0
    assert set(report["latency_ms"]["vector"]) == {"p50", "p95"}
    assert (report["queries"], report["documents"]) == (1, 2)
    assert len(report["per_query"]) == len(LEGS)
    assert find_corpus(client, report["corpus"]) is None


@pytest.fixture
def quickstart_corpus(client: Client, run: Any) -> Iterator[str]:
    """Its name; dropped afterwards, unless the server had it before."""
    before = find_corpus(client, "quickstart")
    yield "quickstart"
    if before is None:
        run("corpus", "drop", "quickstart", "--yes")


def test_quickstart_ingests_answers_and_measures_and_the_demo_serves_it(
    run: Any, quickstart_corpus: str, client: Client, server_environment: dict[str, str]
) -> None:
    shown = run("quickstart").stdout

    corpus = find_corpus(client, quickstart_corpus)
    assert corpus is not None
    assert f"documents  {corpus.documents}" in shown
    assert "Which craft had the leader" in shown
    # Which of several shortest ways is shown is the server's choice.
    assert re.search(r"—(names|links to|is named in|is linked from)→ \w", shown)
    assert "found by vector and full text" in shown
    assert MEASURED.findall(shown) == LEGS
    assert "hoprank ingest ~/notes" in shown
    for page in ("README.md", "pipeline/docs/graph.md"):
        question, says, ranks = EXPLAINED.findall((ROOT / page).read_text(encoding="utf-8"))[0]
        search = ("search", " ".join(question.split()), "--corpus", "quickstart")
        explained = run(*search, "--explain").stdout.splitlines()
        legs = run.json(*search)["items"][1]["metadata"]["legs"]
        assert {line for line in says.splitlines() if line.startswith("    ")} <= {*explained}
        vector, fulltext = map(int, re.findall(r"\d+", ranks))
        assert fulltext == legs["fulltext"]["rank"]
        assert abs(vector - legs["vector"]["rank"]) <= 1, "encoders of another precision may move it by a rank"
    with serving(server_environment, "--no-browser", command="demo") as demo:
        page, _, fragment = demo.url.partition("#")
        assert fragment == "/search?corpus=quickstart"
        assert "<title>HopRank</title>" in requests.get(page, timeout=10).text
        examples = requests.get(f"{page}v1/corpora/quickstart/examples", timeout=10).json()
        assert examples == {"questions": list(example_questions())}
        assert demo.stop(signal.SIGINT) == 0
