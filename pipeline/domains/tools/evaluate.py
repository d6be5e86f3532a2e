"""Measure the finding of tools: how many of the tools that tasks need are among the first, by each ranking."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from pipeline.api import HopRank
from pipeline.domains.tools.catalogue import Built, words_of_name
from pipeline.domains.tools.find import Embed, embedding_by, find_tools
from pipeline.domains.tools.index import ToolIndex, terms_of
from pipeline.domains.tools.queries import ToolSearch
from pipeline.domains.tools.settings import ToolSettings
from pipeline.evaluate.datasets import Dataset, Query, check_documents, read_document_ids
from pipeline.evaluate.harness import ask, latencies, means, read_judged
from pipeline.evaluate.measures import measure_query
from pipeline.flows.evaluate import temporary
from pipeline.json_values import JsonRecord
from pipeline.knowledge import KnowledgeGraph
from pipeline.progress import Progress
from pipeline.retrieve.fusion import Ranked, fuse, ranked
from pipeline.retrieve.rankers.bm25 import Inverted

Build: TypeAlias = Callable[[Callable[[], KnowledgeGraph], Sequence[Path]], Built]
"""A function that brings the graph that its first argument opens to hold the tools of some files."""

MEASURES = ("recall@5", "recall@10", "ndcg@10", "perfect@10")
"""The measures of a report; ``perfect@10``: all tools that a task needs are among the first ten."""

_CUTOFF = 10  # the largest of the measures
_K = 60
"""The usual constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), for the baseline."""


@dataclass(frozen=True, slots=True)
class ToolReport(JsonRecord):
    """The measures of each ranking as fractions of 1, averaged over the queries.

    ``vector`` ranks by the cosine of task and tool, ``bm25`` by the words of name and description, ``hybrid`` fuses
    both, ``hoprank`` is what :func:`pipeline.domains.tools.find.find_tools` returns. ``latency_ms`` has the 50th
    and 95th percentile of the latter, with the embedding of the task.
    """

    metrics: dict[str, dict[str, float]]
    queries: int
    tools: int
    latency_ms: dict[str, float]
    remarks: tuple[str, ...] = ()


def evaluate(build: Build, hoprank: HopRank, folder: Path, *, progress: Progress | None = None) -> ToolReport:
    """Measure the rankings of tools on a folder with corpus.jsonl, queries.jsonl and qrels.tsv.

    Only the texts of its queries are used. The tools are built into a graph of their own, which is dropped afterwards.
    Relevant tools that the corpus lacks count as not found; ``remarks`` name them. Raises QuerySetError if a file is
    missing or malformed, or if the corpus has none of them.
    """
    dataset, corpus = read_judged(folder, "tools")
    dataset = check_documents(dataset, read_document_ids(corpus))
    with temporary(hoprank.client) as name:
        build(partial(hoprank.graph, name), [corpus])
        settings = hoprank.settings.section(ToolSettings)
        index = ToolSearch.read(hoprank.graph(name, create=False), hoprank.embedder, settings).index
    return measure(index, dataset, embedding_by(hoprank.embedder), progress or Progress())


def measure(index: ToolIndex, dataset: Dataset, embed: Embed, progress: Progress) -> ToolReport:
    """Measure the rankings of an index on the queries of a dataset."""
    ids = [tool.id for tool in index.tools]
    terms = [terms_of(f"{words_of_name(tool.name)} {tool.description}") for tool in index.tools]
    inverted = Inverted(terms) if any(terms) else None

    def vector(task: str) -> Ranked:
        return ranked("vector", dict(zip(ids, index.cosines(embed([task])[0]).tolist(), strict=True)))

    def bm25(task: str) -> Ranked:
        scores = inverted.get_scores(terms_of(task)).tolist() if inverted else []
        return ranked("bm25", {id_: score for id_, score in zip(ids, scores, strict=False) if score > 0})

    def hybrid(task: str) -> Ranked:
        return fuse("hybrid", [(vector(task), 1.0), (bm25(task), 1.0)], _K)

    rankings: dict[str, Callable[[Query], list[str]]] = {
        "vector": lambda query: vector(query.text).first(_CUTOFF).ids,
        "bm25": lambda query: bm25(query.text).first(_CUTOFF).ids,
        "hybrid": lambda query: hybrid(query.text).first(_CUTOFF).ids,
        "hoprank": lambda query: [tool.id for tool in find_tools(index, query.text, embed, _CUTOFF)],
    }
    answered = list(ask(dataset.queries, rankings, progress))
    return ToolReport(
        metrics={name: {key: of[key] for key in MEASURES} for name, of in means(answered, measure_query).items()},
        queries=len(dataset.queries),
        tools=len(index.tools),
        latency_ms=latencies(answered)["hoprank"],
        remarks=dataset.remarks,
    )
