"""Building the public sets: from repositories of the same form, on a git server of this machine."""

from __future__ import annotations

import csv
import io
import json
import socket
import subprocess
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pygit2
import pytest

from pipeline.evaluate.datasets import read_dataset
from tests.benchmarks import fetch_sets
from tests.benchmarks.fetch_sets import SETS, FetchError, Published, fetch, main, smart, strings

SENTENCES = ["It's the “first”.", 'A "second" one.']


def archived() -> bytes:
    text, held = io.StringIO(), io.BytesIO()
    writer = csv.writer(text)
    writer.writerow(["doc_id", "title", "abstract", "structured"])
    writer.writerow(["7", "Otters", "[" + "\n ".join(map(repr, SENTENCES)) + "]", "False"])
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("corpus_train.csv", text.getvalue())
    return held.getvalue()


PASSAGE = {"title": "Lyon", "text": "Lyon stands there."}
ASKED = {"_id": "1", "question": "Where?", "answer": "Lyon", "paragraphs": [{**PASSAGE, "is_supporting": True}]}
PAGE = '---\ntitle: "Device Plugins"\n---\n\n# Other\n'
FILES: dict[str, bytes | str] = {
    **{f"data/{name}.json": json.dumps([ASKED]) for name in ("musique_train", "hotpotqa_train", "2wikimultihopqa")},
    **{
        f"data/{name}_corpus.json": json.dumps([PASSAGE])
        for name in ("musique_train", "hotpotqa_train", "2wikimultihopqa")
    },
    "CISI.ALL": ".X\n.I 1\n.T\nOf \nOtters\n.A\nMe\n.W\n   They\nswim.\n.X\n1\t5\t1\n.I 2\n.T\nBees\n.W\nThey dance.\n",
    "CISI.QRY": ".I 1\n.W\nWho\nswims?\n.I 2\n.W\nWho is not judged?\n",
    "CISI.REL": "     1      1\t0\t0.000000\n     1      1\t0\t0.000000\n",
    "cran.all.1400": ".I 1\n.T\na wing .\n.A\nme\n.B\nj.\n.W\na wing .\n  it lifts .\n.I 2\n.T\nshear .\n.W\n",
    "cran.qry": ".I 001\n.W\nwhat lifts .\n.I 004\n.W\nwhat shears .\n",
    "cranqrel": "1 1 1\n2 2 3\n2 1 -1\n",
    "data/scifact.zip": archived(),
    "data/scifact/queries.jsonl": '{"_id": "3", "text": "Otters swim."}\n{"_id": "4", "text": "Of the test."}\n',
    "data/scifact/qrels/train.tsv": "query-id\tcorpus-id\tscore\n3\t7\t1\n",
    f"{fetch_sets._PAGES}/concepts_device-plugins.md": PAGE,
    f"{fetch_sets._PAGES}/_index.md": "Nothing here.\n",
    f"{fetch_sets._QUESTIONS}/realistic_benchmark.json": json.dumps(
        {
            "per_question": [
                {"id": f"q_{number:03}_q1", "question": "How?", "target_doc_id": "concepts_device-plugins"}
                for number in range(3)
            ]
        }
    ),
    f"{fetch_sets._QUESTIONS}/informed_benchmark.json": '{"per_question": []}',
    "not/wanted.bin": b"0" * 1000,
}
QUESTIONS = {"docs/kubernetes": 2, "ir/cranfield": 2}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The address of a git server with a repository by each name, all the same, and its commit."""
    root = tmp_path_factory.mktemp("repositories")
    commit = ""
    for repository in {source.repository for wanted in SETS.values() for source in wanted.sources}:
        folder = root / repository
        made = pygit2.init_repository(folder)
        for name, content in FILES.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        made.index.add_all()
        author = pygit2.Signature("me", "me@example.org", 1_700_000_000, 0)
        commit = str(made.create_commit("HEAD", author, author, "All", made.index.write_tree(), []))
        made.config["uploadpack.allowAnySHA1InWant"] = True
        made.config["uploadpack.allowFilter"] = True
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--export-all", f"--base-path={root}", "--listen=127.0.0.1", f"--port={port}", "--reuseaddr")
    daemon = subprocess.Popen(["git", "daemon", *options, str(root)], stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with closing(socket.socket()) as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"git://127.0.0.1:{port}/{{owner}}/{{name}}", commit
    finally:
        daemon.terminate()
        daemon.wait()


@pytest.fixture
def sets(server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Published]:
    """The sets, at the commit of the server's repositories and with as many questions as these have."""
    there = {
        name: replace(
            wanted,
            sources=tuple(replace(source, commit=server[1]) for source in wanted.sources),
            questions=QUESTIONS.get(name, 1),
        )
        for name, wanted in SETS.items()
    }
    monkeypatch.setattr(fetch_sets, "SETS", there)
    return there


def test_each_set_is_built_and_can_be_evaluated(
    sets: dict[str, Published], server: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ir/cisi").mkdir(parents=True)
    argv = ["fetch_sets.py", str(tmp_path), "--from", server[0]]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sys.argv", argv)
        assert main() == 0

    printed = capsys.readouterr().out
    assert "ir/cisi: is there already" in printed
    (tmp_path / "ir/cisi").rmdir()
    fetch("ir/cisi", tmp_path, server[0])
    datasets = {name: read_dataset(tmp_path / name) for name in sets}
    assert {name: len(one.queries) for name, one in datasets.items()} == {
        name: wanted.questions for name, wanted in sets.items()
    }
    rows = {
        name: list(map(json.loads, (tmp_path / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines()))
        for name in sets
        if not name.startswith("multihop")
    }
    assert rows["ir/cisi"][0] == {"id": "1", "title": "Of Otters", "text": "They swim."}
    assert datasets["ir/cisi"].queries[0].text == "Who swims?"
    assert rows["ir/cranfield"][0] == {"id": "1", "title": "a wing", "text": "it lifts ."}
    assert [query.relevant for query in datasets["ir/cranfield"].queries] == [{"1": 4.0}, {"2": 2.0}]
    assert rows["ir/scifact-train"] == [{"id": "7", "title": "Otters", "text": " ".join(SENTENCES)}]
    assert rows["docs/kubernetes"][1] == {
        "id": "concepts_device-plugins",
        "title": "Device Plugins",
        "text": PAGE,
        "metadata": {"section": "concepts"},
    }
    assert datasets["multihop/2wikimultihopqa"].queries[0].relevant == {"Lyon": 1.0}
    assert not list(tmp_path.glob(".fetch-*"))


@pytest.mark.parametrize(
    ("changed", "says"), [({"commit": "0" * 40}, "git says of"), ({"paths": ("gone.json",)}, "gone.json")]
)
def test_what_is_not_there_is_named_and_nothing_is_left(
    sets: dict[str, Published], server: tuple[str, str], tmp_path: Path, changed: dict[str, Any], says: str
) -> None:
    wanted = sets["ir/cisi"]
    sets["ir/cisi"] = replace(wanted, sources=(replace(wanted.sources[0], **changed),))

    with pytest.raises(FetchError, match=says):
        fetch("ir/cisi", tmp_path, server[0])

    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_set_with_another_number_of_questions_is_refused(
    sets: dict[str, Published], server: tuple[str, str], tmp_path: Path
) -> None:
    sets["ir/cranfield"] = replace(sets["ir/cranfield"], questions=225)

    with pytest.raises(FetchError, match="has 2 questions, not 225"):
        fetch("ir/cranfield", tmp_path, server[0])
    assert not (tmp_path / "ir/cranfield").exists()


def test_fields_and_strings_are_read_as_written() -> None:
    assert list(smart("noise\n.I 3\n.W\na .I b\n c\n.X\n1\n")) == [{"I": "3", "W": "a .I b c", "X": "1"}]
    assert list(strings("['it\\'s' \"so\"\n 'and so']")) == ["it's", "so", "and so"]
