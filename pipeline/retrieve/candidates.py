"""The first stage of a search: candidates by vector and full text, the question's names, and what is around both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from neo4j.vector import Vector as DriverVector

from pipeline.db.catalogue import Corpus
from pipeline.db.client import Client
from pipeline.ids import entity_id
from pipeline.retrieve.expansion import Neighbourhood, neighbourhood
from pipeline.retrieve.fusion import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import PossibleName, fulltext_query, longest_names, possible_names
from pipeline.retrieve.scoring.confidence import NamedEntity

HYBRID_K = 60
"""k of the hybrid leg's fusion: a fixed yardstick, never tuned."""


class StartSettings(NamedTuple):
    """Limits of the first stage.

    ``candidates`` are found by each of vector and full text, ``seeds`` of both fused are expanded; with 0 only
    candidates are fetched. ``hub``: entities with more mentions are not expanded. ``unnamed``: questions that name no
    entity are expanded too.
    """

    candidates: int
    seeds: int
    hub: int
    unnamed: bool = True


_NOTHING: Mapping[str, Any] = {
    **dict.fromkeys(("generation", "chunks", "entities"), 0),
    **dict.fromkeys(("near", "near_scores", "matching", "matching_scores", "named"), ()),
    **dict.fromkeys(("mentions", "links", "backlinks", "beside"), ()),
}
"""What is found in a corpus that is no more."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the first stage finds in one generation of a corpus of so many ``chunks``; ``nodes`` counts entities too.

    ``around`` is what the first of ``hybrid`` and the names are linked to.
    """

    generation: int
    chunks: int
    nodes: int
    vector: Ranked
    fulltext: Ranked
    hybrid: Ranked
    names: tuple[NamedEntity, ...]
    around: Neighbourhood


def begin(
    client: Client,
    corpus: Corpus,
    question: str,
    vector: Sequence[float],
    settings: StartSettings,
    seeds: Sequence[str] | None = None,
) -> Start:
    """Find candidates by vector and full text, the names in the question, and what is around them, in one round trip.

    With ``seeds``, chunks by id, no candidates are looked for: these are what the neighbourhood is of.
    """
    possible = possible_names(question) if settings.seeds else []
    keys = {entity_id(corpus.id, name.key): name.key for name in possible}
    rows = client.read(
        "explore",
        {"vector_index": corpus.vector_index},
        corpus=corpus.id,
        vector=packed(vector),
        index=corpus.label,
        text=fulltext_query(question),
        limit=settings.candidates,
        names=list(keys),
        seeds=None if seeds is None else list(seeds),
        first=settings.seeds,
        k=HYBRID_K,
        hub=settings.hub,
        unnamed=settings.unnamed,
    )
    row = rows[0] if rows else _NOTHING
    near, matching = vector_ranking(row), fulltext_ranking(row)
    hybrid = fuse(Leg.HYBRID, [(near, 1.0), (matching, 1.0)], HYBRID_K)
    known = {keys[named["id"]]: named for named in row["named"]}
    names = tuple(_named(name, known[name.key]) for name in longest_names(possible, known))
    first = hybrid.ids[: settings.seeds] if seeds is None else seeds
    only = [name.only_chunk for name in names if name.only_chunk]
    around = neighbourhood(row, {*first, *only}, {name.id for name in names})
    nodes = row["chunks"] + row["entities"]
    return Start(row["generation"], row["chunks"], nodes, near, matching, hybrid, names, around)


def by_vector(client: Client, corpus: Corpus, vector: Sequence[float], limit: int) -> tuple[int, Ranked]:
    """Return the visible generation and the chunks nearest to a vector; scores are cosines."""
    names = {"vector_index": corpus.vector_index}
    rows = client.read("vector_candidates", names, corpus=corpus.id, vector=packed(vector), limit=limit)
    row = rows[0] if rows else _NOTHING
    return row["generation"], vector_ranking(row)


def by_words(client: Client, corpus: Corpus, question: str, limit: int) -> tuple[int, Ranked]:
    """Return the visible generation and the chunks that match the question's words best; scores are Lucene's."""
    text = fulltext_query(question)
    rows = client.read("fulltext_candidates", corpus=corpus.id, index=corpus.label, text=text, limit=limit)
    row = rows[0] if rows else _NOTHING
    return row["generation"], fulltext_ranking(row)


def packed(vector: Sequence[float]) -> DriverVector:
    """Wrap a vector in the driver's binary form."""
    return DriverVector.from_numpy(np.asarray(vector, dtype=np.float32))


def vector_ranking(row: Mapping[str, Any]) -> Ranked:
    """Return the chunks that a query's row has as ``near``, the index's scores, (1 + cosine) / 2, made cosines."""
    scores = zip(row["near"], row["near_scores"], strict=True)
    return ranked(Leg.VECTOR, {id_: 2 * score - 1 for id_, score in scores})


def fulltext_ranking(row: Mapping[str, Any]) -> Ranked:
    """Return the chunks that a query's row has as ``matching``, with Lucene's scores."""
    return ranked(Leg.FULLTEXT, dict(zip(row["matching"], row["matching_scores"], strict=True)))


def _named(name: PossibleName, row: Mapping[str, Any]) -> NamedEntity:
    frequency = row["frequency"]
    only_chunk = row["chunk"] if frequency == 1 else None
    return NamedEntity(row["id"], name.key, row["name"], frequency, only_chunk, row["about"] > 0, name.capitalised)
