"""Repositories that are scanned into a memory: what is gone ends, what was known stays, and scanning again is free."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from pipeline.domains.memory import patterns
from pipeline.domains.memory.code.scan import scan
from pipeline.domains.memory.code.store import scan_repository
from pipeline.domains.memory.dedupe.apply import apply
from pipeline.domains.memory.dedupe.plan import plan
from pipeline.domains.memory.entities import upsert
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.patterns import history
from pipeline.domains.memory.records import Entity, When
from pipeline.domains.memory.remember import add_text
from pipeline.errors import GraphError, SourceError
from tests.domains.memory.repositories import Repository, facts_at

JAN, FEB, MAR, APR = (f"2026-0{month}-10T12:00:00+00:00" for month in range(1, 5))
START = {
    "pyproject.toml": '[project]\nname = "tide"\ndependencies = ["express"]\n',
    "tide/__init__.py": "",
    "tide/gauge.py": '"""Reads gauges."""\n\n\ndef read_gauge():\n    return 1\n',
    "tide/table.py": "from tide.gauge import read_gauge\n\n\ndef table():\n    return read_gauge()\n",
}


HONO = {**START, "pyproject.toml": START["pyproject.toml"].replace("express", "hono")}
WITHOUT_TABLE = {name: text for name, text in HONO.items() if name != "tide/table.py"}


def commit(repository: Repository, tree: dict[str, str], time: str) -> None:
    repository.commit(tree, int(datetime.fromisoformat(time).timestamp()))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository of three commits: express is replaced by hono, a file is removed and comes back."""
    made = Repository(tmp_path)
    for tree, time in ((START, JAN), (WITHOUT_TABLE, FEB), (HONO, MAR)):
        commit(made, tree, time)
    return made


def believed(memory: AgentMemory, when: When) -> set[tuple[str, str, str]]:
    return {(edge.source, edge.type, edge.target) for edge in memory.graph_at(when).edges()}


def names(memory: AgentMemory, kind: str, when: When) -> set[str]:
    return {entity.name for entity in patterns.by_type(memory, kind, when=when)}


def test_a_history_answers_as_a_fresh_scan_of_each_commit(memory: AgentMemory, repository: Repository) -> None:
    scan_repository(memory, repository.path, scope="tide", history=True)

    for revision, time in (("HEAD~2", JAN), ("HEAD~1", FEB), ("HEAD", MAR)):
        fresh = scan(repository.path, scope="tide", revision=revision)
        assert believed(memory, When(time)) == facts_at(fresh, time)
        ends = {end for source, _, target in facts_at(fresh, time) for end in (source, target)}
        for kind in ("file", "function", "library", "person", "module"):
            expected = {entity.name for entity in fresh.entities if entity.type == kind and entity.id in ends}
            assert names(memory, kind, When(time)) == expected
    assert not believed(memory, When("2025-12-31"))


@pytest.mark.slow
def test_of_a_history_only_what_is_there_at_its_end_is_embedded(memory: AgentMemory, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    documented = 'def {}():\n    """Tell the height of the tide."""\n'
    commit(repository, {"tide.py": documented.format("gone")}, JAN)
    commit(repository, {"tide.py": documented.format("there")}, FEB)

    scan_repository(memory, tmp_path, scope="tide", history=True)

    functions = memory.graph().find_nodes_by_type("function")
    assert {node.properties["name"]: node.embedding is not None for node in functions} == {
        "tide.py::gone": False,
        "tide.py::there": True,
    }


def test_a_second_scan_ends_what_is_gone_at_the_time_of_the_commit(memory: AgentMemory, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    commit(repository, START, JAN)
    scan_repository(memory, tmp_path, scope="tide")
    commit(repository, HONO, FEB)

    done = scan_repository(memory, tmp_path, scope="tide")

    tide = memory.resolve("tide", type_="library")
    needs = [{one.entity.name for one in patterns.related(memory, tide, ["depends_on"], When(at))} for at in (JAN, FEB)]
    assert needs == [{"express"}, {"hono"}]
    assert (done.added, done.ended) == (1, 1)
    (ended,) = [fact for fact in history(memory, memory.resolve("express")) if fact.invalid_at]
    assert ended.invalid_at == FEB
    assert ended.ended.startswith("commit ")


@pytest.mark.parametrize("history_", [False, True])
def test_an_unchanged_repository_changes_nothing(memory: AgentMemory, repository: Repository, history_: bool) -> None:
    scan_repository(memory, repository.path, scope="tide", history=history_)
    before = {(edge.id, edge.created_at, edge.expired_at) for edge in memory.graph().edges()}
    nodes = {(node.id, node.updated_at) for node in memory.graph().nodes()}

    again = scan_repository(memory, repository.path, scope="tide", history=history_)

    assert (again.entities, again.added, again.ended) == (0, 0, 0)
    assert {(edge.id, edge.created_at, edge.expired_at) for edge in memory.graph().edges()} == before
    assert {(node.id, node.updated_at) for node in memory.graph().nodes()} == nodes


def test_an_older_revision_is_refused(memory: AgentMemory, repository: Repository) -> None:
    scan_repository(memory, repository.path, scope="tide")
    before = believed(memory, When(APR))

    with pytest.raises(GraphError, match="which is later than"):
        scan_repository(memory, repository.path, scope="tide", revision="HEAD~2")

    assert believed(memory, When(APR)) == before


def test_scopes_keep_repositories_apart(
    memory: AgentMemory, repository: Repository, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Repository(tmp_path_factory.mktemp("other"))
    commit(other, {"tide/gauge.py": "def other():\n    pass\n"}, MAR)
    scan_repository(memory, repository.path, scope="tide")
    before = believed(memory, When(APR))

    scan_repository(memory, other.path, scope="other")

    assert {triple for triple in believed(memory, When(APR)) if "other|" not in triple[0]} == before
    with pytest.raises(GraphError, match="2 entities are called"):
        memory.resolve("tide/gauge.py")
    assert memory.resolve("tide/gauge.py", scope="tide").scope == "tide"


@pytest.mark.slow
def test_texts_of_before_mention_what_a_scan_makes_known(memory: AgentMemory, repository: Repository) -> None:
    made, _ = add_text(memory, "The spring tide breaks `read_gauge()` in tide/gauge.py.", date=JAN)

    done = scan_repository(memory, repository.path, scope="tide")

    gauge = memory.resolve("read_gauge")
    assert done.mentions == 2
    assert [one.entity.name for one in patterns.related(memory, gauge, ["calls"], reverse=True)] == [
        "tide/table.py::table"
    ]
    assert [node.properties["key"] for node in memory.graph().get_neighbors(gauge.id, "mentions", direction="in")] == [
        made.key
    ]


@pytest.mark.slow
def test_a_merged_entity_stays_merged_when_it_is_scanned_again(memory: AgentMemory, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    tree = {"pyproject.toml": '[project]\nname = "tide"\ndependencies = ["tidebase"]\n'}
    commit(repository, tree, JAN)
    scan_repository(memory, tmp_path, scope="tide")
    upsert(memory, [Entity("TideBase", "library", "tide", mention_count=5)])
    merged = apply(memory.graph(), memory.made_journal(), plan(memory.graph(), memory.settings))
    commit(repository, {**tree, "README.md": "hello"}, FEB)

    scan_repository(memory, tmp_path, scope="tide")

    assert merged is not None
    assert len(names(memory, "library", When(APR))) == 2


def test_a_folder_without_git_is_scanned_as_it_is_now(memory: AgentMemory, tmp_path: Path) -> None:
    (tmp_path / "gauge.py").write_text("def read_gauge():\n    pass\n", encoding="utf-8")

    done = scan_repository(memory, tmp_path, scope="tide")

    assert done.commit is None
    assert names(memory, "function", When()) == {"gauge.py::read_gauge"}
    with pytest.raises(SourceError, match="no folder"):
        scan_repository(memory, tmp_path / "missing")
