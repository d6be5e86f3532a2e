"""All that the graph has of a corpus, as sets of tuples without its ids, so that two corpora compare."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import neo4j
import numpy as np

from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.indexes import LIVE

Dump = dict[str, set[tuple[Any, ...]]]


def dump(client: Client, cypher: Callable[..., list[neo4j.Record]], name: str) -> Dump:
    corpus = get_corpus(client, name)
    found: Dump = defaultdict(set)
    names: dict[str, Any] = {}
    nodes = cypher(
        "MATCH (n) WHERE $label IN labels(n) OR (n.corpus = $id AND n:HopRankDocument|HopRankEntity|HopRankTally)"
        " RETURN labels(n) AS labels, properties(n) AS p",
        label=corpus.label,
        id=corpus.id,
    )
    for row in nodes:
        if "HopRankTally" in row["labels"]:
            add_counts(found, corpus.generation, row["p"])
            continue
        kind, name_of, values = node_tuple(row["labels"], row["p"])
        names[row["p"]["id"]] = name_of
        add(found, corpus.generation, kind, values, row["p"])
    edges = cypher(
        "MATCH (c)-[r]->(t) WHERE $label IN labels(c) RETURN c.id AS c, type(r) AS kind, properties(r) AS p, t.id AS t",
        label=corpus.label,
    )
    for row in edges:
        ends = (names[row["c"]], names[row["t"]])
        evidence = [
            tuple(value) if isinstance(value, list) else value
            for key, value in sorted(row["p"].items())
            if key not in ("since", "until")
        ]
        # SIMILAR leaves the lesser id, and ids differ from corpus to corpus.
        values = (*(sorted(ends) if row["kind"] == "SIMILAR" else ends), *evidence)
        add(found, corpus.generation, row["kind"], values, row["p"])
    found["centroids"] = centroids(corpus.generation, [(row["labels"], row["p"]) for row in nodes])
    found["sizes"] = {(corpus.documents, corpus.chunks, corpus.entities, *sorted(corpus.edges.items()))}
    return found


def centroids(generation: int, nodes: Iterable[tuple[list[str], Mapping[str, Any]]]) -> set[tuple[Any, ...]]:
    """Return the visible documents that have a centroid, after checking that it is that of their chunks."""
    visible = [(labels, p) for labels, p in nodes if "since" in p and p["since"] <= generation < p["until"]]
    vectors: dict[str, list[list[float]]] = defaultdict(list)
    for labels, p in visible:
        if "HopRankChunk" in labels:
            vectors[p["document"]].append(p["embedding"])
    documents = {p["key"]: p.get("centroid") for labels, p in visible if "HopRankDocument" in labels}
    for key, centroid in documents.items():
        assert (centroid is None) == (len(vectors[key]) < 2), f"{key} has {len(vectors[key])} chunks"
        if centroid is not None:
            mean = np.mean(vectors[key], axis=0)
            assert np.allclose(np.frombuffer(centroid, dtype="<f4"), mean / np.linalg.norm(mean), atol=1e-6), key
    return {(key,) for key, centroid in documents.items() if centroid is not None}


def add_counts(found: Dump, generation: int, p: Mapping[str, Any]) -> None:
    for key, counts in json.loads(p["counts"]).items():
        add(found, generation, "counts", (p["kind"], key, tuple(sorted(counts.items()))), p)


def node_tuple(labels: list[str], p: Mapping[str, Any]) -> tuple[str, Any, tuple[Any, ...]]:
    if "HopRankEntity" in labels:
        return "entities", p["key"], (p["key"], p["name"])
    metadata = json.dumps({key: value for key, value in p.items() if key.startswith("metadata.")}, sort_keys=True)
    if "HopRankDocument" in labels:
        return "documents", p["key"], (p["key"], p["title"], p["path"], p["hash"], metadata)
    columns = "ordinal text title heading start end line_start line_end tokens embedded".split()
    values = (
        p["document"],
        *(p[column] for column in columns),
        tuple(p["links"]),
        len(p["embedding"]),
        metadata,
    )
    return "chunks", (p["document"], p["ordinal"]), values


def add(found: Dump, generation: int, kind: str, values: tuple[Any, ...], p: Mapping[str, Any]) -> None:
    if kind != "entities" and not (p["since"] <= generation and p["until"] == LIVE):
        found["leftovers"].add((kind, *values))
        return
    assert values not in found[kind], "two of a kind"
    found[kind].add(values)
