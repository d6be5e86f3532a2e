"""The evidence of a hit: a path through the graph as one line with arrows."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pipeline.edges import words

Step = Mapping[str, str]
"""A node of a path: its ``kind``, its ``name``, and ``by``, the type of the relationship that leads to it."""


def evidence_line(steps: Sequence[Step]) -> str:
    """Return a hit's ``evidence`` as ``A —mentions→ B —is mentioned in→ C``; entities in quotes.

    The step between a document and its own chunk is left out: to a reader they are one place.
    """
    if not steps:
        return "no path of up to eight steps from a seed"
    if steps[0]["kind"] == "Seed":
        return f"found by {steps[0]['name']}"
    line = _name(steps[0])
    for before, after in pairwise(steps):
        if not (after["by"] == "PART_OF" and after["name"] == before["name"]):
            line += f" —{_relation(before, after)}→ {_name(after)}"
    return line


def _name(step: Step) -> str:
    return f"“{step['name']}”" if step["kind"] == "Entity" else step["name"]


def _relation(before: Step, after: Step) -> str:
    # Every relationship starts at a chunk; those that also end at one read the same both ways.
    return words(after["by"], along=before["kind"] == "Chunk")
