"""Explanations of a ranking: the path to each hit, the contributions of features, and the share of the graph."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neo4j import Record

from pipeline.records import Hit, PathStep
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.retrieve.scoring.scorer import graph_share
from pipeline.retrieve.trace import RankingTrace

_SEEDS_TRIED = 12
_SEED = PathStep("Seed", "vector and full text", "")


def explain(reader: CorpusReader, trace: RankingTrace, hits: Sequence[Hit]) -> tuple[list[Hit], dict[str, Any]]:
    """Return hits with their path and the contributions of features, and metadata that explains the whole result.

    The metadata is the confidence in each name of the question and, if the scorer was fused, the graph's share in it.
    """
    paths = _paths(reader, trace, hits)
    metadata: dict[str, Any] = {"name_confidences": {name.key: name.confidence for name in trace.names}}
    features: dict[str, dict[str, float]] = {}
    # The scorer as a leg by itself is explained by its scores.
    if trace.features is not None and len(trace.parts) > 1:
        added = reader.scorer.contributions(trace.features)
        metadata["graph_share"] = graph_share(added)
        rows = zip(trace.features.ids, added.tolist(), strict=True)
        features = {id_: dict(zip(FEATURES, row, strict=True)) for id_, row in rows}
    explained = [replace(hit, evidence=paths.get(hit.id, ()), features=features.get(hit.id, {})) for hit in hits]
    return explained, metadata


def _paths(reader: CorpusReader, trace: RankingTrace, hits: Sequence[Hit]) -> dict[str, tuple[PathStep, ...]]:
    """Return the path to each hit from a seed, from node to node."""
    titles = {hit.id: hit.title for hit in hits}
    seeds = trace.seeds.ids[:_SEEDS_TRIED]
    paths: dict[str, tuple[PathStep, ...]] = {id_: (_SEED,) for id_ in titles if id_ in seeds}
    for name in trace.names:
        if name.only_chunk in paths:
            paths[name.only_chunk] = (
                PathStep("Entity", name.name, "", name.id),
                PathStep("Chunk", titles[name.only_chunk], "MENTIONS", name.only_chunk),
            )
    for row in _shortest(reader, trace, seeds, list(titles)):
        kinds = ["", *row["kinds"]]
        steps = tuple(
            PathStep(_kind(node), node["name"] or node["id"], by, node["id"])
            for node, by in zip(row["nodes"], kinds, strict=True)
        )
        if row["id"] not in paths or steps[0].kind == "Entity":
            paths[row["id"]] = steps
    # A hit of vector or full text may be far from any seed.
    direct = {id_ for ranking, _ in trace.parts if ranking.leg == Leg.HYBRID for id_ in ranking.ids}
    return {id_: (_SEED,) for id_ in titles if id_ in direct} | paths


def _shortest(reader: CorpusReader, trace: RankingTrace, seeds: list[str], hits: list[str]) -> list[Record]:
    if not (seeds and hits):
        return []
    corpus = reader.corpus.at(trace.generation)
    if trace.matches is None:
        return corpus.read("paths", seeds=seeds, hits=hits)
    ids, documents = list(trace.matches.ids), list(trace.matches.documents)
    return corpus.read("filtered_paths", seeds=seeds, hits=hits, ids=ids, documents=documents)


def _kind(node: Mapping[str, Any]) -> str:
    return next(label for label in ("Chunk", "Document", "Entity") if label in node["labels"])
