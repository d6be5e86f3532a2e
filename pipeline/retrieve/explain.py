"""Hits as they are shown: the passage, where it is from, every leg's rank and score, and the path that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from neo4j import Record

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.records import Hit, LegRank, PathStep
from pipeline.retrieve.filters.matches import Admitted
from pipeline.retrieve.hits import read_hits
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem
from pipeline.retrieve.retriever import Found
from pipeline.retrieve.scoring.features import FEATURES
from pipeline.retrieve.scoring.scorer import graph_share

_SEEDS_TRIED = 12
_SEED = PathStep("Seed", "vector and full text", "")


def present(
    client: Client, corpus: Corpus, found: Found, top_k: int, *, explain: bool, admitted: Admitted | None = None
) -> RetrieverResult:
    """Return the best ``top_k`` chunks of a ranking with all that a reader needs; ``explain`` adds each one's path.

    ``admitted`` are those that the question's filter let answer, if it had one: no path leads through others.
    """
    top = found.ranking.ids[:top_k]
    missing = [id_ for id_ in top if id_ not in found.hits]
    by_id = {**found.hits, **read_hits(client, corpus, missing, found.generation)}
    shown = [by_id[id_] for id_ in top if id_ in by_id]
    legs = _leg_ranks(found, [hit.id for hit in shown])
    hits = [
        replace(hit, rank=rank, score=found.ranking.scores[hit.id], legs=legs[hit.id])
        for rank, hit in enumerate(shown, 1)
    ]
    if explain:
        paths = _paths(client, found, hits, admitted)
        features = _feature_contributions(found)
        hits = [replace(hit, evidence=paths.get(hit.id, ()), features=features.get(hit.id, {})) for hit in hits]
    metadata = {
        "corpus": corpus.name,
        "leg": str(found.ranking.leg),
        "names": [name.key for name in found.names],
        "engine": found.engine,
        "confidence": found.confidence,
        **(_explained(found) if explain else {}),
        **({} if admitted is None else {"filter": _filter_summary(admitted)}),
    }
    return RetrieverResult(tuple(map(RetrieverResultItem.of, hits)), metadata, tuple(hits))


def _explained(found: Found) -> dict[str, Any]:
    """Return how sure each name is, and the share of the scorer's order that the graph decides, if it was asked."""
    names = {name.key: name.confidence for name in found.names}
    led = {} if found.contributions is None else {"graph_share": graph_share(found.contributions)}
    return {"name_confidences": names, **led}


def _feature_contributions(found: Found) -> dict[str, dict[str, float]]:
    """Return what each feature adds to the score of each candidate, against the candidates' mean."""
    if found.examined is None or found.contributions is None:
        return {}
    rows = zip(found.examined.ids, found.contributions.tolist(), strict=True)
    return {id_: dict(zip(FEATURES, row, strict=True)) for id_, row in rows}


def _filter_summary(admitted: Admitted) -> dict[str, Any]:
    return {"admitted": len(admitted), "chunks": admitted.total, "unknown_fields": list(admitted.unknown)}


def _leg_ranks(found: Found, ids: Sequence[str]) -> dict[str, dict[str, LegRank]]:
    """Return for each of ``ids`` the place that every leg gives it."""
    places: dict[str, dict[str, LegRank]] = {id_: {} for id_ in ids}
    for ranking, weight in found.parts:
        ranks = ranking.ranks()
        for id_ in (id_ for id_ in ids if id_ in ranks):
            rank = ranks[id_]
            whole = found.ranking.scores.get(id_, 0.0)
            share = weight / (found.k + rank) / whole if whole and len(found.parts) > 1 else 1.0
            places[id_][str(ranking.leg)] = LegRank(rank=rank, score=ranking.scores[id_], share=share)
    return places


def _paths(
    client: Client, found: Found, hits: Sequence[Hit], admitted: Admitted | None
) -> dict[str, tuple[PathStep, ...]]:
    """Return for each hit the steps from a seed: each node's kind and name, and the relationship that led to it."""
    titles = {hit.id: hit.title for hit in hits}
    seeds = found.seeds.ids[:_SEEDS_TRIED]
    paths: dict[str, tuple[PathStep, ...]] = {id_: (_SEED,) for id_ in titles if id_ in seeds}
    for name in found.names:
        if name.only_chunk in paths:
            paths[name.only_chunk] = (
                PathStep("Entity", name.name, ""),
                PathStep("Chunk", titles[name.only_chunk], "MENTIONS"),
            )
    for row in _shortest(client, found.generation, seeds, list(titles), admitted):
        kinds = ["", *row["kinds"]]
        steps = tuple(
            PathStep(_kind(node), node["name"] or node["id"], by) for node, by in zip(row["nodes"], kinds, strict=True)
        )
        if row["id"] not in paths or steps[0].kind == "Entity":
            paths[row["id"]] = steps
    # Beyond the seeds a hit may be one of vector and full text alone, far from all that was walked to.
    direct = {id_ for ranking, _ in found.parts if ranking.leg == Leg.HYBRID for id_ in ranking.ids}
    return {id_: (_SEED,) for id_ in titles if id_ in direct} | paths


def _shortest(
    client: Client, generation: int, seeds: list[str], hits: list[str], admitted: Admitted | None
) -> list[Record]:
    if not (seeds and hits):
        return []
    if admitted is None:
        return client.read("paths", generation=generation, seeds=seeds, hits=hits)
    return client.read(
        "paths_within",
        generation=generation,
        seeds=seeds,
        hits=hits,
        ids=list(admitted.ids),
        documents=list(admitted.documents),
    )


def _kind(node: Mapping[str, Any]) -> str:
    return next(label for label in ("Chunk", "Document", "Entity") if label in node["labels"])
