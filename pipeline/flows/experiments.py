"""Experiments on querysets: an ablation of the retrieval, and the tuning of learned weights."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.db.catalogue import get_corpus
from pipeline.db.projections import drop_projections
from pipeline.evaluate.ablation import Ablation, Variant, build_ablation, measured, read_variants, settings_without
from pipeline.evaluate.datasets import QuerySet, check_documents, read_queryset
from pipeline.evaluate.measures import QueryResult
from pipeline.evaluate.tuning.lessons import corpus_passages, study
from pipeline.evaluate.tuning.tune import Tuned, check_sets
from pipeline.evaluate.tuning.tune import tune as tune_on
from pipeline.flows.evaluate import Ready, answer, ingested
from pipeline.flows.search import Retriever
from pipeline.ingest.update.stored import stored_documents
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
    """Measure the whole retrieval and the retrieval without each part; return each part's worth.

    Querysets are ingested as in :func:`pipeline.flows.evaluate.evaluate`, and only the leg ``whole`` is measured. With
    ``corpus_name`` and several folders, each queryset has a corpus ``corpus_name/QUERYSET``. The default ``variants``
    are those of ``configs/ablation.toml``.
    """
    progress = progress or Progress()
    variants = read_variants() if variants is None else variants
    changed = {variant.name: settings_without(hoprank.settings, variant) for variant in variants}
    sets = []
    for queryset, folder in [(read_queryset(folder, split), folder) for folder in folders]:
        kept = f"{corpus_name}/{queryset.name}" if corpus_name and len(folders) > 1 else corpus_name
        with ingested(hoprank, queryset, folder, kept, progress) as (name, _, _):
            whole, *reduced = (
                _answers(hoprank, queryset, name, settings, progress)
                for settings in (hoprank.settings, *changed.values())
            )
        sets.append(measured(queryset, whole, dict(zip(changed, reduced, strict=True))))
    return build_ablation(sets, variants)


def tune(
    hoprank: Ready,
    folders: Sequence[Path],
    *,
    split: str | None = None,
    corpus_name: str | None = None,
    select: bool = False,
    progress: Progress | None = None,
) -> Tuned:
    """Learn the confidence of names and the scorer from querysets, cross-validated by leaving one queryset out.

    Corpora are as in :func:`ablate`. Querysets in the same parent folder are of one kind. Raises QuerySetError on fewer
    than two querysets, or two of one name.
    """
    progress = progress or Progress()
    querysets = [read_queryset(folder, split) for folder in folders]
    check_sets([queryset.name for queryset in querysets])
    sets = []
    for queryset, folder in zip(querysets, folders, strict=True):
        kept = f"{corpus_name}/{queryset.name}" if corpus_name else None
        with ingested(hoprank, queryset, folder, kept, progress) as (name, _, _):
            kind = folder.resolve().parent.name
            retriever = hoprank.retriever(name)
            passages = corpus_passages(hoprank.client, retriever.corpus)
            sets.append(study(retriever.explore, passages, queryset, kind, progress))
    return tune_on(sets, hoprank.settings, progress, select=select)


def _answers(
    hoprank: Ready, queryset: QuerySet, corpus_name: str, settings: Settings, progress: Progress
) -> list[QueryResult]:
    """Return the answers of the leg ``whole`` to a queryset's queries under the given settings."""
    corpus = get_corpus(hoprank.client, corpus_name)
    check_documents(queryset, stored_documents(hoprank.client, corpus))
    retriever = Retriever(hoprank.client, corpus, hoprank.embedder.embed_query, settings)
    # A projection keeps the weights of the settings that it was created with.
    drop_projections(hoprank.client, corpus)
    try:
        return answer(hoprank.client, retriever, queryset, [Leg.WHOLE], progress)
    finally:
        drop_projections(hoprank.client, corpus)
