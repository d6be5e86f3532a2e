"""The index in memory by which tools are found: texts, embeddings, needs and flows of a tool graph."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.domains.tools.catalogue import Service, words_of_name
from pipeline.errors import GraphError
from pipeline.knowledge import KnowledgeEdge, KnowledgeNode
from pipeline.records import Vector
from pipeline.retrieve.rankers.bm25 import Inverted
from pipeline.retrieve.scoring.coverage import stem
from pipeline.text.fold import MARKS, fold
from pipeline.text.index_words import compared_words
from pipeline.text.names import FUNCTION_WORDS

Scores = NDArray[np.float64]

_DIGITS = 6  # digits of a cosine that count, so that equal texts tie

_WORD = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
    f"|[^\\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+(?:[{MARKS}]+[^\\W_\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]*)*"
)
"""A single ideograph, or a word of letters and digits."""


@dataclass(frozen=True, slots=True)
class IndexedTool:
    """A tool of an index; ``service`` is the id of its service, ``needs`` are the ids of the tools that it needs."""

    id: str
    name: str
    service: str
    description: str = ""
    parameters: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToolIndex:
    """The tools of a graph in the order of their ids, and their services.

    ``vectors`` has a row for each tool, ``service_vectors`` one for each service, all 0 for a text without embedding.
    ``service_rows`` is the row of each tool's service, ``needs`` what each tool needs. A row of ``flows`` has the rows
    of a tool and of another tool of its service, of which an input takes an output of the first.
    ``bm25`` holds the terms of the name, description, parameters and service of each tool; None if there is no term.
    """

    tools: Sequence[IndexedTool]
    services: Sequence[Service]
    vectors: Vector
    service_vectors: Vector
    service_rows: NDArray[np.intp]
    needs: Mapping[str, Sequence[str]]
    flows: NDArray[np.intp]
    bm25: Inverted | None

    @classmethod
    def of(
        cls,
        tools: Sequence[IndexedTool],
        services: Sequence[Service],
        vectors: Mapping[str, Vector],
        flows: Iterable[tuple[str, str]] = (),
    ) -> Self:
        """Return the index of some tools; ``vectors`` are those of tools and services, by id.

        ``flows`` are the ids of tools where an output of the first fits an input of the second. A service that a tool
        names and ``services`` lack is one without a text.
        """
        tools = sorted(tools, key=lambda tool: tool.id)
        known = {service.id: service for service in services}
        used = [known.get(id_) or Service(id_, "") for id_ in sorted({tool.service for tool in tools})]
        service_rows = {service.id: row for row, service in enumerate(used)}
        terms = [terms_of(_words(tool, used[service_rows[tool.service]])) for tool in tools]
        rows = {tool.id: (row, tool.service) for row, tool in enumerate(tools)}
        ends = sorted((rows[source], rows[target]) for source, target in flows if source in rows and target in rows)
        within = [(source, target) for (source, one), (target, other) in ends if one == other]
        return cls(
            tools,
            used,
            _stacked([tool.id for tool in tools], vectors),
            _stacked([service.id for service in used], vectors),
            np.array([service_rows[tool.service] for tool in tools], dtype=np.intp),
            {tool.id: tool.needs for tool in tools},
            np.array(within, dtype=np.intp).reshape(-1, 2),
            Inverted(terms) if any(terms) else None,
        )

    @classmethod
    def of_nodes(
        cls, tools: Sequence[KnowledgeNode], services: Sequence[KnowledgeNode], flows: Iterable[KnowledgeEdge]
    ) -> Self:
        """Return the index of the nodes and edges of a graph; ``flows`` are its flows of data."""
        embedded = (node for node in (*tools, *services) if node.embedding)
        vectors = {node.id: np.array(node.embedding, dtype=np.float32) for node in embedded}
        texts = ((node.id, _texts(node, "name", "description")) for node in services)
        described = [Service(id_, name, description) for id_, (name, description) in texts]
        return cls.of(list(map(_tool, tools)), described, vectors, ((edge.source, edge.target) for edge in flows))

    def cosines(self, vector: Vector) -> Vector:
        """Return the cosine of every tool's text to a vector, by row; raises GraphError if it has another length."""
        return _cosines(self.vectors, vector)

    def service_cosines(self, vector: Vector) -> Vector:
        """Return the cosine of the text of every tool's service to a vector, by row; see :meth:`cosines`."""
        return _cosines(self.service_vectors, vector)[self.service_rows]

    def bm25_scores(self, text: str) -> Scores:
        """Return the BM25 score of every tool for a text, by row."""
        return np.zeros(len(self.tools)) if self.bm25 is None else self.bm25.get_scores(terms_of(text))


def words_of(text: str) -> list[str]:
    """Return the words of a text, with repeats; function words only if there are no others.

    An ideograph is a word of its own, since no spaces tell words apart.
    """
    every = _WORD.findall(fold(text))
    return [word for word in every if word.lower() not in FUNCTION_WORDS] or every


def terms_of(text: str) -> list[str]:
    """Return the stems of the words of a text, with repeats."""
    return [stem(part) for word in words_of(text) for part in compared_words(word)]


def _tool(node: KnowledgeNode) -> IndexedTool:
    values: Mapping[str, Any] = node.properties
    name, service, description = _texts(node, "name", "service", "description")
    parameters, needs = (tuple(map(str, values.get(each, ()))) for each in ("parameters", "needs"))
    return IndexedTool(node.id, name or node.id, service, description, parameters, needs)


def _texts(node: KnowledgeNode, *names: str) -> tuple[str, ...]:
    return tuple(str(node.properties.get(name, "")) for name in names)


def _words(tool: IndexedTool, service: Service) -> str:
    split = (parameter.partition(":") for parameter in tool.parameters)
    parameters = (f"{words_of_name(name)} {description}" for name, _, description in split)
    return "\n".join([words_of_name(tool.name), tool.description, *parameters, service.name, service.description])


def _cosines(vectors: Vector, vector: Vector) -> Vector:
    """Return the rounded cosine of each row to a vector."""
    if not vectors.size:
        return np.zeros(len(vectors), dtype=np.float32)
    if vectors.shape[1] != len(vector):
        raise GraphError(
            f"The tools' texts have embeddings of {vectors.shape[1]} numbers, the task one of {len(vector)}.",
            "Give the model that the graph was built with, or build it again.",
        )
    return np.round(vectors @ vector, _DIGITS)


def _stacked(ids: Sequence[str], vectors: Mapping[str, Vector]) -> Vector:
    """Return the vectors of ids, row by row; an id without one has a row of 0."""
    dimension = len(next(iter(vectors.values()), ()))
    missing = np.zeros(dimension, dtype=np.float32)
    return np.array([vectors.get(id_, missing) for id_ in ids], dtype=np.float32).reshape(len(ids), dimension)
