"""Parents and children: one relationship from the child, whichever of the two named the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.db.transaction import Transaction
from pipeline.errors import GraphError
from pipeline.knowledge.records import KnowledgeNode


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A change of places: ``parents`` by child, those of them that only the parent named, and who loses its parent."""

    parents: dict[str, str] = field(default_factory=dict)
    claimed: frozenset[str] = frozenset()
    cleared: tuple[str, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[KnowledgeNode], cleared: Iterable[str] = ()) -> Hierarchy:
        """Return the places that nodes name; raises GraphError if a node is given two parents."""
        nodes = list(nodes)
        parents = {node.id: node.parent_id for node in nodes if node.parent_id is not None}
        own = frozenset(parents)
        for node in nodes:
            for child in node.child_ids:
                if parents.setdefault(child, node.id) != node.id:
                    raise _two_parents(child, parents[child], node.id)
        return cls(parents, frozenset(parents) - own, tuple(one for one in cleared if one not in parents))

    @classmethod
    def change(cls, before: KnowledgeNode, after: KnowledgeNode) -> Hierarchy:
        """Return what an update of one node changes."""
        lost = [child for child in before.child_ids if child not in after.child_ids]
        if before.parent_id is not None and after.parent_id is None:
            lost.append(after.id)
        new = set(after.child_ids) - set(before.child_ids)
        parents = dict.fromkeys(sorted(new), after.id)
        if after.parent_id is not None and after.parent_id != before.parent_id:
            parents[after.id] = after.parent_id
        return cls(parents, frozenset(new), tuple(lost))


def place(transaction: Transaction, name: str, hierarchy: Hierarchy, key: Callable[[str], str]) -> None:
    """Write a change of places.

    Raises GraphError if a parent or child isn't there, if a parent claims another's child, or a node would be its
    own ancestor.
    """
    if hierarchy.cleared:
        transaction.run("clear_parents", keys=[key(one) for one in hierarchy.cleared])
    if not hierarchy.parents:
        return
    for row in transaction.run("parents", keys=[key(one) for one in sorted(hierarchy.claimed)]):
        if row["parent"] != hierarchy.parents[row["id"]]:
            raise _two_parents(row["id"], row["parent"], hierarchy.parents[row["id"]])
    rows = [{"child": key(child), "parent": key(parent)} for child, parent in hierarchy.parents.items()]
    if transaction.run("set_parents", rows=rows)[0]["written"] < len(rows):
        raise _missing(transaction, name, hierarchy, key)
    refuse_cycles(transaction.run("own_ancestors", keys=[row["child"] for row in rows]))


def refuse_cycles(rows: Sequence[object]) -> None:
    """Raise GraphError if there is any row: the nodes that are their own ancestors."""
    if rows:
        names = ", ".join(repr(str(row["id"])[:80]) for row in rows)  # type: ignore[index]  # records of the driver
        raise GraphError(f"{names} would be their own ancestors.", "Let parents and children make a tree.")


def _missing(transaction: Transaction, name: str, hierarchy: Hierarchy, key: Callable[[str], str]) -> GraphError:
    pairs = [
        (one, other) for child, parent in hierarchy.parents.items() for one, other in ((parent, child), (child, parent))
    ]
    known = {row["id"] for row in transaction.run("known_nodes", keys=[key(one) for one, _ in pairs])}
    absent, other = next((pair for pair in pairs if pair[0] not in known), ("", ""))
    return GraphError(
        f"The node {other[:80]!r} names {absent[:80]!r} as its parent or child, which the graph {name!r} doesn't have.",
        "Add both, in one batch or the parent first.",
    )


def _two_parents(child: str, one: str, other: str) -> GraphError:
    return GraphError(
        f"The node {child[:80]!r} would have two parents, {one[:80]!r} and {other[:80]!r}.",
        "Name one; to move a node, update its parent_id.",
    )
