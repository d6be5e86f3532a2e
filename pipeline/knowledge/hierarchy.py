"""Parents and children: one ``CHILD_OF`` relationship from the child, whether parent or child declares it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from neo4j import Record

from pipeline.errors import GraphError
from pipeline.knowledge.records import KnowledgeNode


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A change of the hierarchy.

    ``parents`` maps a child to its new parent. ``claimed`` are the children declared by the parent alone. ``cleared``
    are the nodes that lose their parent.
    """

    parents: dict[str, str] = field(default_factory=dict)
    claimed: frozenset[str] = frozenset()
    cleared: tuple[str, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[KnowledgeNode], cleared: Iterable[str] = ()) -> Self:
        """Return the hierarchy that nodes declare; raises GraphError if a node gets two parents."""
        nodes = list(nodes)
        parents = {node.id: node.parent_id for node in nodes if node.parent_id is not None}
        declared = frozenset(parents)
        for node in nodes:
            for child in node.child_ids:
                if parents.setdefault(child, node.id) != node.id:
                    raise two_parents(child, parents[child], node.id)
        orphaned = tuple(node_id for node_id in cleared if node_id not in parents)
        return cls(parents, frozenset(parents) - declared, orphaned)

    @classmethod
    def change(cls, before: KnowledgeNode, after: KnowledgeNode) -> Self:
        """Return the change that an update of one node makes."""
        lost = [child for child in before.child_ids if child not in after.child_ids]
        if before.parent_id is not None and after.parent_id is None:
            lost.append(after.id)
        new = set(after.child_ids) - set(before.child_ids)
        parents = dict.fromkeys(sorted(new), after.id)
        if after.parent_id is not None and after.parent_id != before.parent_id:
            parents[after.id] = after.parent_id
        return cls(parents, frozenset(new), tuple(lost))


def refuse_cycles(rows: Sequence[Record]) -> None:
    """Raise GraphError if there are any ``rows``: the nodes that are their own ancestors."""
    if rows:
        names = ", ".join(repr(str(row["id"])[:80]) for row in rows)
        raise GraphError(f"{names} would be their own ancestors.", "Let parents and children make a tree.")


def two_parents(child: str, first: str, second: str) -> GraphError:
    """Return the error of a child with two parents."""
    return GraphError(
        f"The node {child[:80]!r} would have two parents, {first[:80]!r} and {second[:80]!r}.",
        "Name one; to move a node, update its parent_id.",
    )
