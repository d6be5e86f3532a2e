"""The face of the domain: the page's code, and what it keeps of a connection."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from pipeline import HopRank, Projects
from pipeline.domains.routing.schema import RelationType
from pipeline.errors import GraphError, SourceError
from tests.domains.python_page import run_section
from tests.domains.routing.detected import write
from tests.domains.routing.town import Town
from tests.domains.verbs import asked

REGISTRY = """
projects:
  shop: {path: shop, corpus: shop-NAME}
references:
  dojo: {path: dojo, corpus: dojo-NAME}
"""


@pytest.fixture
def folder(tmp_path: Path, graph_name: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the registry and the files that the page names."""
    files = {
        "registry.yaml": REGISTRY.replace("NAME", graph_name),
        "shop/README.md": "The shop sells hooks and lines to anglers by the sea.",
        "dojo/README.md": "Hooks are called before each turn, in the order of their names.",
        "notes/day.md": "We borrowed the registry from `dojo`.\n\nIts hooks are copied from dojo, too.",
    }
    monkeypatch.chdir(write(tmp_path, files))
    return tmp_path


@pytest.mark.slow
def test_the_code_of_the_page_runs(hoprank: HopRank, graph_name: str, folder: Path) -> None:
    named = run_section("Projects", hoprank=hoprank, Projects=lambda hoprank, _: Projects(hoprank, graph_name))

    projects = Projects(hoprank, graph_name)
    assert named["failed"] == []
    assert {item.metadata["project"] for item in named["result"].items} >= {"dojo"}  # type: ignore[attr-defined]
    assert projects.graph.get_edge("shop", "dojo", RelationType.USES) is None
    assert projects.graph.get_edge("shop", "dojo", RelationType.LEARNS_FROM) is not None
    assert folder.exists()


def test_a_link_keeps_what_is_not_given(hoprank: HopRank, graph_name: str, folder: Path) -> None:
    projects = Projects(hoprank, graph_name)
    projects.sync("registry.yaml")

    projects.link("shop", "USES", "dojo", weight=0.5, evidence="worlds")
    again = projects.link("shop", "uses", "dojo", weight=0.25)

    assert (again.weight, again.evidence) == (0.25, "worlds")
    assert projects.unlink("shop", "uses", "dojo") == again
    assert folder.exists()


def test_what_is_missing_is_named(hoprank: HopRank, graph_name: str, tmp_path: Path) -> None:
    projects = Projects(hoprank, graph_name)

    with pytest.raises(GraphError, match=graph_name):
        projects.related("shop")
    with pytest.raises(SourceError, match=r"none\.yaml"):
        projects.sync(tmp_path / "none.yaml")


@pytest.mark.slow
def test_a_closed_connection_is_not_kept(hoprank: HopRank, town: Town) -> None:
    other = HopRank(hoprank.client, hoprank.embedder, hoprank.settings)
    asked(other, "routing", "search", question="the hour of high water", graph=town.graph)
    kept = weakref.ref(other)

    del other
    gc.collect()

    assert kept() is None
