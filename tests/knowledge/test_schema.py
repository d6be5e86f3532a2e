"""A schema refuses nodes and edges of types that it doesn't declare, by name."""

from __future__ import annotations

import pytest

from pipeline import KnowledgeEdge, KnowledgeNode
from pipeline.errors import GraphError
from pipeline.knowledge.schema import EdgeType, Schema

SCHEMA = Schema(
    nodes={"dish": "what is cooked", "food": "what it is made of"},
    edges={
        "takes": EdgeType("dish", "food", "the dish takes the food"),
        "goes_with": EdgeType(("dish", "food"), "dish", "they taste well together"),
    },
)
SOUP, LEEK = KnowledgeNode("soup", "dish"), KnowledgeNode("leek", "food")


def test_what_is_declared_passes() -> None:
    edges = [KnowledgeEdge("soup", "leek", "takes"), KnowledgeEdge("leek", "soup", "goes_with")]

    SCHEMA.check([SOUP, LEEK], edges)
    SCHEMA.check(iter([SOUP, LEEK]), iter(edges))


def test_an_endpoint_that_isn_t_given_isn_t_checked() -> None:
    SCHEMA.check([SOUP], [KnowledgeEdge("soup", "stored before", "takes")])


@pytest.mark.parametrize(
    ("node", "edge", "says"),
    [
        (
            KnowledgeNode("pot", "tool"),
            ("soup", "leek", "takes"),
            "'pot' has the type 'tool'.\nThe schema declares: dish, food",
        ),
        (
            SOUP,
            ("soup", "leek", "boils"),
            "'soup' to 'leek' has the type 'boils'.\nThe schema declares: takes, goes_with",
        ),
        (
            SOUP,
            ("leek", "soup", "takes"),
            "'leek' to 'soup', 'takes', has an end of type 'food'.\nThe schema declares: dish.",
        ),
        (
            SOUP,
            ("soup", "soup", "takes"),
            "'soup' to 'soup', 'takes', has an end of type 'dish'.\nThe schema declares: food.",
        ),
        (SOUP, ("soup", "leek", "goes_with"), "has an end of type 'food'.\nThe schema declares: dish."),
    ],
)
def test_what_is_not_declared_is_refused(node: KnowledgeNode, edge: tuple[str, str, str], says: str) -> None:
    with pytest.raises(GraphError) as caught:
        SCHEMA.check([node, SOUP, LEEK], [KnowledgeEdge(*edge)])

    assert says in str(caught.value)
