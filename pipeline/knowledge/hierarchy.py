"""Parents and children: one ``CHILD_OF`` relationship from the child, whether parent or child declares it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from pipeline.db.transaction import Transaction
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
    def of(cls, nodes: Iterable[KnowledgeNode], cleared: Iterable[str] = ()) -> Hierarchy:
        """Return the hierarchy that nodes declare; raises GraphError if a node gets two parents."""
        nodes = list(nodes)
        parents = {node.id: node.parent_id for node in nodes if node.parent_id is not None}
        declared = frozenset(parents)
        for node in nodes:
            for child in node.child_ids:
                if parents.setdefault(child, node.id) != node.id:
                    raise _two_parents(child, parents[child], node.id)
        orphaned = tuple(node_id for node_id in cleared if node_id not in parents)
        return cls(parents, frozenset(parents) - declared, orphaned)

    @classmethod
    def change(cls, before: KnowledgeNode, after: KnowledgeNode) -> Hierarchy:
        """Return the change that an update of one node makes."""
        lost = [child for child in before.child_ids if child not in after.child_ids]
        if before.parent_id is not None and after.parent_id is None:
            lost.append(after.id)
        new = set(after.child_ids) - set(before.child_ids)
        parents = dict.fromkeys(sorted(new), after.id)
        if after.parent_id is not None and after.parent_id != before.parent_id:
            parents[after.id] = after.parent_id
        return cls(parents, frozenset(new), tuple(lost))


def write_parents(transaction: Transaction, name: str, hierarchy: Hierarchy, key: Callable[[str], str]) -> None:
    """Write a change of the hierarchy of the graph ``name``; ``key`` maps a node's id to its key.

    Raises GraphError if a parent or child doesn't exist, if a parent claims a child of another parent, or if a node
    would become its own ancestor.
    """
    if hierarchy.cleared:
        transaction.run("clear_parents", keys=[key(node_id) for node_id in hierarchy.cleared])
    if not hierarchy.parents:
        return
    for row in transaction.run("parents", keys=[key(node_id) for node_id in sorted(hierarchy.claimed)]):
        if row["parent"] != hierarchy.parents[row["id"]]:
            raise _two_parents(row["id"], row["parent"], hierarchy.parents[row["id"]])
    rows = [{"child": key(child), "parent": key(parent)} for child, parent in hierarchy.parents.items()]
    if transaction.run("set_parents", rows=rows)[0]["written"] < len(rows):
        raise _missing(transaction, name, hierarchy, key)
    refuse_cycles(transaction.run("own_ancestors", keys=[row["child"] for row in rows]))


def refuse_cycles(rows: Sequence[object]) -> None:
    """Raise GraphError if there are any ``rows``: the nodes that are their own ancestors."""
    if rows:
        names = ", ".join(repr(str(row["id"])[:80]) for row in rows)  # type: ignore[index]  # driver records
        raise GraphError(f"{names} would be their own ancestors.", "Let parents and children make a tree.")


def _missing(transaction: Transaction, name: str, hierarchy: Hierarchy, key: Callable[[str], str]) -> GraphError:
    pairs = [pair for child, parent in hierarchy.parents.items() for pair in ((parent, child), (child, parent))]
    rows = transaction.run("existing_nodes", keys=[key(node_id) for node_id, _ in pairs])
    existing = {row["id"] for row in rows}
    absent, relative = next((pair for pair in pairs if pair[0] not in existing), ("", ""))
    return GraphError(
        f"The node {relative[:80]!r} names {absent[:80]!r} as its parent or child, "
        f"which the graph {name!r} doesn't have.",
        "Add both, in one batch or the parent first.",
    )


def _two_parents(child: str, first: str, second: str) -> GraphError:
    return GraphError(
        f"The node {child[:80]!r} would have two parents, {first[:80]!r} and {second[:80]!r}.",
        "Name one; to move a node, update its parent_id.",
    )
