"""Paths: how the graph leads from the question to each hit, along the likeliest steps of the walk.

A step through a chunk has the sentence that leads on: one that names what comes next, else what came before; of several
the one with most words of the question that no earlier sentence of the path holds.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from heapq import heappop, heappush
from itertools import chain, starmap
from typing import NamedTuple, TypeAlias

from pipeline.edges import REFERENCES, EdgeKind
from pipeline.ids import document_id
from pipeline.records import Hit, PathStep
from pipeline.retrieve.expansion import Mentions, Neighbourhood
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.scoring.confidence import mentions_of
from pipeline.retrieve.scoring.coverage import stems, terms_of
from pipeline.retrieve.scoring.features import TEXT_FEATURES
from pipeline.retrieve.trace import RankingTrace
from pipeline.settings import WalkSettings
from pipeline.text.plain import plain_sentences
from pipeline.text.prose import one_line, telling_sentences

_LONGEST = 280  # characters of a sentence; chosen by hand, as many as an excerpt has
_SEARCHES: Mapping[str, str] = {Leg.VECTOR: "vector", Leg.FULLTEXT: "full text", Leg.BM25: "the question's words"}
LIFTED_BY = {
    "vector": "by its nearness to the question",
    "fulltext": "by the question's words",
    "sentence": "by the question's words in one sentence",
    "proximity": "by the question's words close together",
    "document": "with another passage of its document",
    "walk": "by its place among the first passages",
    "about_named": "by its subject",
    "about_linked": "by its subject",
    "covers_together": "with another passage that it is linked to",
    "reranker": "by the reranker",
}
"""Words for a hit to which no path leads, by the feature that speaks most for it."""


class Step(NamedTuple):
    """A step of the walk: the node that it starts from, and the edge that it follows, with or against its direction."""

    start: str
    kind: EdgeKind
    along: bool


Nodes: TypeAlias = Sequence[tuple[str, Step | None]]
"""A path as nodes by id, each with the step that leads to it; the first has none."""


def read_paths(reader: CorpusReader, trace: RankingTrace, hits: Sequence[Hit]) -> dict[str, tuple[PathStep, ...]]:
    """Return the path to each hit, by id, from node to node; raises Superseded if the generation is gone.

    A hit that stands above its place in hybrid has the likeliest path of the walk from a name in the question. If none
    leads to it, it has one from a seed passage, or, if its text alone lifts it, says so. A hit that stands no higher
    has the name that leads right to it, or is said to be found by vector and full text. No path passes through a chunk
    that the trace's filter doesn't admit, since the neighbourhood has no others.
    """
    names, here = _by_weight(trace), _with_single_names(trace)
    lifted, settings = _lifted(trace, hits), reader.settings.walk
    nodes = likeliest_paths(here, names, settings, lifted)
    # From a passage nearly everything can be reached: such a path tells something only of what the graph speaks for.
    by_graph = [hit.id for hit in hits if hit.id in lifted and hit.id not in nodes and _graph_speaks_for(hit)]
    passages = likeliest_paths(here, trace.seeds.chunks, settings, by_graph)
    nodes |= {id_: path for id_, path in passages.items() if len(path) > 1}
    nodes = {id_: by_references(path, here) for id_, path in nodes.items()}
    for name in (id_ for id_ in names if id_ in here.entities):
        entity = here.entities[name]
        for chunk in (chunk for chunk, about in entity.chunks.items() if about or entity.frequency == 1):
            nodes.setdefault(chunk, [(name, None), (chunk, Step(name, EdgeKind.MENTIONS, along=False))])
    shown = {hit.id: nodes[hit.id] for hit in hits if hit.id in nodes}
    found = {hit.id: (_found_by(trace, hit, lifted=hit.id in lifted),) for hit in hits}
    return found | _as_steps(reader, trace, shown)


def _by_weight(trace: RankingTrace) -> dict[str, float]:
    """Return the weights in the restart of the names of the question, by id, heaviest first."""
    seeds = trace.seeds
    weights = {
        name.id: seeds.chunks.get(name.only_chunk, 0.0) if name.only_chunk else seeds.entities.get(name.id, 0.0)
        for name in trace.names
    }
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))


def _with_single_names(trace: RankingTrace) -> Neighbourhood:
    """Return the neighbourhood of the seeds, with the names of the question that a single chunk mentions, too."""
    here = trace.candidates.neighbourhood
    single = {name.id: Mentions(1, mentions_of(name, here)) for name in trace.names if name.only_chunk}
    return replace(here, entities={**here.entities, **single})


def _lifted(trace: RankingTrace, hits: Sequence[Hit]) -> list[str]:
    """Return the hits that stand higher than in hybrid, by id: all, if the ranking has no part in hybrid."""
    if not trace.seeds.ids:
        return []
    of_hybrid = any(ranking.leg == Leg.HYBRID for ranking, _ in trace.parts)
    before, after = trace.candidates.hybrid.ranks() if of_hybrid else {}, trace.ranking.ranks()
    return [hit.id for hit in hits if after[hit.id] < before.get(hit.id, math.inf)]


def _graph_speaks_for(hit: Hit) -> bool:
    """Return whether the features of the graph raise the score of a hit; of a leg without features it alone ranks."""
    added = [value for name, value in (hit.features or {}).items() if name not in TEXT_FEATURES]
    return not added or math.fsum(added) > 0


def _found_by(trace: RankingTrace, hit: Hit, *, lifted: bool) -> PathStep:
    """Return what found a hit to which no path leads; and what lifted it: the feature that speaks most for it."""
    if lifted and trace.engine == "gds":
        # GDS walks the whole corpus, of which the neighbourhood is a part.
        return PathStep("Seed", "the walk over the whole graph", "")
    searches = _SEARCHES.get(trace.ranking.leg, "vector and full text")
    features = hit.features or {}
    strongest = max(features, key=lambda name: features[name], default="")
    by = LIFTED_BY[strongest] if lifted and features.get(strongest, 0.0) > 0 else ""
    return PathStep("Seed", f"{searches}, lifted {by}" if by else searches, "")


def _as_steps(reader: CorpusReader, trace: RankingTrace, paths: Mapping[str, Nodes]) -> dict[str, tuple[PathStep, ...]]:
    """Return paths with the names and sentences of their nodes, and the documents through which references lead."""
    ids = dict.fromkeys(id_ for nodes in paths.values() for id_, _ in nodes)
    here = trace.candidates.neighbourhood
    names, corpus = {name.id: name.name for name in trace.names}, reader.corpus.at(trace.generation)
    if unnamed := [id_ for id_ in ids if id_ in here.entities and id_ not in names]:
        names |= {row["id"]: row["name"] for row in corpus.read("entity_names", ids=unnamed)}
    chunks = {id_: stored.hit for id_, stored in reader.hits.read([*(ids.keys() - names)], trace.generation).items()}
    if not ids.keys() <= names.keys() | chunks.keys():
        raise corpus.superseded()

    def step(node: str, came: Step | None) -> Iterator[PathStep]:
        by = came.kind.value if came else ""
        if node in names:
            yield PathStep("Entity", names[node], by, node)
            return
        if came and came.kind in REFERENCES:
            target = chunks[node if came.along else came.start]
            document = document_id(reader.corpus.id, target.document)
            to, by = (by, EdgeKind.PART_OF.value) if came.along else (EdgeKind.PART_OF.value, by)
            yield PathStep("Document", target.title or target.document, to, document)
        yield PathStep("Chunk", chunks[node].title or chunks[node].document, by, node)

    asked = frozenset(terms_of(trace.question))
    # Many paths lead through one chunk: its sentences are read once.
    said = {id_: sentences_with_stems(hit.text) for id_, hit in chunks.items()}
    whole = {end: tuple(chain.from_iterable(starmap(step, nodes))) for end, nodes in paths.items()}
    return {end: with_sentences(steps, said, asked) for end, steps in whole.items()}


Sentences: TypeAlias = Sequence[tuple[str, list[str]]]
"""Sentences of a passage, in order, each with the stems of its words."""


def sentences_with_stems(text: str) -> Sentences:
    """Return the sentences of a passage as a reader sees them."""
    shown = plain_sentences(text)
    return [(shown[start:end], stems(shown[start:end])) for start, end in telling_sentences(shown)]


def with_sentences(path: Sequence[PathStep], said: Mapping[str, Sentences], asked: Set[str]) -> tuple[PathStep, ...]:
    """Return a path with a sentence of each chunk, whose ids ``said`` has; ``asked`` are the question's terms."""
    told: list[PathStep] = []
    for place, step in enumerate(path):
        beside = (*path[place + 1 :][:1], *path[:place][-1:])
        names = [f" {' '.join(stems(one.name))} " for one in beside]
        best, most, held = "", (False, 0), frozenset[str]()
        for sentence, words in said.get(step.id, ()):
            named, new = [name in f" {' '.join(words)} " for name in names], frozenset(words) & asked
            if any(named) and (not best or (named[0], len(new)) > most):
                best, most, held = sentence, (named[0], len(new)), new
        asked -= held
        told.append(replace(step, sentence=one_line(best, _LONGEST)))
    return tuple(told)


def likeliest_paths(
    neighbourhood: Neighbourhood, starts: Mapping[str, float], settings: WalkSettings, ends: Collection[str]
) -> dict[str, Nodes]:
    """Return the path to each of ``ends`` that the walk from ``starts`` takes most often, as nodes by id.

    ``starts`` are weights by node id. A node comes with the step that leads to it, which the first one lacks. The
    probability of a path is the weight of its start times those of its steps (the algorithm of Dijkstra, 1959, on their
    logarithms), so it is short, and avoids names and passages that lead anywhere.
    """
    missing = set(ends)
    around = _steps_around(neighbourhood, settings) if missing else {}
    came: dict[str, Step | None] = {}
    # Ties go by id and step, so that the same graph gives the same path.
    queue: list[tuple[float, str, tuple[Step, ...]]] = []
    for id_, weight in starts.items():
        if weight > 0:
            heappush(queue, (-math.log(weight), id_, ()))
    while queue and missing:
        cost, id_, step = heappop(queue)
        if id_ in came:
            continue
        came[id_] = step[0] if step else None
        missing.discard(id_)
        out = [edge for edge in around.get(id_, ()) if edge[0] not in came]
        total = math.fsum(weight for _, weight, _ in around.get(id_, ()))
        for target, weight, onwards in out:
            heappush(queue, (cost - math.log(settings.damping * weight / total), target, (onwards,)))
    return {end: _nodes(came, end) for end in ends if end in came}


def by_references(nodes: Nodes, here: Neighbourhood) -> Nodes:
    """Return a path on which a chunk that refers to the next one's document leads there without an entity between."""
    # The walk takes both ways from chunk to chunk; the shorter one tells more.
    links = sorted((link.kind, link.source, link.target) for link in here.links if link.kind in REFERENCES)
    steps = {(target, source): Step(target, kind, along=False) for kind, source, target in links}
    steps |= {(source, target): Step(source, kind, along=True) for kind, source, target in links}
    short: list[tuple[str, Step | None]] = []
    for id_, step in nodes:
        direct = steps.get((short[-2][0], id_)) if len(short) > 1 and short[-1][0] in here.entities else None
        if direct is not None:
            short.pop()
        short.append((id_, direct or step))
    return short


def _steps_around(here: Neighbourhood, settings: WalkSettings) -> Mapping[str, list[tuple[str, float, Step]]]:
    """Return the steps from each node: the node that each leads to, and its weight."""
    around: dict[str, list[tuple[str, float, Step]]] = defaultdict(list)
    sources, targets, weights = here.edges(settings)
    mentions = [EdgeKind.MENTIONS] * (len(sources) - len(here.links))
    kinds = chain(mentions, (link.kind for link in here.links))
    for source, target, weight, kind in zip(sources, targets, weights, kinds, strict=True):
        if weight > 0:
            around[source].append((target, weight, Step(source, kind, along=True)))
            around[target].append((source, weight, Step(target, kind, along=False)))
    return around


def _nodes(came: Mapping[str, Step | None], end: str) -> Nodes:
    nodes = [(end, came[end])]
    while (step := nodes[-1][1]) is not None:
        nodes.append((step.start, came[step.start]))
    return nodes[::-1]
