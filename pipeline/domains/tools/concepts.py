"""Concepts: clusters of tools that are near in meaning, named by what tells them from the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.domains.tools.records import Tool
from pipeline.domains.tools.texts import words_of_name
from pipeline.knowledge.store.communities import local_communities
from pipeline.text.labels import labels, terms_of

_SMALLEST = 2


@dataclass(frozen=True, slots=True)
class Concept:
    """A cluster of tools: its label, and the ids of its tools in order."""

    name: str
    tools: tuple[str, ...]

    @property
    def id(self) -> str:
        """The id of its node: that of its first tool, so that it stays while others come and go."""
        return f"concept:{self.tools[0]}"


def find_concepts(tools: Sequence[Tool], similar: Sequence[tuple[str, str, float]], resolution: float) -> list[Concept]:
    """Return the communities of two tools or more among ``similar`` pairs, the largest first.

    The communities are Louvain's. A label are the terms of the tools' names with the highest tf-idf.
    """
    by_id: Mapping[str, Tool] = {tool.id: tool for tool in tools}
    groups = [group for group in local_communities(by_id, similar, resolution, seed=0) if len(group) >= _SMALLEST]
    names = labels([[terms_of(words_of_name(by_id[id_].name)) for id_ in group] for group in groups])
    return [Concept(name or group[0], tuple(group)) for name, group in zip(names, groups, strict=True)]
