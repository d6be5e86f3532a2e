"""Relations that files propose: detectors on folders of files, and proposals on a graph."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.domains.routing.graph import ProjectGraph
from pipeline.domains.routing.learn.detect import detect
from pipeline.domains.routing.learn.evidence import together
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.learn.notes import Sources, read_sources
from pipeline.domains.routing.learn.overlap import siblings
from pipeline.domains.routing.learn.proposals import accept, decide, propose, reject
from pipeline.domains.routing.learn.records import Proposal
from pipeline.domains.routing.records import Project, Relation
from pipeline.domains.routing.schema import RelationType
from pipeline.errors import InputError, SourceError

Run = Callable[..., Result]

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OTHERS = (
    Project("psf/requests", domains=("http",)),
    Project("pallets/flask", domains=("web",)),
    Project("dojo", aliases=("dojo-core",), domains=("cairo", "ecs")),
    Project("SDL", domains=("c",)),
    Project("tree-sitter"),
)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def detected(
    folder: Path, files: dict[str, str], notes: Sequence[Path] = (), others: Sequence[Project] = OTHERS
) -> dict[tuple[str, str], Proposal]:
    """What is proposed for the project ``patina`` in a folder with these files, by type and target."""
    write(folder, files)
    projects = [Project("patina", path=str(folder)), *others]
    found = detect(projects, read_sources(notes, projects))
    return {(one.relation.type, one.relation.target): one for one in found if one.relation.source == "patina"}


def noted(tmp_path: Path, *sentences: str) -> dict[str, float]:
    """The confidence that the sentences of a note of ``patina`` give to LEARNS_FROM, by project."""
    note = tmp_path / "notes" / "session.md"
    write(tmp_path / "notes", {"session.md": "---\nproject: patina\n---\n" + "\n\n".join(sentences)})
    found = detected(tmp_path / "patina", {}, [note])
    return {target: one.confidence for (kind, target), one in found.items() if kind == "learns_from"}


def test_an_import_proposes_uses_with_its_place(tmp_path: Path) -> None:
    found = detected(tmp_path, {"app/client.py": "import os\nfrom requests.adapters import HTTPAdapter\n"})

    proposal = found["uses", "psf/requests"]
    assert proposal.evidence == ("app/client.py:2: imports requests.adapters",)
    assert proposal.detector == "imports"
    assert 0.5 < proposal.confidence < 0.7


def test_files_that_agree_raise_the_confidence_and_one_file_counts_once(tmp_path: Path) -> None:
    one = detected(tmp_path / "1", {"a.py": "import requests\nimport requests.auth\n"})
    two = detected(tmp_path / "2", {"a.py": "import requests\n", "b.py": "import requests\n"})
    many = detected(tmp_path / "3", {f"m{number}.py": "import requests\n" for number in range(30)})

    scores = [found["uses", "psf/requests"].confidence for found in (one, two, many)]
    assert scores == sorted(set(scores))
    assert scores[2] < 1
    assert len(many["uses", "psf/requests"].evidence) == 10


def test_an_import_in_a_test_says_less(tmp_path: Path) -> None:
    outside = detected(tmp_path / "1", {"a.py": "import requests\n"})
    inside = detected(tmp_path / "2", {"tests/test_a.py": "import requests\n"})

    assert inside["uses", "psf/requests"].confidence < outside["uses", "psf/requests"].confidence


@pytest.mark.parametrize(
    "files",
    [
        {"app/__init__.py": "", "app/a.py": "from .requests import get\n", "app/requests.py": ""},
        {"app/a.py": "from . import requests\n"},
        {"requests/__init__.py": "", "a.py": "import requests\n"},
        {"src/requests/api.py": "", "tests/test_a.py": "import requests\n"},
        {"tools/requests.py": "", "tools/run.py": "import requests\n"},
        {"a.py": "# import requests\ntext = 'import requests'\n"},
        {
            "node_modules/x/a.py": "import requests\n",
            "venv/lib/a.py": "import requests\n",
            ".git/a.py": "import requests",
        },
        {".gitignore": "made/\n", "made/a.py": "import requests\n"},
        {"a.py": "import requests_toolbelt\nimport myrequests\n"},
        {"pyproject.toml": '[project]\nname = "requests"\n', "a.py": "import requests\n"},
    ],
    ids="sibling relative folder src script comment vendored ignored longer own-package".split(),
)
def test_what_is_no_import_of_another_project_proposes_nothing(tmp_path: Path, files: dict[str, str]) -> None:
    assert detected(tmp_path, files) == {}


def test_a_module_within_a_package_does_not_shadow_a_project(tmp_path: Path) -> None:
    files = {"app/__init__.py": "", "app/requests.py": "import requests\n"}

    assert ("uses", "psf/requests") in detected(tmp_path, files)


def test_a_module_of_the_standard_library_is_no_project(tmp_path: Path) -> None:
    others = [Project("acme/logging"), Project("acme/json")]

    assert detected(tmp_path, {"a.py": "import logging, json\n"}, others=others) == {}


def test_a_dependency_of_a_manifest_is_nearly_certain(tmp_path: Path) -> None:
    manifest = '[project]\nname = "patina"\ndependencies = [\n  "Requests>=2",\n  "tree_sitter",\n]\n'

    found = detected(tmp_path, {"pyproject.toml": manifest})

    assert found["uses", "psf/requests"].confidence > 0.95
    assert found["uses", "psf/requests"].evidence[0].startswith("pyproject.toml:4: depends on ")
    assert ("uses", "tree-sitter") in found


def test_a_dependency_for_development_says_less(tmp_path: Path) -> None:
    manifest = '[project]\nname = "patina"\ndependencies = []\n[dependency-groups]\ndev = ["requests"]\n'

    found = detected(tmp_path, {"pyproject.toml": manifest})

    assert 0.5 < found["uses", "psf/requests"].confidence < 0.9


def test_a_package_that_a_test_makes_up_shadows_nothing(tmp_path: Path) -> None:
    files = {"tests/data/pyproject.toml": '[project]\nname = "requests"\n', "a.py": "import requests\n"}

    assert ("uses", "psf/requests") in detected(tmp_path, files)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("package.json", '{"name": "patina", "dependencies": {"dojo-core": "^1"}}'),
        ("Cargo.toml", '[package]\nname = "patina"\n[dependencies]\ndojo_core = "1"\n'),
        ("go.mod", "module example.com/patina\n\nrequire github.com/acme/dojo-core/v2 v2.1.0\n"),
        ("requirements.txt", "dojo-core==1.0\n"),
        ("main.go", 'package main\nimport "github.com/acme/dojo-core/world"\n'),
        ("main.rs", "use dojo_core::world::World;\n"),
        ("main.js", 'import { World } from "dojo-core/world";\nconst x = require("./dojo");\n'),
        ("main.c", "#include <dojo-core/world.h>\n"),
    ],
)
def test_every_ecosystem_names_projects_in_its_own_way(tmp_path: Path, file: str, text: str) -> None:
    others = [Project("acme/dojo-core")]

    assert ("uses", "acme/dojo-core") in detected(tmp_path, {file: text}, others=others)


def test_a_project_never_uses_itself(tmp_path: Path) -> None:
    assert detected(tmp_path, {"a.py": "import patina\n", "tests/b.py": "from patina import x\n"}) == {}


def test_a_name_that_two_projects_have_means_neither() -> None:
    names = ProjectNames([Project("acme/core"), Project("dojo/core"), Project("tools", aliases=("core-tools",))])

    assert names.named("core") is None
    assert names.named("acme/core") == "acme/core"
    assert names.imported("https://github.com/acme/core.git") is None
    assert names.imported("github.com/acme/core/sub") == "acme/core"
    assert names.imported("@acme/other") is None
    assert names.named("core_tools") == "tools"


def test_an_owner_or_a_scope_is_no_name_of_a_project() -> None:
    names = ProjectNames([Project("acme"), Project("acme/core")])

    assert names.imported("acme.tools") == "acme"
    assert names.imported("@acme/tools") is None
    assert names.imported("github.com/acme/tools") is None
    assert names.imported("@acme/core/sub") == "acme/core"


def test_an_id_wins_over_the_last_part_of_another() -> None:
    names = ProjectNames([Project("flask"), Project("pallets/flask")])

    assert names.named("flask") == "flask"


@pytest.mark.parametrize(
    ("sentence", "target"),
    [
        ("I looked at dojo for this.", "dojo"),
        ("The event loop is borrowed from SDL.", "SDL"),
        ("World storage works as dojo does it.", "dojo"),
        ("We keep a registry, inspired by the dojo crate.", "dojo"),
        ("See how `flask` handles blueprints.", "pallets/flask"),
        ("The session is modelled on Flask.", "pallets/flask"),
        ("Adapters ported from psf/requests.", "psf/requests"),
        ("We follow dojo's approach to models.", "dojo"),
        ("That is dojo's usual approach to models.", "dojo"),
        ("Looked into tree-sitter for the grammar.", "tree-sitter"),
        ("How requests handles redirects is what we need.", "psf/requests"),
    ],
)
def test_a_sentence_about_learning_proposes_learns_from(tmp_path: Path, sentence: str, target: str) -> None:
    found = noted(tmp_path, sentence)

    assert list(found) == [target]
    assert found[target] >= 0.45


@pytest.mark.parametrize(
    "sentence",
    [
        "She drank from a flask of water.",
        "The requests that failed were sent again.",
        "We looked at requests that failed.",
        "Looked at the requests in the log.",
        "It took three requests per second.",
        "He borrowed a flask from the lab.",
        "```\nlooked at dojo\n```",
        "Requests should be signed.",
        "flask, requests and more",
        "The judo dojos were borrowed from nobody.",
    ],
)
def test_an_ordinary_word_is_no_mention(tmp_path: Path, sentence: str) -> None:
    assert noted(tmp_path, sentence) == {}


def test_a_bare_mention_counts_less_and_several_count_more(tmp_path: Path) -> None:
    bare = noted(tmp_path, "Tests of SDL ran.")
    more = noted(tmp_path, "Tests of SDL ran.", "SDL has a window.", "The window of SDL opens.")
    learnt = noted(tmp_path, "The window is borrowed from SDL.")

    assert bare["SDL"] < more["SDL"] < learnt["SDL"]


def test_any_number_of_bare_mentions_stays_uncertain(tmp_path: Path) -> None:
    assert noted(tmp_path, *(f"Run {number} of SDL." for number in range(40)))["SDL"] == 0.5


def test_a_longer_name_is_another_name(tmp_path: Path) -> None:
    assert noted(tmp_path, "Borrowed from dojo-extras.", "Borrowed from my-SDL.", "Borrowed from sdl2.") == {}


def test_a_denied_sentence_is_a_bare_mention(tmp_path: Path) -> None:
    assert noted(tmp_path, "We did not look at `dojo`.")["dojo"] < 0.3


def test_a_weak_verb_does_not_make_a_name_of_a_word_that_the_notes_use_as_one(tmp_path: Path) -> None:
    usual = ["A flask broke.", "The flask is full.", "Each flask of acid."]

    assert noted(tmp_path, "Looked at flask.") != {}
    assert noted(tmp_path, "Looked at flask.", *usual) == {}
    assert noted(tmp_path, "Looked at `flask`.", *usual) != {}


def test_the_sentence_is_the_evidence_with_its_line(tmp_path: Path) -> None:
    notes = write(
        tmp_path / "n",
        {"a.md": "---\nproject: patina\n---\n# Day\n\nFirst.\nI looked at dojo for\nthis. Then slept.\n"},
    )

    found = detected(tmp_path / "p", {}, [notes / "a.md"])

    assert found["learns_from", "dojo"].evidence == (f"{notes / 'a.md'}:7: I looked at dojo for this.",)


def test_a_note_belongs_to_the_project_of_its_field_folder_or_default(tmp_path: Path) -> None:
    projects = [Project("patina", path=str(tmp_path / "code")), Project("acme/shop")]
    lines = [{"project": "shop", "text": "a"}, {"cwd": str(tmp_path / "code" / "src"), "text": "b"}, {"text": "c"}]
    write(
        tmp_path,
        {
            "code/layer/session.md": "d",
            "notes/shop/day.txt": "e",
            "notes/other.md": "f",
            "notes/all.jsonl": "\n".join(map(json.dumps, lines)),
        },
    )

    sources = read_sources([tmp_path / "code" / "layer", tmp_path / "notes"], projects)
    defaulted = read_sources([tmp_path / "notes" / "other.md"], projects, "patina")

    assert {note.text: note.project for note in sources.notes} == {
        "a": "acme/shop",
        "b": "patina",
        "d": "patina",
        "e": "acme/shop",
    }
    assert {Path(path).name for path in sources.unassigned} == {"all.jsonl", "other.md"}
    assert [note.project for note in defaulted.notes] == ["patina"]


def test_notes_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    write(tmp_path, {"broken.jsonl": '{"text": "a"}\n{'})
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")

    with pytest.raises(SourceError, match="nowhere doesn't exist"):
        read_sources([tmp_path / "nowhere"], OTHERS)
    with pytest.raises(SourceError, match="line 2 isn't JSON"):
        read_sources([tmp_path / "broken.jsonl"], OTHERS, "dojo")
    with pytest.raises(SourceError, match="isn't valid UTF-8"):
        read_sources([tmp_path / "latin.md"], OTHERS)


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("bench.sh", "#!/bin/sh\npatina bench retrieval --repo dojo\n"),
        ("Makefile", "bench:\n\t@patina bench \\\n\t  --corpus=dojo\n"),
        (".github/workflows/ci.yml", "jobs:\n  - run: cargo bench -- --repo dojo\n"),
        ("justfile", "evaluate:\n    hoprank evaluate ../repos/dojo/ -k 10\n"),
        ("package.json", '{"scripts": {"bench": "node bench.js --project dojo"}}'),
    ],
)
def test_a_benchmark_command_proposes_tests_with(tmp_path: Path, file: str, text: str) -> None:
    found = detected(tmp_path, {file: text})

    assert found["tests_with", "dojo"].confidence >= 0.6
    assert f"{file}:" in found["tests_with", "dojo"].evidence[0]


def test_a_command_of_a_session_proposes_tests_with(tmp_path: Path) -> None:
    notes = write(
        tmp_path / "notes",
        {
            "day.md": "---\nproject: patina\n---\nRan `patina bench --repo SDL`. To bench dojo is for later.\n",
            "history.txt": ": 1700000000:0;patina bench --repo tree-sitter\n",
        },
    )
    projects = [Project("patina"), *OTHERS]

    found = detect(projects, read_sources([notes], projects, "patina"))

    assert {one.relation.target for one in found if one.relation.type == "tests_with"} == {"SDL", "tree-sitter"}


@pytest.mark.parametrize(
    "command",
    ["gh pr list --repo psf/requests", "# patina bench --repo dojo", "patina bench --repo unknown", "make dojo"],
)
def test_other_commands_propose_nothing(tmp_path: Path, command: str) -> None:
    assert detected(tmp_path, {"run.sh": command + "\n"}) == {}


def test_an_option_without_a_benchmark_says_less(tmp_path: Path) -> None:
    found = detected(tmp_path, {"run.sh": "patina scry 'world storage' --repo dojo\n"})

    assert found["tests_with", "dojo"].confidence < 0.5


def test_projects_of_a_rare_domain_are_siblings() -> None:
    projects = [Project(f"p{number}", domains=("rust",)) for number in range(6)]
    projects += [Project("game", domains=("rust", "cairo", "ecs")), Project("foundry", domains=("cairo", "rust"))]

    (found,) = siblings(projects)

    assert (found.relation.source, found.relation.target) == ("foundry", "game")
    assert 0 < found.confidence < found.relation.weight < 1
    assert found.evidence[0] == "both are about cairo, as 2 of 8 projects"


def test_a_domain_that_nearly_all_projects_have_makes_no_siblings() -> None:
    assert siblings([Project(f"p{number}", domains=("rust",)) for number in range(6)]) == []


def test_a_rare_domain_makes_closer_siblings_than_a_usual_one() -> None:
    projects = [Project(name, domains=("cairo", name)) for name in "ab"]
    projects += [Project(name, domains=("web", name)) for name in "cdef"] + [Project(name) for name in "ghijk"]

    found = {(one.relation.source, one.relation.target): one.confidence for one in siblings(projects)}

    assert found["a", "b"] > found["c", "d"]


@given(st.lists(st.lists(st.sampled_from("abcdef"), unique=True), max_size=8))
def test_siblings_are_pairs_with_probabilities_in_any_order(domains: list[list[str]]) -> None:
    projects = [Project(f"p{number}", domains=tuple(held)) for number, held in enumerate(domains)]

    found = siblings(projects)

    assert found == siblings(projects[::-1])
    assert all(0 < one.confidence < 1 and 0 <= one.relation.weight <= 1 for one in found)
    assert len({one.id for one in found}) == len(found)


@given(st.lists(st.floats(0, 0.9)), st.floats(0.01, 0.9))
def test_another_clue_never_lowers_the_confidence(strengths: list[float], another: float) -> None:
    assert together(strengths) <= together([*strengths, another]) < 1


def test_a_project_without_a_path_has_not_the_files_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path, {"a.py": "import requests\n"}))

    assert detect([Project("patina"), *OTHERS], Sources()) == []


def test_a_project_whose_folder_is_gone_proposes_nothing(tmp_path: Path) -> None:
    projects = [Project("patina", path=str(tmp_path / "gone")), *OTHERS]

    assert detect(projects, Sources()) == []


@pytest.fixture
def graph(hoprank: HopRank, tmp_path: Path) -> Iterator[ProjectGraph]:
    """A graph of ``patina``, whose files use requests and test with dojo, and the other projects."""
    manifest = '[project]\nname = "patina"\ndependencies = ["requests"]\n'
    folder = write(tmp_path / "patina", {"pyproject.toml": manifest, "bench.sh": "patina bench --repo dojo\n"})
    made = ProjectGraph.open(hoprank, f"routes-{uuid.uuid4().hex[:12]}")
    for project in (Project("patina", path=str(folder)), *OTHERS):
        made.add_node(project)
    yield made
    made.graph.drop()


def keys(proposals: Sequence[Proposal]) -> list[tuple[str, str]]:
    return [(one.relation.type, one.relation.target) for one in proposals]


def test_relations_of_the_graph_are_not_proposed(graph: ProjectGraph) -> None:
    before = keys(propose(graph))
    graph.add_edge(Relation("patina", "psf/requests", RelationType.USES))

    assert before == [("uses", "psf/requests"), ("tests_with", "dojo")]
    assert keys(propose(graph)) == [("tests_with", "dojo")]


def test_a_sibling_is_known_in_either_direction(graph: ProjectGraph) -> None:
    for name in ("a", "b"):
        graph.add_node(Project(name, domains=("quilting",)))
    before = keys(propose(graph))
    graph.add_edge(Relation("b", "a", RelationType.SIBLING))

    assert ("sibling", "b") in before
    assert ("sibling", "b") not in keys(propose(graph))


def test_an_accepted_proposal_is_a_relation_with_its_evidence(graph: ProjectGraph) -> None:
    found = propose(graph)

    accept(graph, found[:1], NOW)

    relation = graph.get_edge("patina", "psf/requests", RelationType.USES)
    assert relation is not None
    assert 0.9 < relation.weight < 1
    assert relation.evidence == "pyproject.toml:3: depends on requests"
    assert relation.created.startswith("2026-03-01")
    assert keys(propose(graph)) == [("tests_with", "dojo")]


def test_a_rejected_proposal_is_not_made_again_until_it_is_accepted(graph: ProjectGraph) -> None:
    found = propose(graph)

    reject(graph, found[:1])

    assert keys(propose(graph)) == [("tests_with", "dojo")]
    assert keys(propose(graph, rejected=True)) == [("uses", "psf/requests")]
    accept(graph, found[:1], NOW)
    graph.remove_edge("patina", "psf/requests", RelationType.USES)
    assert propose(graph) == found


def test_a_rejection_outlives_an_update_of_the_project(graph: ProjectGraph) -> None:
    reject(graph, propose(graph))
    project = graph.get_node("patina")
    assert project is not None

    graph.update_node(project)

    assert propose(graph) == []


def test_proposals_above_a_confidence_are_accepted_but_for_rejected_ones(graph: ProjectGraph) -> None:
    found = propose(graph)
    by_target = {one.relation.target: one for one in found}

    decisions = decide(graph, found, NOW, rejected=[by_target["psf/requests"].id], sure=0.5)

    assert keys(decisions.accepted) == [("tests_with", "dojo")]
    assert keys(decisions.rejected) == [("uses", "psf/requests")]
    assert decisions.open == ()
    assert {edge.target for edge in graph.get_edges("patina")} == {"dojo"}


def test_an_unknown_id_changes_nothing(graph: ProjectGraph) -> None:
    found = propose(graph)

    with pytest.raises(InputError, match="no proposal 'none'"):
        decide(graph, found, NOW, accepted=[found[0].id, "none"])
    with pytest.raises(InputError, match="accepted and rejected"):
        decide(graph, found, NOW, accepted=[found[0].id], rejected=[found[0].id])

    assert propose(graph) == found


@pytest.fixture
def run(graph: ProjectGraph, server_environment: dict[str, str]) -> Run:
    """Run a command on the graph."""

    def command(*arguments: str, code: int = 0) -> Result:
        given = ["route", "propose", *arguments, "--graph", graph.graph.name]
        result = CliRunner().invoke(app, given, env={**server_environment, "COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    return command


def loaded(run: Run, *arguments: str) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


def test_the_command_lists_accepts_and_rejects(run: Run) -> None:
    shown = run().stdout
    uses, tests = loaded(run)
    added = run("--accept", uses["id"], "--reject", tests["id"]).stdout

    assert uses["id"] in shown
    assert "pyproject.toml:3: depends on requests" in shown
    assert (uses["type"], uses["state"], tests["detector"]) == ("uses", "open", "commands")
    assert "Added patina USES psf/requests." in added
    assert "Rejected patina TESTS_WITH dojo." in added
    assert loaded(run) == []
    assert [one["id"] for one in loaded(run, "--rejected")] == [tests["id"]]


def test_the_command_accepts_what_is_sure(run: Run, graph: ProjectGraph) -> None:
    run("--auto")

    assert [edge.target for edge in graph.get_edges("patina")] == ["psf/requests"]


def test_the_command_reads_notes_and_names_those_of_no_project(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "notes", {"day.md": "We borrowed the loop from SDL.\n"})

    unassigned = run("--notes", str(tmp_path / "notes"))
    found = loaded(run, "--notes", str(tmp_path / "notes"), "--from", "patina")

    assert "day.md" in unassigned.stderr
    assert "SDL" not in unassigned.stdout
    assert [one["target"] for one in found if one["type"] == "learns_from"] == ["SDL"]


def test_the_command_names_an_unknown_project_and_missing_notes(run: Run, tmp_path: Path) -> None:
    assert "no project 'patinaa'" in run("--from", "patinaa", code=2).output
    assert "doesn't exist" in run("--notes", str(tmp_path / "none"), code=2).output
