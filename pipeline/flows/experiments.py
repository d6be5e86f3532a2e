"""Experiments: ablation and tuning, which run the queries of datasets under several settings."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.db.corpus import open_corpus
from pipeline.db.projections import drop_projections
from pipeline.embedding.everyday import Everyday
from pipeline.evaluate.ablation import Ablation, Variant, build_ablation, measured, read_variants, settings_without
from pipeline.evaluate.datasets import Dataset, read_dataset
from pipeline.evaluate.measures import QueryResult
from pipeline.evaluate.tuning.lessons import corpus_passages, study
from pipeline.evaluate.tuning.tune import Tuned, check_sets
from pipeline.evaluate.tuning.tune import tune as tune_on
from pipeline.flows.evaluate import Ready, fitted, ingested, run_legs
from pipeline.flows.search import Retriever
from pipeline.progress import Progress
from pipeline.retrieve.legs import Leg
from pipeline.settings import Settings


def ablate(
    hoprank: Ready,
    folders: Sequence[Path],
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    variants: Sequence[Variant] | None = None,
    progress: Progress | None = None,
) -> Ablation:
    """Measure datasets with all parts of the retrieval and without each; return the contribution of each part.

    It ingests as :func:`pipeline.flows.evaluate.evaluate`, and ranks by the fused whole. Each of several folders has a
    corpus of its own, ``corpus_name/its name``. ``variants`` are by default those of ``configs/ablation.toml``.
    """
    progress = progress or Progress()
    variants = read_variants() if variants is None else variants
    changed = {variant.name: settings_without(hoprank.settings, variant) for variant in variants}
    sets = []
    for dataset, folder in [(read_dataset(folder, split), folder) for folder in folders]:
        kept = f"{corpus_name}/{dataset.name}" if corpus_name and len(folders) > 1 else corpus_name
        part = progress.of(dataset.name)
        with ingested(hoprank, dataset, folder, kept, part) as (name, _, _):
            every = (hoprank.settings, *changed.values())
            whole, *without = (_results(hoprank, dataset, name, settings, part) for settings in every)
        sets.append(measured(dataset, whole, dict(zip(changed, without, strict=True))))
    return build_ablation(sets, variants)


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
    are as in :func:`ablate`. Datasets in the same parent folder are of the same kind.
    Raises QuerySetError for fewer than ten questions, too few datasets, or two of the same name.
    """
    progress = progress or Progress()
    datasets = [read_dataset(folder, split) for folder in folders]
    check_sets([(dataset.name, len(dataset.queries)) for dataset in datasets], anew=anew or select)
    sets = []
    for dataset, folder in zip(datasets, folders, strict=True):
        kept = f"{corpus_name}/{dataset.name}" if corpus_name and len(folders) > 1 else corpus_name
        with ingested(hoprank, dataset, folder, kept, progress.of(dataset.name)) as (name, _, _):
            kind = folder.resolve().parent.name
            retriever = hoprank.retriever(name)
            passages = corpus_passages(open_corpus(hoprank.client, name))
            sets.append(study(retriever.explore, passages, dataset, kind, progress))
    return tune_on(sets, hoprank.settings, progress, select=select, anew=anew)


def _results(
    hoprank: Ready, dataset: Dataset, corpus_name: str, settings: Settings, progress: Progress
) -> list[QueryResult]:
    """Search for a dataset's queries by the fused whole under other settings."""
    corpus = open_corpus(hoprank.client, corpus_name)
    dataset = fitted(dataset, corpus)
    everyday = Everyday(hoprank.embedder, settings.data_home)
    retriever = Retriever(corpus, hoprank.embedder.embed_query, settings, hoprank.embedder.reads, everyday)
    try:
        return run_legs(retriever, dataset, [Leg.WHOLE], progress)
    finally:
        drop_projections(hoprank.client, corpus.id)
