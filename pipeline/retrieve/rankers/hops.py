"""The hops leg: chunks ranked by their links to the seeds, each link counted once, without a walk."""

import math
from collections import defaultdict

from pipeline.edges import REFERENCES, EdgeKind
from pipeline.retrieve.expansion import Neighbourhood
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.seeds import Seeds
from pipeline.retrieve.trace import RankingTrace

# The gains of this leg are chosen by hand; not measured.
_ABOUT = 2.0  # of a chunk about a name; of one that mentions it: 1
_BACK = 0.5  # of a chunk that refers to a seed; of one that a seed refers to: its share of the document
_BESIDE = 0.1  # of a similar chunk, times its cosine
_NEXT = 0.5  # of a chunk next to a seed, in place of the cosine


def rank(reader: CorpusReader, trace: RankingTrace) -> RankingTrace:
    """Rank by the links around the seeds."""
    return trace.ranked(rank_by_hops(trace.candidates.neighbourhood, trace.seeds, reader.settings.retrieve.candidates))


def rank_by_hops(neighbourhood: Neighbourhood, seeds: Seeds, limit: int) -> Ranked:
    """Rank the ``limit`` chunks that gain most from the seeds.

    An entity that is a seed passes its weight to each chunk that mentions it, and twice that to a chunk about it. An
    entity that a seed mentions passes on a share that falls with its frequency.
    """
    chunks = seeds.chunks
    gains: dict[str, list[float]] = defaultdict(list)
    for chunk, weight in chunks.items():
        gains[chunk].append(weight)
    for id_, entity in neighbourhood.entities.items():
        named = seeds.entities.get(id_, 0.0)
        through = neighbourhood.rarity(id_) / (1 + math.log(neighbourhood.chunks)) / entity.frequency
        arriving = math.fsum(chunks.get(chunk, 0.0) for chunk in entity.chunks) * through
        for chunk, about in entity.chunks.items():
            gain = named + arriving - chunks.get(chunk, 0.0) * through
            gains[chunk].append(gain * (_ABOUT if about else 1.0))
    for link in neighbourhood.links:
        if link.kind in REFERENCES:
            forth, back = link.share, _BACK
        else:
            forth = back = _BESIDE * (link.share if link.kind is EdgeKind.SIMILAR else _NEXT)
        gains[link.target].append(chunks.get(link.source, 0.0) * forth)
        gains[link.source].append(chunks.get(link.target, 0.0) * back)
    # An exact sum doesn't depend on the order in which the server returns links.
    scores = {chunk: total for chunk, terms in gains.items() if (total := math.fsum(terms)) > 0}
    return ranked(Leg.HOPS, scores).first(limit)
