"""The store for LangGraph: JSON values under namespaces and keys, found by meaning; needs the extra ``langgraph``."""

import asyncio
import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from typing import Any, TypeAlias

from pipeline.api import HopRank
from pipeline.db.catalogue import NamedGraph, check_graph, find_graph
from pipeline.db.corpus import read_whole
from pipeline.db.indexes import cosine_of
from pipeline.errors import ExtraMissing, FilterError, InputError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.knowledge.clock import now
from pipeline.knowledge.edit import EdgesRead, Edits
from pipeline.knowledge.store.codec import read_node
from pipeline.records import Precision
from pipeline.retrieve.question import check_question

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise ExtraMissing.of("langgraph", error) from error

ITEM = "item"
"""The type of an item's node."""

_ALL = 2**31 - 1
"""More than the items of any store: the limit of a query whose rows are filtered here."""

_Namespace: TypeAlias = tuple[str, ...]


class HopRankStore(BaseStore):
    """A knowledge graph as LangGraph's store: each item is one of its nodes, with the value as it was put.

    The first put makes the graph; one that isn't there is an empty store. All puts of a batch are one transaction,
    after its reads; of several for one key the last counts. An update keeps ``created_at``.

    The texts at ``fields``, or at the paths of a put's ``index``, are embedded together, by the model of the
    connection; "$" is the whole value. A search with a ``query`` ranks all items below its namespace by their cosines,
    exactly; those without an embedding come last, without a score. Without a query the last written come first.

    In a filter ``$gt``, ``$gte``, ``$lt`` and ``$lte`` compare numbers with numbers and texts with texts, and nothing
    else matches; a field that isn't there is null. Items don't expire. Raises GraphError for what JSON can't say,
    FilterError for an unknown operator, InvalidNamespaceError as LangGraph does. Thread-safe; awaited, it works in a
    thread.

    Example::

        store = HopRankStore(hoprank, "agents")
        store.put(("users", "ada"), "food", {"text": "Ada likes plums."})
        found = store.search(("users",), query="fruit", filter={"text": {"$ne": ""}})
    """

    def __init__(self, hoprank: HopRank, name: str = "store", fields: Sequence[str] = ("$",)) -> None:
        self.hoprank = hoprank
        self.name = name
        self.fields = tuple(fields)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do what :meth:`batch` does, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer the reads, then write the puts, all or none; return a result for each, None for a put."""
        given = list(ops)
        for op in given:
            validate_op_namespace(op)
        puts = [op for op in given if isinstance(op, PutOp)]
        results: list[Result] = [None] * len(given)
        if len(puts) < len(given):
            results = read_whole(lambda: self._read(given))
        if puts:
            self._write(puts)
        return results

    def _read(self, ops: Sequence[Op]) -> list[Result]:
        """Answer the reads on the graph of the name; raises Superseded if another takes the name meanwhile."""
        graph = find_graph(self.hoprank.client, self.name)
        ids = [_id(op.namespace, op.key) for op in ops if isinstance(op, GetOp)]
        nodes = self.hoprank.graph_of(graph).get_nodes(ids) if graph and ids else ()
        stored = {node.id: node for node in nodes}
        results = [self._answer(graph, stored, op) for op in ops]
        if graph:
            check_graph(self.hoprank.client, graph)
        return results

    def _answer(self, graph: NamedGraph | None, stored: Mapping[str, KnowledgeNode], op: Op) -> Result:
        match op:
            case PutOp():
                return None
            case GetOp():
                node = stored.get(_id(op.namespace, op.key))
                return Item(**_fields(node)) if node else None
            case SearchOp():
                return self._search(graph, op)
            case ListNamespacesOp():
                return self._namespaces(graph, op)
        raise InputError(f"{str(op)[:80]} is no operation of a store.", "Give those of langgraph.store.base.")

    def _search(self, graph: NamedGraph | None, op: SearchOp) -> list[SearchItem]:
        _check_page(op)
        meets, end = _fields_meet(op.filter or {}), op.offset + op.limit
        vector = self.hoprank.embedder.embed_query(check_question(op.query)) if op.query else None
        if graph is None:
            return []
        rows = self.hoprank.client.stream(
            "items_below",
            graph=graph.id,
            type=ITEM,
            prefix=list(op.namespace_prefix),
            vector=vector,
            limit=_ALL if op.filter else end,
        )
        items = (_found(row["stored"], row["score"]) for row in rows)
        return list(islice((item for item in items if meets(item.value)), op.offset, end))

    def _namespaces(self, graph: NamedGraph | None, op: ListNamespacesOp) -> list[_Namespace]:
        _check_page(op)
        if graph is None:
            return []
        rows = self.hoprank.client.read("item_namespaces", graph=graph.id, type=ITEM)
        stored = (tuple(row["namespace"]) for row in rows)
        conditions = op.match_conditions or ()
        found = {namespace[: op.max_depth] for namespace in stored if all(_fits(namespace, one) for one in conditions)}
        return sorted(found)[op.offset : op.offset + op.limit]

    def _write(self, puts: Sequence[PutOp]) -> None:
        last = {_id(op.namespace, op.key): op for op in puts}
        new = self._embedded({id_: (op, _node(id_, op)) for id_, op in last.items() if op.value is not None})

        def decide(stored: Mapping[str, KnowledgeNode], _: Sequence[KnowledgeEdge]) -> tuple[Edits, None]:
            time = now()
            nodes = [
                replace(node, created_at=stored[node.id].created_at if node.id in stored else time, updated_at=time)
                for node in new
            ]
            return Edits(nodes, removed_nodes=[id_ for id_ in stored if last[id_].value is None]), None

        if new or find_graph(self.hoprank.client, self.name):
            graph = self.hoprank.graph(self.name)
            graph.edit(last, decide, node_types=[ITEM] if new else (), reads=EdgesRead.NONE)

    def _embedded(self, new: Mapping[str, tuple[PutOp, KnowledgeNode]]) -> list[KnowledgeNode]:
        """Return the nodes with the embeddings of their texts, as far as they have some."""
        texts = {id_: text for id_, (op, node) in new.items() if (text := self._text(op, node)).strip()}
        vectors: Any = ()
        if texts:
            vectors = self.hoprank.embedder.encode(list(texts.values()), precision=Precision.FLOAT32).tolist()
        embeddings = dict(zip(texts, vectors, strict=True))
        return [replace(node, embedding=embeddings.get(id_)) for id_, (_, node) in new.items()]

    def _text(self, op: PutOp, node: KnowledgeNode) -> str:
        if op.index is False:
            return ""
        paths = self.fields if op.index is None else op.index
        return "\n".join(text for path in paths for text in get_text_at_path(node.properties["value"], path))


def condition_of(given: Any) -> Callable[[Any], bool]:
    """Return the condition on a JSON value that a part of a filter of LangGraph is.

    It is a value, a list of conditions for the items of a list, a mapping of operators to operands, or one of fields to
    conditions. Raises FilterError for an unknown operator.
    """
    if isinstance(given, Mapping) and any(name.startswith("$") for name in given):
        checks = [partial(_operator(name), operand) for name, operand in given.items()]
        return lambda value: all(check(value) for check in checks)
    if isinstance(given, Mapping):
        return _fields_meet(given)
    if isinstance(given, list | tuple):
        items = list(map(condition_of, given))
        return lambda value: (
            isinstance(value, list)
            and len(value) == len(items)
            and all(check(item) for check, item in zip(items, value, strict=True))
        )
    return partial(_equal, given)


def _fields_meet(conditions: Mapping[str, Any]) -> Callable[[Any], bool]:
    checks = {name: condition_of(condition) for name, condition in conditions.items()}
    return lambda value: isinstance(value, Mapping) and all(check(value.get(name)) for name, check in checks.items())


def _equal(operand: Any, value: Any) -> bool:
    """Return whether JSON values are equal: True isn't 1, but 1 is 1.0."""
    if isinstance(operand, Mapping) and isinstance(value, Mapping):
        return operand.keys() == value.keys() and all(_equal(operand[name], value[name]) for name in value)
    if isinstance(operand, list | tuple) and isinstance(value, list):
        return len(operand) == len(value) and all(map(_equal, operand, value))
    return isinstance(operand, bool) == isinstance(value, bool) and bool(operand == value)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def check(operand: Any, value: Any) -> bool:
        kind = _kind(value)
        return kind is not None and kind == _kind(operand) and compare(value, operand)

    return check


def _kind(value: Any) -> str | None:
    """Return the kind of a value that has an order."""
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else None


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "$eq": _equal,
    "$ne": lambda operand, value: not _equal(operand, value),
    "$gt": _ordered(operator.gt),
    "$gte": _ordered(operator.ge),
    "$lt": _ordered(operator.lt),
    "$lte": _ordered(operator.le),
}


def _operator(name: str) -> Callable[[Any, Any], bool]:
    if name not in _OPERATORS:
        raise FilterError(f"A filter has the operator {name[:50]!r}.", f"Use {', '.join(_OPERATORS)}.")
    return _OPERATORS[name]


def _check_page(op: SearchOp | ListNamespacesOp) -> None:
    if op.limit < 0 or op.offset < 0:
        raise InputError(f"limit={op.limit} and offset={op.offset} can't be.", "Give 0 or more.")


def _id(namespace: _Namespace, key: str) -> str:
    return json.dumps([*namespace, key], ensure_ascii=False)


def _node(id_: str, op: PutOp) -> KnowledgeNode:
    if not isinstance(op.value, Mapping):
        raise InputError(f"The value of {op.key[:50]!r} is {str(op.value)[:50]!r}.", "Give a mapping.")
    if op.ttl is not None:
        raise InputError(f"{op.key[:50]!r} is to expire, which items of HopRank don't.", "Leave ttl out.")
    return KnowledgeNode(id_, ITEM, properties={"path": [*op.namespace, op.key], "value": op.value})


def _fields(node: KnowledgeNode) -> dict[str, Any]:
    """Return the fields of the item that a node holds."""
    path: Any = node.properties["path"]
    return {
        "value": node.properties["value"],
        "namespace": tuple(path[:-1]),
        "key": path[-1],
        "created_at": datetime.fromisoformat(str(node.created_at)),
        "updated_at": datetime.fromisoformat(str(node.updated_at)),
    }


def _found(stored: Mapping[str, Any], score: float | None) -> SearchItem:
    return SearchItem(**_fields(read_node(stored, None, ())), score=None if score is None else cosine_of(score))


def _fits(namespace: _Namespace, condition: MatchCondition) -> bool:
    length = len(condition.path)
    labels = namespace[:length] if condition.match_type == "prefix" else namespace[len(namespace) - length :]
    return len(namespace) >= length and all(
        wanted in ("*", label) for wanted, label in zip(condition.path, labels, strict=True)
    )
