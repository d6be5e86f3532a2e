"""Indexes of projects: their files in corpora, and what the files say of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.domains.routing.index import Description, Indexed, describe, index
from pipeline.domains.routing.learn.usage import record_use
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.errors import GraphError

Files = Mapping[str, str]

HTTP: Files = {
    "README.md": "# http\n\n[![build](https://x/y.svg)](https://x)\n\n"
    "**http** is an _elegant_ library for [requests](https://x), made for people.\n\nMore.\n",
    "pyproject.toml": '[project]\nname = "Http_Kit"\nversion = "1"\n',
    "src/http_kit/__init__.py": '"""Requests for people."""\n',
    "src/http_kit/session.py": "class Session:\n    def send_parcel(self):\n        '''Send parcels to a harbour.'''\n",
    "tests/__init__.py": "",
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write the files of a project, and return its folder."""

    def make(name: str, files: Files) -> Path:
        for path, text in files.items():
            (tmp_path / name / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name / path).write_text(text, encoding="utf-8")
        return tmp_path / name

    return make


@pytest.fixture
def add(projects: ProjectGraph, graph_name: str) -> Callable[..., str]:
    """Add a project, whose corpus is dropped afterwards; return the corpus's name."""

    def make(name: str, path: Path | str, summary: str = "") -> str:
        corpus = f"{name}-{graph_name}"
        projects.add_node(Project(name, path=str(path), summary=summary, corpus=corpus))
        return corpus

    return make


def test_a_project_is_described_by_its_readme_and_its_packages(write: Callable[..., Path]) -> None:
    assert describe(write("http", HTTP)) == Description(
        "http is an elegant library for requests, made for people.", ("http-kit", "http_kit")
    )


def test_a_manifest_s_own_description_comes_first(write: Callable[..., Path]) -> None:
    manifest = '{"name": "@shop/cart", "description": "Carts  for\\nshops."}'

    assert describe(write("cart", {**HTTP, "package.json": manifest})).summary == "Carts for shops."


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "# Title\n\nToo short.\n"},
        {"README.md": "", "pyproject.toml": "not = [toml"},
        {"notes/a.md": "This paragraph is not in the file of that name."},
    ],
)
def test_a_project_that_says_nothing_of_itself_has_no_description(write: Callable[..., Path], files: Files) -> None:
    assert describe(write("silent", files)) == Description()


def test_a_long_description_is_cut_at_a_word_and_a_file_has_none(write: Callable[..., Path]) -> None:
    folder = write("long", {"README.txt": "words " * 200})

    summary = describe(folder).summary

    assert len(summary) <= 401
    assert summary.endswith("words…")
    assert describe(folder / "README.txt") == describe(folder / "none") == Description()


@pytest.mark.slow
def test_files_and_code_of_a_project_are_found_in_its_corpus(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path]
) -> None:
    corpus = add("http", write("http", HTTP))

    (done,) = index(hoprank, projects)

    assert (done.project, done.corpus, done.problem) == ("http", corpus, "")
    assert done.documents == get_corpus(hoprank.client, corpus).documents >= 3
    hit = hoprank.search("Which method sends a parcel to a harbour?", corpus=corpus).hits[0]
    assert hit.document == "src/http_kit/session.py"
    project = projects.get_node("http")
    assert project
    assert project.summary.startswith("http is an elegant library")
    assert project.aliases == ("http-kit", "http_kit")
    assert project.last_indexed


@pytest.mark.slow
def test_only_changed_files_are_indexed_again(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path]
) -> None:
    folder = write("http", HTTP)
    corpus = add("http", folder, summary="Stated.")
    index(hoprank, projects)
    generation = get_corpus(hoprank.client, corpus).generation

    (again,) = index(hoprank, projects)
    assert (again.changed, again.removed) == (0, 0)
    assert get_corpus(hoprank.client, corpus).generation == generation
    (folder / "README.md").unlink()
    write("http", {"CHANGES.md": "A change of the tide."})

    (changed,) = index(hoprank, projects, ["http"])

    assert (changed.changed, changed.removed) == (1, 1)
    assert projects.list_nodes()[0].summary == "Stated."


@pytest.mark.slow
def test_force_makes_a_corpus_anew(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path]
) -> None:
    corpus = add("http", write("http", HTTP))
    index(hoprank, projects)
    before = get_corpus(hoprank.client, corpus).id

    (done,) = index(hoprank, projects, force=True)

    assert done.changed == done.documents
    assert get_corpus(hoprank.client, corpus).id != before


@pytest.mark.slow
def test_a_project_that_can_t_be_indexed_is_told_and_the_others_go_on(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path], tmp_path: Path
) -> None:
    gone = add("a-gone", tmp_path / "gone")
    add("b-pathless", "")
    add("c-there", write("there", {"a.md": "The sea is wide."}))

    done = {one.project: one for one in index(hoprank, projects)}

    assert done.keys() == {"a-gone", "c-there"}
    assert done["a-gone"] == Indexed("a-gone", gone, problem=done["a-gone"].problem)
    assert "gone doesn't exist" in done["a-gone"].problem
    assert done["c-there"].documents == 1
    assert find_corpus(hoprank.client, gone) is None
    assert "has no path" in index(hoprank, projects, ["b-pathless"])[0].problem


def test_force_doesn_t_drop_the_corpus_of_a_path_that_is_gone(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path]
) -> None:
    folder = write("moved", {"a.md": "The sea is wide."})
    corpus = add("moved", folder)
    index(hoprank, projects)
    folder.rename(folder.with_name("elsewhere"))

    assert index(hoprank, projects, force=True)[0].problem
    assert find_corpus(hoprank.client, corpus)


def test_an_unknown_project_is_told_before_any_is_indexed(
    hoprank: HopRank, projects: ProjectGraph, add: Callable[..., str], write: Callable[..., Path]
) -> None:
    corpus = add("known", write("known", {"a.md": "The sea is wide."}))

    with pytest.raises(GraphError, match="Did you mean 'known'"):
        index(hoprank, projects, ["known", "knwon"])

    assert find_corpus(hoprank.client, corpus) is None


@pytest.mark.slow
def test_a_run_that_is_stopped_keeps_the_projects_that_are_complete(
    hoprank: HopRank,
    projects: ProjectGraph,
    add: Callable[..., str],
    write: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = add("a", write("a", {"a.md": "The sea is wide."}))
    second = add("b", write("b", {"b.md": "The moon is far."}))
    encode = hoprank.embedder.encode

    def stop(texts: list[str], *rest: object, **named: object) -> object:
        if any("moon" in text for text in texts):
            raise KeyboardInterrupt
        return encode(texts, *rest, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(hoprank.embedder, "encode", stop)
    with pytest.raises(KeyboardInterrupt):
        index(hoprank, projects)
    monkeypatch.undo()

    assert [bool(project.last_indexed) for project in projects.list_nodes()] == [True, False]
    assert find_corpus(hoprank.client, first)
    assert [one.changed for one in index(hoprank, projects)] == [0, 1]
    assert get_corpus(hoprank.client, second).documents == 1


def test_an_index_lets_judgements_decay(hoprank: HopRank, projects: ProjectGraph) -> None:
    for name in ("shop", "ledger"):
        projects.add_node(Project(name))
    projects.add_edge(Relation("shop", "ledger", RelationType.USES, 0.5))
    record_use(projects, "how?", "shop", "ledger", 1, datetime(2020, 1, 1, tzinfo=UTC))
    before = projects.get_edge("shop", "ledger", RelationType.USES)
    assert before
    assert before.weight > 0.51

    index(hoprank, projects)

    after = projects.get_edge("shop", "ledger", RelationType.USES)
    assert after
    assert after.weight == pytest.approx(0.5, abs=1e-6)
