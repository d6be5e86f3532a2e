"""The first stage of a search: candidates by vector and full text, the question's names, and their expansion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from pipeline.db.indexes import cosine_of
from pipeline.db.vectors import packed
from pipeline.ids import entity_id
from pipeline.retrieve.expansion import ExploreRow, Neighbourhood, neighbourhood
from pipeline.retrieve.fusion import Ranked, fuse, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_query, longest_names, possible_names
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.scoring.confidence import NamedEntity
from pipeline.text.inflection import language_of

HYBRID_K = 60
"""k of the hybrid leg's fusion: a fixed yardstick, never tuned."""


class CandidateLimits(NamedTuple):
    """Limits of the first stage.

    ``candidates``: number of each of vector and full text. ``seeds``: number of the first of both fused that are
    expanded; with 0 only candidates are fetched. ``hub``: entities with more mentions are not expanded. ``unnamed``:
    questions that name no entity are expanded too.
    """

    candidates: int
    seeds: int
    hub: int
    unnamed: bool = True


_NOTHING = cast(
    ExploreRow,
    {"generation": 0, "chunks": 0, "entities": 0}
    | dict.fromkeys(ExploreRow.__required_keys__ - {"generation", "chunks", "entities"}, ()),
)
"""The row of a corpus that was never published, whose indexes may be missing."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The candidates in a generation of a corpus of so many ``chunks``; ``nodes`` counts its entities too.

    ``hybrid`` fuses ``vector`` and ``fulltext``. ``neighbourhood`` is the expansion around the first of ``hybrid`` and
    the ``names`` of the question.
    """

    generation: int
    chunks: int
    nodes: int
    vector: Ranked
    fulltext: Ranked
    hybrid: Ranked
    names: tuple[NamedEntity, ...]
    neighbourhood: Neighbourhood


NO_CANDIDATES: Candidates = Candidates(
    0, 0, 0, Ranked(Leg.VECTOR, {}), Ranked(Leg.FULLTEXT, {}), Ranked(Leg.HYBRID, {}), (), Neighbourhood(0, {}, ())
)


def explore(
    reader: CorpusReader,
    question: str,
    vector: Sequence[float],
    limits: CandidateLimits,
    seeds: Sequence[str] | None = None,
    boxes: Sequence[Sequence[Sequence[str]]] = (),
) -> Candidates:
    """Find candidates by vector and full text, the names in the question, and their expansion, in one round trip.

    Without a vector, candidates are found by full text alone. With ``seeds``, chunks by id, no candidates are searched
    for, and these chunks are expanded. With ``boxes`` of a filter's keys the expansion keeps to the chunks in them.
    """
    possible = possible_names(question, language_of(reader.corpus.record.analyzer)) if limits.seeds else []
    keys = {entity_id(reader.corpus.id, name.key): name.key for name in possible}
    row = cast(
        ExploreRow,
        reader.corpus.read_visible(
            "explore",
            _NOTHING,
            vector=packed(vector) if len(vector) else None,
            text=fulltext_query(question),
            limit=limits.candidates,
            names=list(keys),
            seeds=None if seeds is None else list(seeds),
            first=limits.seeds,
            k=HYBRID_K,
            hub=limits.hub,
            unnamed=limits.unnamed,
            boxes=list(boxes),
        ),
    )
    near, matching = vector_ranking(row), fulltext_ranking(row)
    hybrid = fuse_hybrid(near, matching)
    known = {keys[named["id"]]: named for named in row["named"]}
    names = []
    for name in longest_names(possible, known):
        found = known[name.key]
        about = found["id"], name.key, found["name"], found["frequency"], found["chunk"], found["about"]
        if found["admitted"]:
            names.append(NamedEntity(*about, name.capitalised))
    first = hybrid.ids[: limits.seeds] if seeds is None else seeds
    only = [name.only_chunk for name in names if name.only_chunk]
    around = neighbourhood(row, {*first, *only}, {name.id for name in names}, lambda: reader.scale)
    nodes = row["chunks"] + row["entities"]
    return Candidates(row["generation"], row["chunks"], nodes, near, matching, hybrid, tuple(names), around)


def vector_search(reader: CorpusReader, vector: Sequence[float], limit: int) -> tuple[int, Ranked]:
    """Return the visible generation and the chunks nearest to a vector; scores are cosines."""
    row = reader.corpus.read_visible("vector_candidates", _NOTHING, vector=packed(vector), limit=limit)
    return row["generation"], vector_ranking(row)


def fulltext_search(reader: CorpusReader, question: str, limit: int) -> tuple[int, Ranked]:
    """Return the visible generation and the chunks that match the question's words best; scores are Lucene's."""
    row = reader.corpus.read_visible("fulltext_candidates", _NOTHING, text=fulltext_query(question), limit=limit)
    return row["generation"], fulltext_ranking(row)


def fuse_hybrid(vector: Ranked, fulltext: Ranked) -> Ranked:
    """Fuse the rankings of vector and full text as the hybrid leg does."""
    return fuse(Leg.HYBRID, [(vector, 1.0), (fulltext, 1.0)], HYBRID_K)


def vector_ranking(row: Mapping[str, Any]) -> Ranked:
    """Return the ranking in ``near`` and ``near_scores`` of a row, whose scores, (1 + cosine) / 2, become cosines."""
    scores = zip(row["near"], row["near_scores"], strict=True)
    return ranked(Leg.VECTOR, {id_: cosine_of(score) for id_, score in scores})


def fulltext_ranking(row: Mapping[str, Any]) -> Ranked:
    """Return the ranking in ``matching`` and ``matching_scores`` of a row; scores are Lucene's."""
    return ranked(Leg.FULLTEXT, dict(zip(row["matching"], row["matching_scores"], strict=True)))
