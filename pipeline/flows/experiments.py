"""Experiments: trials and tuning, which run the queries of datasets under several settings."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from pipeline.db.corpus import open_corpus
from pipeline.db.projections import drop_projections
from pipeline.embedding.backends import make_reranker
from pipeline.embedding.everyday import Everyday
from pipeline.embedding.reranker import Reranker
from pipeline.errors import ConfigurationError
from pipeline.evaluate.compare import Evaluated, Trial, compare
from pipeline.evaluate.datasets import Dataset, read_dataset
from pipeline.evaluate.measures import QueryResult, measure_results
from pipeline.evaluate.tuning.lessons import corpus_passages, study
from pipeline.evaluate.tuning.tune import Tuned, check_sets
from pipeline.evaluate.tuning.tune import tune as tune_on
from pipeline.flows.evaluate import Ready, fitted, ingested, run_legs
from pipeline.flows.search import Retriever
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg
from pipeline.settings import Settings

_OF_SEARCH = ("retrieve", "weights", "walk")
"""The sections that change the ranking of a corpus, and nothing in it."""


def try_settings(
    hoprank: Ready,
    folders: Sequence[Path],
    before: Settings,
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    progress: Progress | None = None,
) -> list[Trial]:
    """Measure datasets by the fused whole as ``before`` has it and as this connection does, and compare by query.

    It ingests as :func:`pipeline.flows.evaluate.evaluate`; each of several folders has a corpus of its own,
    ``corpus_name/its name``, which both search. Raises ConfigurationError unless the two differ, and in
    settings of the search alone: others make another corpus.
    """
    progress = progress or Progress()
    _check_differ(before, hoprank.settings)
    both = (before, hoprank.settings)
    rerankers = _rerankers(both)
    trials = []
    for dataset, folder in [(read_dataset(folder, split), folder) for folder in folders]:
        kept = _kept_as(corpus_name, dataset, folders)
        part = progress.of(dataset.name)
        with ingested(hoprank, dataset, folder, kept, part) as (name, documents, _):
            results = [_results(hoprank, dataset, name, settings, rerankers, part) for settings in both]
        names = ("before", "after")
        first, second = (_evaluated(dataset, name, found) for name, found in zip(names, results, strict=True))
        latencies = (median(one.latency_ms or 0.0 for one in found) for found in results)
        trials.append(Trial(compare(first, second, Leg.WHOLE), documents, *latencies))
    return trials


def _kept_as(corpus_name: str | None, dataset: Dataset, folders: Sequence[Path]) -> str | None:
    """Return the name of the corpus that is kept of a dataset, one of several folders or the only one."""
    return f"{corpus_name}/{dataset.name}" if corpus_name and len(folders) > 1 else corpus_name


def _check_differ(before: Settings, after: Settings) -> None:
    differing = [name for name in Settings.model_fields if getattr(before, name) != getattr(after, name)]
    if not differing:
        raise ConfigurationError(
            "Both settings are the same: there is nothing to compare.", "Change one, as --set retrieve.fuse_k=10 does."
        )
    if others := [name for name in differing if name not in _OF_SEARCH]:
        raise ConfigurationError(
            f"The settings differ in {', '.join(others)}, which the search of one corpus can't compare.",
            f"Change only {', '.join(_OF_SEARCH)}; or evaluate twice with --json FILE, and use hoprank compare.",
        )


def _evaluated(dataset: Dataset, name: str, results: Iterable[QueryResult]) -> Evaluated:
    rows = measure_results(dataset.queries, results)
    return Evaluated(name, dataset.name, {Leg.WHOLE: {row.result.query_id: row.measures for row in rows}})


def _rerankers(every: Iterable[Settings]) -> Mapping[str, Reranker | None]:
    """Return the rerankers that settings name, by name: each model is loaded once, for all datasets."""
    return {settings.retrieve.reranker: make_reranker(settings) for settings in every}


def tune(
    hoprank: Ready,
    folders: Sequence[Path],
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    select: bool = False,
    anew: bool = False,
    progress: Progress | None = None,
) -> Tuned:
    """Learn the confidence in names and the scorer from datasets, and validate each question by what the others teach.

    Learning starts from the settings, or with ``anew`` or ``select`` from nothing, which takes two datasets. Corpora
    are as in :func:`try_settings`. Datasets in the same parent folder are of the same kind.
    Raises QuerySetError for fewer than ten questions, too few datasets, or two of the same name.
    """
    progress = progress or Progress()
    datasets = [read_dataset(folder, split) for folder in folders]
    check_sets([(dataset.name, len(dataset.queries)) for dataset in datasets], anew=anew or select)
    sets = []
    for dataset, folder in zip(datasets, folders, strict=True):
        kept = _kept_as(corpus_name, dataset, folders)
        with ingested(hoprank, dataset, folder, kept, progress.of(dataset.name)) as (name, _, _):
            kind = folder.resolve().parent.name
            retriever = hoprank.retriever(name)
            passages = corpus_passages(open_corpus(hoprank.client, name))
            read = retriever.reranker.scores if retriever.reranker else None
            sets.append(study(retriever.explore, passages, dataset, kind, progress, read))
    return tune_on(sets, hoprank.settings, progress, select=select, anew=anew)


def _results(
    hoprank: Ready,
    dataset: Dataset,
    corpus_name: str,
    settings: Settings,
    rerankers: Mapping[str, Reranker | None],
    progress: Progress,
) -> list[QueryResult]:
    """Search for a dataset's queries by the fused whole under other settings."""
    corpus = open_corpus(hoprank.client, corpus_name)
    dataset = fitted(dataset, corpus)
    embedder, reranker = hoprank.embedder, rerankers[settings.retrieve.reranker]
    everyday = Everyday(embedder, settings.data_home)
    retriever = Retriever(corpus, embedder.embed_query, settings, embedder.reads, everyday, reranker)
    try:
        return run_legs(retriever, dataset, [Leg.WHOLE], progress)
    finally:
        drop_projections(hoprank.client, corpus.id)
