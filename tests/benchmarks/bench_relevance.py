"""How well relevance is calibrated: predicted against measured on collections left out; and the weights to ship.

    uv run python tests/benchmarks/bench_relevance.py DATA_DIR/docs/flask DATA_DIR/ir/cisi ... --corpus ev --cache seen

Each corpus is asked its own questions, those of collections of other folders, and everyday_questions.txt, of which the
even ones choose weights and the odd ones measure. ``pages``: shares of its own relevant hits that are below the
minimum; ``everyday`` and ``others``: shares of the hits of such questions that aren't. Weights are fitted to all
collections but the one that is measured; what is printed as TOML is fitted to all of them. With ``--cache`` the signs
of a collection are kept in a file, and taken from it; with ``--corpus`` corpora are kept as ``ev/its name``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from pipeline import HopRank
from pipeline.embedding.everyday import Everyday
from pipeline.evaluate.datasets import Query, read_dataset
from pipeline.flows.evaluate import ingested
from pipeline.progress import Progress
from pipeline.retrieve.hydrate import evidence_of
from pipeline.retrieve.question import check_question
from pipeline.retrieve.reader import CorpusReader
from pipeline.retrieve.scoring.relevance import HitSigns, QuestionSigns
from pipeline.settings import load_settings

OWN, EVERYDAY, OTHERS = "own", "everyday", "others"
MOST_OWN, MOST_OTHERS, HITS = 100, 12, 10  # questions of a collection, of each other one, and hits of a question
KINDS: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "": (QuestionSigns._fields, HitSigns._fields),
    "_by_meaning": (("meaning",), ("meaning", "rank")),
    "_by_words": (("words", "names", "share"), ("rank",)),
}
BINS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
Floats = NDArray[np.float64]
Weights = tuple[Floats, float]


@dataclass(frozen=True)
class Asked:
    """A question, its signs, those of its first hits, and which of these are of relevant documents.

    ``chooses`` tells those that weights may be fitted to.
    """

    kind: str
    chooses: bool
    question: list[float]
    hits: list[list[float]]
    relevant: list[bool]


def main() -> int:
    """Ask, fit with each collection left out, and print the tables and the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="querysets' folders")
    parser.add_argument("--corpus", metavar="PREFIX", help="keep corpora under this name")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep the signs of collections in it")
    parser.add_argument("--minimum", type=float, help="by default the setting retrieve.known_relevance")
    args = parser.parse_args()
    sets = {folder.name: read(folder, args.folders, args.corpus, args.cache) for folder in args.folders}
    minimum = args.minimum or load_settings().retrieve.known_relevance
    console = Console(width=120)
    for kind in KINDS:
        predicted = {name: relevances(kind, others(sets, name), sets[name]) for name in sets}
        console.print(f"\n{kind.strip('_').replace('_', ' ') or 'by all signs'}, each collection left out\n")
        console.print(bounds_table(sets, predicted, minimum))
        console.print(reliability_table(sets, predicted))
    for kind in KINDS:
        for table, (weights, intercept), names in fitted(kind, list(sets.values())):
            print(f"\n[relevance.{table}{kind}]\nintercept = {intercept:.4f}")
            print("\n".join(f"{name} = {weight:.4f}" for name, weight in zip(names, weights, strict=True)))
    return 0


def others(sets: dict[str, list[Asked]], name: str) -> list[list[Asked]]:
    """Return the collections without one."""
    return [asked for other, asked in sets.items() if other != name]


def read(folder: Path, folders: Sequence[Path], prefix: str | None, cache: Path | None) -> list[Asked]:
    """Return what a collection was asked, from the cache if it is there."""
    kept = cache / f"{folder.name}.json" if cache else None
    if kept and kept.exists():
        return [Asked(**one) for one in json.loads(kept.read_text(encoding="utf-8"))]
    dataset = read_dataset(folder)
    name = f"{prefix}/{folder.name}" if prefix else None
    with HopRank.connect() as hoprank, ingested(hoprank, dataset, folder, name, Progress()) as (corpus, _, _):
        asked = ask(hoprank, corpus, dataset.queries, [other for other in folders if other.parent != folder.parent])
    print(f"{folder.name}: {len(asked)} questions", file=sys.stderr)
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([asdict(one) for one in asked]), encoding="utf-8")
    return asked


def ask(hoprank: HopRank, corpus: str, own: Sequence[Query], foreign: Iterable[Path]) -> list[Asked]:
    """Ask a corpus its own questions, everyday ones, and those of foreign collections."""
    retriever = hoprank.retriever(corpus)
    known = Everyday(hoprank.embedder, hoprank.settings.data_home)
    reader = CorpusReader(retriever.corpus, hoprank.settings, known)

    def signs(kind: str, text: str, relevant: Iterable[str], *, chooses: bool) -> Asked:
        trace = retriever.rank(check_question(text))
        hits = retriever.hydrate(trace, HITS).hits
        evidence = evidence_of(reader, trace, hits)
        judged = [hit.document in set(relevant) for hit in hits]
        return Asked(kind, chooses, list(evidence.of_question()), list(map(list, evidence.of_hits(hits))), judged)

    everyday = [line for line in EVERYDAY_FILE.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
    return [
        *(signs(OWN, one.text, one.relevant, chooses=True) for one in spread(own, MOST_OWN)),
        *(signs(EVERYDAY, text, (), chooses=place % 2 == 1) for place, text in enumerate(everyday)),
        *(
            signs(OTHERS, one.text, (), chooses=True)
            for folder in foreign
            for one in spread(read_dataset(folder).queries, MOST_OTHERS)
        ),
    ]


EVERYDAY_FILE = Path(__file__).with_name("everyday_questions.txt")


def spread(queries: Sequence[Query], most: int) -> list[Query]:
    """Return at most so many queries, evenly spread."""
    places = range(len(queries)) if len(queries) <= most else np.linspace(0, len(queries) - 1, most).round().astype(int)
    return [queries[place] for place in places]


def fitted(kind: str, sets: Sequence[Sequence[Asked]]) -> list[tuple[str, Weights, Sequence[str]]]:
    """Return the weights of both regressions by some of the signs; all collections count the same.

    A collection's own questions count as much as all others, and everyday questions as much as those of others.
    """
    of_question, of_hit = KINDS[kind]
    questions, known, weights = [], [], []
    rows, relevant, shares = [], [], []
    for asked in sets:
        chosen = [one for one in asked if one.chooses]
        for one in chosen:
            count = sum(other.kind == one.kind for other in chosen)
            questions.append(columns(QuestionSigns._fields, of_question, [one.question])[0])
            known.append(one.kind == OWN)
            weights.append((100 if one.kind == OWN else 50) / count)
            if one.kind == OWN and one.hits:
                rows.append(columns(HitSigns._fields, of_hit, one.hits))
                relevant += one.relevant
                shares += [100 / count / len(one.hits)] * len(one.hits)
    return [
        ("question", logistic(np.array(questions), known, weights), of_question),
        ("hit", logistic(np.concatenate(rows), relevant, shares), of_hit),
    ]


def columns(every: Sequence[str], wanted: Sequence[str], rows: Sequence[Sequence[float]]) -> Floats:
    """Return the wanted columns of rows."""
    return np.array(rows, dtype=np.float64)[:, [every.index(name) for name in wanted]]


def logistic(matrix: Floats, labels: Sequence[bool], weights: Sequence[float]) -> Weights:
    """Fit a logistic regression; return its weights and its intercept."""
    middle, scale = matrix.mean(axis=0), np.maximum(matrix.std(axis=0), 1e-9)
    model = LogisticRegression(max_iter=3000).fit((matrix - middle) / scale, labels, sample_weight=weights)
    coefficients: Floats = model.coef_[0] / scale
    return coefficients, float(model.intercept_[0] - coefficients @ middle)


def relevances(kind: str, sets: Sequence[Sequence[Asked]], asked: Sequence[Asked]) -> list[Floats]:
    """Return the relevance of the hits of each question, by weights that were fitted to other collections."""
    (_, question, of_question), (_, hit, of_hit) = fitted(kind, sets)
    return [
        probability(columns(QuestionSigns._fields, of_question, [one.question]), question)[0]
        * (probability(columns(HitSigns._fields, of_hit, one.hits), hit) if one.hits else np.zeros(0))
        for one in asked
    ]


def probability(matrix: Floats, weights: Weights) -> Floats:
    """Return the probability of each row."""
    result: Floats = (1 + np.tanh((matrix @ weights[0] + weights[1]) / 2)) / 2
    return result


def measured(asked: Sequence[Asked], kind: str) -> list[int]:
    """Return the places of the questions of a kind that measure: everyday ones that chose nothing."""
    return [place for place, one in enumerate(asked) if one.kind == kind and not (kind == EVERYDAY and one.chooses)]


def bounds_table(sets: dict[str, list[Asked]], predicted: dict[str, list[Floats]], minimum: float) -> Table:
    """Return what each collection loses, and what unanswerable questions keep, at the minimum."""
    table = Table(title=f"minimum {minimum}")
    headings = ("pages below", "questions below", "everyday hits above", "everyday asked above", "others' hits above")
    for heading in ("collection", *headings, "AUC of questions"):
        table.add_column(heading, justify="left" if heading == "collection" else "right")
    rows = []
    for name, asked in sets.items():
        of, best = predicted[name], [float(one.max(initial=0)) for one in predicted[name]]
        own, everyday, foreign = (measured(asked, kind) for kind in (OWN, EVERYDAY, OTHERS))
        pages = np.concatenate([of[place][np.array(asked[place].relevant, dtype=bool)] for place in own])
        unknown = [*everyday, *foreign]
        labels = [True] * len(own) + [False] * len(unknown)
        rows.append(
            (
                float((pages < minimum).mean()),
                fmean(best[place] < minimum for place in own),
                above(of, everyday, minimum),
                fmean(best[place] >= minimum for place in everyday),
                above(of, foreign, minimum),
                float(roc_auc_score(labels, [best[place] for place in (*own, *unknown)])),
            )
        )
        table.add_row(name, *(f"{value:.1%}" for value in rows[-1][:-1]), f"{rows[-1][-1]:.3f}")
    means = [fmean(column) for column in zip(*rows, strict=True)]
    table.add_section()
    table.add_row("mean", *(f"{value:.1%}" for value in means[:-1]), f"{means[-1]:.3f}")
    return table


def above(predicted: Sequence[Floats], places: Sequence[int], minimum: float) -> float:
    """Return the share of the hits of some questions that reach the minimum."""
    hits = np.concatenate([predicted[place] for place in places]) if places else np.zeros(0)
    return float((hits >= minimum).mean()) if len(hits) else 0.0


def reliability_table(sets: dict[str, list[Asked]], predicted: dict[str, list[Floats]]) -> Table:
    """Return predicted relevance against measured, over the hits of own and of unanswerable questions alike.

    A collection's own hits weigh as much as those of unanswerable questions, and every collection as much as another.
    """
    parts = [
        (predicted[name][place], asked[place].relevant, 1 / len(places))
        for name, asked in sets.items()
        for places in (measured(asked, OWN), [*measured(asked, EVERYDAY), *measured(asked, OTHERS)])
        for place in places
    ]
    values = np.concatenate([part[0] for part in parts])
    labels = np.concatenate([np.array(part[1], dtype=float) for part in parts])
    weights = np.concatenate([np.full(len(part[0]), part[2]) for part in parts])
    bins = np.clip(np.searchsorted(BINS, values, side="right") - 1, 0, len(BINS) - 2)
    table, error = Table(), 0.0
    for heading in ("relevance", "hits", "predicted", "judged relevant"):
        table.add_column(heading, justify="right")
    mean: Callable[[Floats, NDArray[np.bool_]], float] = lambda of, at: float(np.average(of[at], weights=weights[at]))  # noqa: E731
    for place in np.unique(bins):
        at = bins == place
        error += float(weights[at].sum() / weights.sum()) * abs(mean(values, at) - mean(labels, at))
        shown = f"{BINS[place]:.2f} - {BINS[place + 1]:.2f}"
        table.add_row(shown, f"{at.sum():,}", f"{mean(values, at):.2f}", f"{mean(labels, at):.2f}")
    table.caption = (
        f"expected calibration error {error:.3f}, AUC {roc_auc_score(labels, values, sample_weight=weights):.3f}"
    )
    return table


if __name__ == "__main__":
    sys.exit(main())
