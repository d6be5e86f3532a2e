"""What a node or an edge can't be is refused when it is made, by name."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from pipeline import KnowledgeEdge, KnowledgeNode
from pipeline.errors import GraphError


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": ""}, "A node's id is ''"),
        ({"id": 3}, "A node's id is 3"),
        ({"id": "x" * 10_001}, "10,001 characters"),
        ({"id": "\ud800"}, "surrogate"),
        ({"type": ""}, "its type is ''"),
        ({"type": "x" * 1_001}, "its type has 1,001 characters"),
        ({"labels": "text"}, "labels is 'text'"),
        ({"labels": ["x", ""]}, "labels is ''"),
        ({"properties": [1]}, "its properties are"),
        ({"properties": {1: 2}}, "a property is named '1'"),
        ({"properties": {"p": math.nan}}, "'p' holds 'nan'"),
        ({"properties": {"p": {"q": [math.inf]}}}, "'p' holds 'inf'"),
        ({"properties": {"p": datetime.now(UTC)}}, r"'p' holds .*\(datetime\)"),
        ({"properties": {"p": {1: 2}}}, "keys aren't all texts"),
        ({"properties": {"p": "\ud800"}}, "surrogate"),
        ({"embedding": []}, "embedding"),
        ({"embedding": [0.0, 0.0]}, "embedding"),
        ({"embedding": [1.0, math.nan]}, "embedding"),
        ({"embedding": ["a"]}, "embedding"),
        ({"embedding": [[1.0]]}, "embedding"),
        ({"created_at": "yesterday"}, "'yesterday' is no time"),
        ({"updated_at": 3}, "3 is no time"),
        ({"child_ids": ["a"]}, "its own parent"),
    ],
)
def test_a_node_that_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(GraphError, match=said) as caught:
        KnowledgeNode(**{"id": "a", "type": "t", **fields})
    assert caught.value.fix


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"source": ""}, "source is ''"),
        ({"target": None}, "target is None"),
        ({"type": ""}, "type is ''"),
        ({"weight": -0.1}, "weight is -0.1"),
        ({"weight": math.nan}, "weight is nan"),
        ({"weight": math.inf}, "weight is inf"),
        ({"weight": True}, "weight is True"),
        ({"weight": "1"}, "weight is '1'"),
        ({"directed": None}, "directed is None"),
        ({"supported_edge_type": "magical"}, "'magical'"),
        ({"properties": {"p": object()}}, "'p' holds"),
    ],
)
def test_an_edge_that_cannot_be_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(GraphError, match=said) as caught:
        KnowledgeEdge(**{"source": "a", "target": "b", "type": "r", **fields})
    assert caught.value.fix


def test_a_property_nested_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(60):
        value = [value]

    with pytest.raises(GraphError, match="nested"):
        KnowledgeNode("a", "t", properties={"p": value})


def test_a_record_keeps_copies_of_what_it_is_given() -> None:
    properties: dict[str, Any] = {"p": [1]}
    labels = ["x"]
    node = KnowledgeNode("a", "t", labels, properties, np.array([0.1, 0.2]).tolist())

    properties["p"].append(2)
    labels.append("y")

    assert node.properties == {"p": [1]}
    assert node.labels == ("x",)
    assert node.embedding == tuple(np.array([0.1, 0.2], dtype=np.float32).tolist())
