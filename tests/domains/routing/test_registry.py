"""Registries: what a file says, and a graph that is brought to equal it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, find_graph
from pipeline.domains.routing.project_graph import ProjectGraph, relation_id
from pipeline.domains.routing.registry import read_registry
from pipeline.domains.routing.schema import DOMAIN, PROJECT, REFERENCE, Project, Relation, RelationType
from pipeline.domains.routing.sync import RegistryPlan, sync
from pipeline.errors import CorpusError, SourceError

USES, TESTS = RelationType.USES, RelationType.TESTS_WITH

REGISTRY = """
projects:
  patina: {path: code, domains: [rust, tools], summary: Context for agents.}
references:
  dojo: {domains: cairo, aliases: [dojo-core], importance: 2}
  SDL:
relations:
  - {from: patina, type: TESTS_WITH, to: dojo, weight: 0.5, evidence: benchmark subject}
"""

Sync = Callable[..., RegistryPlan]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    """Write a registry, and return its path."""

    def make(text: str) -> Path:
        path = tmp_path / "registry.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


@pytest.fixture
def synced(hoprank: HopRank, graph_name: str, write: Callable[[str], Path]) -> Sync:
    """Write a registry and sync the graph with it."""
    return lambda text, **options: sync(hoprank, graph_name, read_registry(write(text)), **options)


def test_entries_domains_and_relations_are_read(write: Callable[[str], Path], tmp_path: Path) -> None:
    registry = read_registry(write(REGISTRY))

    assert [entry.project for entry in registry.entries] == [
        Project(
            "patina",
            PROJECT,
            str(tmp_path / "code"),
            domains=("rust", "tools"),
            summary="Context for agents.",
            corpus="patina",
        ),
        Project("dojo", REFERENCE, domains=("cairo",), aliases=("dojo-core",), corpus="dojo", importance=2.0),
        Project("SDL", REFERENCE, corpus="SDL"),
    ]
    assert {(one.source, one.type, one.target, one.weight) for one in registry.relations} == {
        ("patina", DOMAIN, "domain:rust", 1.0),
        ("patina", DOMAIN, "domain:tools", 1.0),
        ("dojo", DOMAIN, "domain:cairo", 1.0),
        ("patina", TESTS, "dojo", 0.5),
    }


def test_a_list_of_entries_and_repos_say_the_same(write: Callable[[str], Path]) -> None:
    as_list = "projects:\n  - {id: a, path: /x}\nrepos:\n  - {id: b, corpus: c}\n"
    as_mapping = "projects: {a: {path: /x}}\nreferences: {b: {corpus: c}}\n"

    assert read_registry(write(as_list)) == read_registry(write(as_mapping))


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("", "is empty", "projects: and references:"),
        ("- a", "isn't an object of names and values", "projects: and references:"),
        ("projects:\n", "names no project", "ids to fields"),
        ("projects: [", "isn't YAML", "projects:"),
        ("projects: {a: {path: *x}}", "isn't YAML", "projects:"),
        ("projects:\n  a: &x {}\n  b: *x\n", "it has an alias (*name) at line 3", "projects:"),
        ("projects:\n  a: {}\n  b: {}\n  a: {}\n", "'a' is there twice at line 4", "projects:"),
        ("project: {a: {}}", "has `project`, which is unknown", "Did you mean 'projects'?"),
        ("projects: 3", "has the `projects` 3: make it a mapping from ids", ""),
        ("projects: {1: {}}", "1 can't be an id; give a text, a number in quotes", ""),
        ("projects: {'domain:x': {}}", "'domain:x' can't be an id", ""),
        ("projects: [{path: x}]", "entry 1 has no id; write it as {id: NAME", ""),
        ("projects: {a: {paht: x}}", "projects.a has `paht`, which is unknown", "Did you mean 'path'?"),
        ("projects: {a: {path: [x]}}", "projects.a has the `path` ['x']: input should be a valid string", ""),
        ("projects: {a: {path: ''}}", "projects.a has the `path` ''", ""),
        ("projects: {a: {domains: {x: y}}}", "projects.a has the `domains`", ""),
        ("projects: {a: {domains: [1]}}", "projects.a has the `domains.0` 1", ""),
        ("projects: {a: {importance: high}}", "projects.a has the `importance` 'high'", ""),
        ("projects: {a: {importance: 0}}", "projects.a has the `importance` 0", ""),
        ("projects: {a: text}", "projects.a isn't an object of names and values", ""),
        ("projects: {a: {}}\nreferences: {a: {}}", "a and a have the same id 'a'", "its own"),
        ("projects: {a: {}, b: {corpus: a}}", "a and b have the same corpus 'a'", "its own"),
        ("projects: {a: {was: c}, b: {was: c}}", "a and b have the same was 'c'", "its own"),
        ("projects: {a: {was: b}, b: {}}", "a was 'b', which is an entry itself", "Remove one"),
        ("projects: {a: {}}\nrelations: {a: b}", "has the `relations` {'a': 'b'}: input should be a valid list", ""),
        ("projects: {a: {}}\nrelations: [{from: a, type: USES}]", "entry 1 has no `to`", ""),
        ("projects: {a: {}, b: {}}\nrelations: [{from: a, type: USSE, to: b}]", "the type 'USSE'", "'uses'"),
        ("projects: {abc: {}}\nrelations: [{from: abc, type: USES, to: abd}]", "unknown project 'abd'", "'abc'"),
        ("projects: {a: {}}\nrelations: [{from: a, type: USES, to: a}]", "to itself", "two projects"),
        (
            "projects: {a: {}, b: {}}\nrelations: [{from: a, type: USES, to: b, weight: 2}]",
            "entry 1 has the `weight` 2",
            "",
        ),
        (
            "projects: {a: , b: }\nrelations:\n- {from: a, type: sibling, to: b}\n- {from: b, type: sibling, to: a}",
            "relations, entry 2 is there already",
            "once",
        ),
    ],
)
def test_a_wrong_registry_names_the_file_the_entry_and_the_fix(
    write: Callable[[str], Path], text: str, problem: str, fix: str
) -> None:
    with pytest.raises(SourceError) as raised:
        read_registry(write(text))

    assert "registry.yaml" in raised.value.message
    assert problem in raised.value.message
    assert fix in raised.value.fix


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"projects: {\xe9: {}}")

    for name, said in (("none.yaml", "can't be read"), ("latin.yaml", "isn't valid UTF-8"), (".", "can't be read")):
        with pytest.raises(SourceError, match=said):
            read_registry(tmp_path / name)


def test_a_graph_equals_its_registry_and_a_second_sync_writes_nothing(
    synced: Sync, projects: ProjectGraph, tmp_path: Path
) -> None:
    plan = synced(REGISTRY)

    assert plan.added == ("SDL", "dojo", "patina")
    assert plan.relations_added == (
        "dojo DOMAIN domain:cairo",
        "patina DOMAIN domain:rust",
        "patina DOMAIN domain:tools",
        "patina TESTS_WITH dojo",
    )
    assert plan.missing_paths == (f"patina: {tmp_path / 'code'}",)
    assert projects.get_node("dojo") == Project(
        "dojo", REFERENCE, domains=("cairo",), aliases=("dojo-core",), corpus="dojo", importance=2.0
    )
    before = stored(projects)
    assert not synced(REGISTRY)
    assert stored(projects) == before


def stored(projects: ProjectGraph) -> tuple[Any, Any]:
    graph = projects.graph
    return {node.id: node for node in graph.nodes()}, {edge.id: edge for edge in graph.edges()}


def test_a_dry_run_plans_and_makes_no_graph(synced: Sync, hoprank: HopRank, graph_name: str) -> None:
    plan = synced(REGISTRY, dry_run=True)

    assert plan.added == ("SDL", "dojo", "patina")
    assert find_graph(hoprank.client, graph_name) is None


def test_what_an_index_found_and_importance_stay_unless_the_registry_states_them(
    synced: Sync, projects: ProjectGraph
) -> None:
    synced(REGISTRY)
    projects.mark_indexed("SDL", "A library.", ["sdl3"])
    sdl = projects.get_node("SDL")
    assert sdl
    projects.update_node(replace(sdl, importance=3.0))
    before = stored(projects)

    assert not synced(REGISTRY)

    assert stored(projects) == before
    assert synced(REGISTRY.replace("SDL:", "SDL: {summary: Games.}")).changed == ("SDL",)
    changed = projects.get_node("SDL")
    assert changed
    assert (changed.summary, changed.aliases, changed.importance) == ("Games.", ("sdl3",), 3.0)
    assert changed.last_indexed == sdl.last_indexed
    assert not synced(REGISTRY.replace("SDL:", "SDL: {corpus: other}")).removed
    moved = projects.get_node("SDL")
    assert moved
    assert (moved.corpus, moved.last_indexed) == ("other", "")


def test_relations_of_others_stay_and_declared_ones_follow_the_file(synced: Sync, projects: ProjectGraph) -> None:
    synced(REGISTRY)
    projects.add_edge(Relation("dojo", "SDL", USES, 0.7, evidence="by hand"))
    projects.add_edge(Relation("SDL", "games", RelationType.DOMAIN))

    plan = synced(REGISTRY.replace("weight: 0.5", "weight: 0.6").replace("[rust, tools]", "[rust]"))

    assert plan.relations_changed == ("patina TESTS_WITH dojo",)
    assert plan.relations_removed == ("patina DOMAIN domain:tools",)
    assert {(one.source, one.target, one.weight) for one in projects.get_edges() if one.type in (USES, TESTS)} == {
        ("dojo", "SDL", 0.7),
        ("patina", "dojo", 0.6),
    }
    assert [node.id for node in projects.graph.find_nodes_by_type(DOMAIN)] == [
        "domain:cairo",
        "domain:games",
        "domain:rust",
    ]
    assert synced(REGISTRY.partition("relations:")[0]).relations_removed == ("patina TESTS_WITH dojo",)
    assert projects.get_edge("dojo", "SDL", USES)


def test_a_weight_by_use_stays_until_the_registry_states_another(synced: Sync, projects: ProjectGraph) -> None:
    synced(REGISTRY)
    edge = projects.graph.get_edge(relation_id("patina", "dojo", TESTS))
    assert edge
    learned = replace(edge, weight=0.9, properties={**edge.properties, "base": 0.5})
    projects.graph.add_edges([learned], replace=True)

    assert not synced(REGISTRY)

    assert projects.graph.get_edge(edge.id) == learned
    synced(REGISTRY.replace("weight: 0.5", "weight: 0.6"))
    after = projects.graph.get_edge(edge.id)
    assert after
    assert (after.weight, after.properties["base"]) == (0.6, 0.5)


def test_a_relation_that_link_has_changed_is_no_more_the_registry_s(synced: Sync, projects: ProjectGraph) -> None:
    synced(REGISTRY)
    projects.add_edge(Relation("patina", "dojo", TESTS, 0.2))

    assert not synced(REGISTRY)
    synced(REGISTRY.partition("relations:")[0])

    kept = projects.get_edge("patina", "dojo", TESTS)
    assert kept
    assert kept.weight == 0.2


@pytest.mark.slow
def test_a_removed_project_goes_with_its_relations_and_its_corpus_only_if_that_is_wanted(
    synced: Sync, projects: ProjectGraph, hoprank: HopRank, graph_name: str, tmp_path: Path
) -> None:
    corpora = [f"{name}-{graph_name}" for name in ("gone", "dropped")]
    (tmp_path / "note.md").write_text("A note on the sea.", encoding="utf-8")
    for corpus in corpora:
        hoprank.ingest(tmp_path / "note.md", corpus=corpus)
    entries = "".join(f"\n  {one.partition('-')[0]}: {{corpus: {one}}}" for one in corpora)
    relations = "\nrelations:\n- {from: gone, type: USES, to: dropped}\n- {from: dropped, type: USES, to: kept}"
    synced(f"projects:\n  kept: {{}}{entries}{relations}")

    seen: list[RegistryPlan] = []
    plan = synced(f"projects:\n  kept: {{}}{entries.rpartition(chr(10))[0]}")
    assert (plan.removed, plan.corpora_left) == (("dropped",), (corpora[1],))
    assert find_corpus(hoprank.client, corpora[1])
    plan = synced("projects: {kept: {}}", drop=True, announce=seen.append)

    assert seen == [plan]
    assert (plan.removed, plan.corpora_left) == (("gone",), (corpora[0],))
    assert find_corpus(hoprank.client, corpora[0]) is None
    assert [project.id for project in projects.list_nodes()] == ["kept"]
    assert projects.get_edges() == []


def test_a_corpus_that_another_project_takes_over_is_not_dropped(
    synced: Sync, hoprank: HopRank, graph_name: str, tmp_path: Path
) -> None:
    (tmp_path / "note.md").write_text("A note on the sea.", encoding="utf-8")
    corpus = f"shared-{graph_name}"
    hoprank.ingest(tmp_path / "note.md", corpus=corpus)
    synced(f"projects: {{old: {{corpus: {corpus}}}}}")

    plan = synced(f"projects: {{new: {{corpus: {corpus}}}}}", drop=True)

    assert (plan.removed, plan.added, plan.corpora_left) == (("old",), ("new",), ())
    assert find_corpus(hoprank.client, corpus)


@pytest.mark.slow
def test_a_renamed_project_keeps_its_relations_its_index_and_its_corpus(
    synced: Sync, projects: ProjectGraph, hoprank: HopRank, graph_name: str, tmp_path: Path
) -> None:
    old, new = f"old-{graph_name}", f"new-{graph_name}"
    (tmp_path / "note.md").write_text("A note on the sea.", encoding="utf-8")
    hoprank.ingest(tmp_path / "note.md", corpus=old)
    other = "\n  other: {}\nrelations:\n- {from: other, type: USES, to: NAME}\n"
    synced(f"projects:\n  {old}: {{domains: [rust]}}{other.replace('NAME', old)}")
    projects.add_edge(Relation(old, "other", TESTS, 0.4, evidence="by hand"))
    projects.mark_indexed(old, "Found.")
    before = projects.get_node(old)
    assert before

    renamed = f"projects:\n  {new}: {{was: {old}, domains: [rust]}}{other.replace('NAME', new)}"
    plan = synced(renamed)

    assert plan.renamed == plan.corpora_renamed == ((old, new),)
    assert (plan.added, plan.removed, plan.changed) == ((), (), ())
    assert (plan.relations_added, plan.relations_removed) == ((), ())
    assert projects.get_node(new) == replace(before, id=new, corpus=new)
    moved = projects.get_edge(new, "other", TESTS)
    assert moved
    assert (moved.weight, moved.evidence) == (0.4, "by hand")
    assert projects.get_edge("other", new, USES)
    assert find_corpus(hoprank.client, new)
    state = stored(projects)
    assert not synced(renamed)
    assert stored(projects) == state


@pytest.mark.slow
def test_a_rename_whose_corpus_can_t_move_changes_nothing(
    synced: Sync, projects: ProjectGraph, hoprank: HopRank, graph_name: str, tmp_path: Path
) -> None:
    old, new = f"old-{graph_name}", f"new-{graph_name}"
    (tmp_path / "note.md").write_text("A note on the sea.", encoding="utf-8")
    for corpus in (old, new):
        hoprank.ingest(tmp_path / "note.md", corpus=corpus)
    synced(f"projects: {{{old}: {{}}}}")
    before = stored(projects)

    with pytest.raises(CorpusError, match=new):
        synced(f"projects: {{{new}: {{was: {old}}}}}")

    assert stored(projects) == before


def test_a_rename_to_a_project_that_is_there_joins_their_relations(synced: Sync, projects: ProjectGraph) -> None:
    synced("projects: {a: {}, b: {}, c: {}}")
    projects.add_edges([Relation("a", "c", USES, 0.3), Relation("b", "c", USES, 0.6), Relation("a", "b", USES)])
    projects.add_edge(Relation("c", "a", TESTS))

    plan = synced("projects: {b: {was: a}, c: {}}")

    assert plan.renamed == (("a", "b"),)
    assert [(one.source, one.type, one.target, one.weight) for one in projects.get_edges()] == [
        ("b", USES, "c", 0.6),
        ("c", TESTS, "b", 1.0),
    ]


def test_a_sync_that_is_stopped_before_it_writes_changes_nothing(synced: Sync, projects: ProjectGraph) -> None:
    synced("projects: {a: {}}")

    def stop(_: RegistryPlan) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        synced("projects: {b: {}}", announce=stop)

    assert [project.id for project in projects.list_nodes()] == ["a"]
