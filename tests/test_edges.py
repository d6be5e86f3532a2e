"""The table of relationship types: it agrees with the Cypher, the page about the graph, and the settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pipeline
from pipeline.db.queries import load_queries
from pipeline.edges import EDGES, REFERENCES, EdgeKind, Target, words
from pipeline.knowledge import SupportedEdgeType
from pipeline.settings.sections import WalkSettings

OF_KNOWLEDGE = {"CHILD_OF"}
"""Relationship types of knowledge graphs that stand in Cypher, too."""


def literals() -> set[str]:
    """The relationship types in the patterns of all queries, and in the schema."""
    texts = [query.text for query in load_queries().values()]
    patterns = re.findall(r"-\[\w*:([A-Z_]+(?:\|[A-Z_]+)*)", "\n".join(texts))
    return {name for pattern in patterns for name in pattern.split("|")}


def test_every_type_has_a_row() -> None:
    assert list(EDGES) == list(EdgeKind)


def test_every_type_in_the_cypher_is_in_the_table_and_the_other_way_round() -> None:
    found = literals() - OF_KNOWLEDGE

    assert found - set(EdgeKind) == set(), "in cypher/ alone"
    assert set(EdgeKind) - found == set(), "in the table alone"


@pytest.mark.parametrize("kind", EdgeKind)
def test_every_type_is_on_the_page_about_the_graph(kind: EdgeKind) -> None:
    page = (Path(pipeline.__file__).parent / "docs" / "graph.md").read_text(encoding="utf-8")

    assert re.search(
        rf"^\| `{kind}` \| (an|a|its|the document's next) `?(HopRank)?{EDGES[kind].target}", page, re.M | re.I
    )


@pytest.mark.parametrize("kind", EdgeKind)
def test_weights_are_settings_and_categories_are_known(kind: EdgeKind) -> None:
    edge = EDGES[kind]

    assert not edge.weight or edge.weight in WalkSettings.model_fields.keys() | vars(WalkSettings).keys()
    assert not edge.category or edge.category in set(SupportedEdgeType)
    assert edge.symmetric or edge.target is not Target.CHUNK, "words of a step tell its way by the kind of its start"


def test_references_lead_to_whole_documents() -> None:
    assert {EdgeKind.REFERS_TO, EdgeKind.LINKS_TO} == REFERENCES


def test_an_unknown_type_is_its_own_word() -> None:
    assert words("MENTIONS", along=True) == "mentions"
    assert words("MENTIONS", along=False) == "is mentioned in"
    assert words("REMEMBERS", along=True) == "REMEMBERS"
