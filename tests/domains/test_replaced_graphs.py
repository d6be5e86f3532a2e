"""A question whose graph is replaced while it is asked is answered from the graph that has the name then."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank, Memory, Projects, Skills, Tools
from pipeline.db.client import Client
from pipeline.domains.routing.project_graph import ProjectGraph
from pipeline.domains.routing.schema import Project, Relation, RelationType
from pipeline.domains.tools.build import build_catalogue
from pipeline.domains.tools.settings import ToolSettings
from pipeline.knowledge.load import load
from pipeline.progress import Progress
from tests.domains.tools.village import VILLAGE


@pytest.fixture
def name(hoprank: HopRank) -> Iterator[str]:
    """The name of a graph, which is dropped."""
    made = f"test-{uuid.uuid4().hex[:12]}"
    yield made
    hoprank.graph(made).drop()


def skills(hoprank: HopRank, name: str, folder: Path) -> Skills:
    made = Skills(hoprank, name)
    for skill, needed in (("bake", "knead"), ("knead", "weigh"), ("weigh", "")):
        (folder / skill).mkdir()
        head = f"---\nname: {skill}\ndescription: How to {skill} bread.\ndependencies: [{needed}]\n---\n"
        (folder / skill / "SKILL.md").write_text(f"{head}# {skill}\n")
    made.build(folder)
    return made


def tools(hoprank: HopRank, name: str, _: Path) -> Tools:
    build_catalogue(partial(hoprank.graph, name), VILLAGE, hoprank.settings.section(ToolSettings))
    return Tools(hoprank, name)


def memory(hoprank: HopRank, name: str, _: Path) -> Memory:
    made = Memory(hoprank, name)
    made.fact("api", "depends_on", "hono", since="2026-01-01", create=["library"])
    return made


def projects(hoprank: HopRank, name: str, _: Path) -> Projects:
    graph = ProjectGraph.open(hoprank, name)
    for project in ("shop", "dojo", "bank"):
        graph.add_node(Project(project))
    graph.add_edges([Relation("shop", "dojo", RelationType.USES), Relation("dojo", "bank", RelationType.USES)])
    return Projects(hoprank, name)


SLOW = pytest.mark.slow
ASKED: list[Any] = [
    pytest.param(skills, lambda it: it.search("bread"), id="skills search"),
    pytest.param(skills, lambda it: [one.node.id for one in it.related("bake")], id="skills related", marks=SLOW),
    pytest.param(skills, lambda it: it.order("bake"), id="skills order", marks=SLOW),
    pytest.param(skills, lambda it: it.path("bake", "weigh"), id="skills path", marks=SLOW),
    pytest.param(tools, lambda it: it.find("mail me the weather"), id="tools find", marks=SLOW),
    pytest.param(tools, lambda it: it.chains("mail me the weather"), id="tools chains"),
    pytest.param(tools, lambda it: it.traverse("send_letter"), id="tools traverse", marks=SLOW),
    pytest.param(memory, lambda it: it.history("api"), id="memory history", marks=SLOW),
    pytest.param(memory, lambda it: it.related("api"), id="memory related"),
    pytest.param(projects, lambda it: it.related("shop"), id="projects related", marks=SLOW),
    pytest.param(projects, lambda it: it.traverse("shop", 2), id="projects traverse"),
]


@pytest.mark.parametrize(("make", "ask"), ASKED)
def test_an_answer_is_of_one_graph(
    make: Callable[[HopRank, str, Path], Any],
    ask: Callable[[Any], Any],
    hoprank: HopRank,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    face = type(make(hoprank, name, tmp_path))
    graph = hoprank.graph(name)
    nodes, edges = list(graph.nodes()), list(graph.edges())
    before = ask(face(hoprank, name))
    assert before, "there is an answer"
    asked: list[str] = []

    def before_the_second(reading: Callable[..., Any]) -> Callable[..., Any]:
        def read(client: Client, query: str, /, *given: Any, **params: Any) -> Any:
            if query != "graphs_named":
                asked.append(query)
                if len(asked) == 2:  # what the first one read is of the graph that is deleted now
                    load(client, name, (iter(nodes), iter(edges)), Progress())
            return reading(client, query, *given, **params)

        return read

    monkeypatch.setattr(Client, "read", before_the_second(Client.read))
    monkeypatch.setattr(Client, "stream", before_the_second(Client.stream))

    assert ask(face(hoprank, name)) == before
    assert len(asked) > 2, "it was asked again"
