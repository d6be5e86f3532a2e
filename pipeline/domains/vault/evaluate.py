"""Measure a vault: hide some of its links, and count how many of them the rankings of related notes find.

A link is evidence of its author that two notes belong together, which no question had to be written for (link
prediction: Liben-Nowell and Kleinberg, The link-prediction problem for social networks, 2007).
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from pipeline.api import HopRank
from pipeline.db.corpus import open_corpus
from pipeline.domains.vault.links import NoteResolver, documents
from pipeline.domains.vault.note import Folder
from pipeline.domains.vault.related import Ranking, ranked_keys, related_scores
from pipeline.domains.vault.sources import read_folder, reread
from pipeline.domains.vault.stored import NoteGraph, read_graph
from pipeline.errors import SourceError
from pipeline.evaluate.datasets import Query
from pipeline.evaluate.harness import ask, means
from pipeline.evaluate.measures import measure_query
from pipeline.flows.evaluate import temporary
from pipeline.flows.ingest import ingest_documents
from pipeline.grouping import grouped
from pipeline.json_values import JsonRecord
from pipeline.progress import Progress

MEASURES = ("recall@5", "recall@10", "recall@20", "mrr")
"""The measures of a report, in its order."""

Pair = tuple[str, str]
"""The keys of two linked notes, in order."""


@dataclass(frozen=True, slots=True)
class VaultReport(JsonRecord):
    """The measures of each ranking, as fractions of 1, averaged over the notes that a hidden link belongs to."""

    metrics: Mapping[str, Mapping[str, float]]
    notes: int
    linked_pairs: int
    hidden_pairs: int
    queries: int
    hide: float
    seed: int


def evaluate(
    hoprank: HopRank,
    folder: Path,
    *,
    hide: float,
    seed: int,
    exclude: Sequence[str] = (),
    progress: Progress | None = None,
) -> VaultReport:
    """Hide a share of the linked pairs of a vault's notes, and rank the notes related to each note of such a pair.

    The links of a hidden pair are cut out of both texts, with the names that they show. Notes that are still linked
    aren't ranked. The vault is ingested into a corpus of its own, which is dropped afterwards. Raises SourceError if
    the vault has too few links to hide any.
    """
    read = read_folder(folder, exclude=exclude, limits=hoprank.settings.sources.limits)
    pairs = linked_pairs(read)
    hidden = set(random.Random(seed).sample(pairs, round(hide * len(pairs))))  # noqa: S311 - a sample, no secret
    if not hidden:
        raise SourceError(
            f"{folder} has {len(pairs):,} pairs of linked notes, too few to hide {hide:.0%} of them.",
            "Give another vault, or raise --hide.",
        )
    with temporary(hoprank.client) as name:
        source = documents(without_links(read, hidden))
        ingest_documents(hoprank.client, hoprank.embedder, hoprank.settings, source, name, progress=progress)
        # Its vectors are read when they are first asked for: while the corpus is there.
        metrics = _measure(read_graph(open_corpus(hoprank.client, name)), hidden, progress or Progress())
    ends = {key for pair in hidden for key in pair}
    return VaultReport(metrics, len(read.notes), len(pairs), len(hidden), len(ends), hide, seed)


def _measure(graph: NoteGraph, hidden: set[Pair], progress: Progress) -> dict[str, dict[str, float]]:
    """Return the measures of each ranking of the notes related to an end of a hidden pair, by the other ends."""
    if not len(graph.passages[0]):
        raise SourceError("No note of the vault has a passage, so nothing can be measured.", "Give another vault.")
    gold = grouped(ends for first, second in hidden for ends in ((first, second), (second, first)))

    @cache  # the rankings of a note are computed together
    def ranked(key: str) -> dict[Ranking, Sequence[str]]:
        excluded = {key, *graph.neighbours(key)}
        return {of: ranked_keys(graph, scores, excluded) for of, scores in related_scores(graph, key).items()}

    def measure(key: str, ranking: Sequence[str]) -> dict[str, float]:
        return measure_query(Query(key, key, dict.fromkeys(gold[key], 1.0)), ranking, MEASURES)

    rankings = {of.value: partial(lambda of, key: ranked(key)[of], of) for of in Ranking}
    return means(ask(sorted(gold), rankings, progress), measure)


def linked_pairs(folder: Folder) -> list[Pair]:
    """Return the pairs of notes with a link from one to the other, in order."""
    resolver = NoteResolver(folder.notes, folder.attachments)
    ends = ((note.key, resolver.resolve(link.target, note.key).key) for note in folder.notes for link in note.links)
    return sorted({pair for first, second in ends if (pair := _pair(first, second))})


def without_links(folder: Folder, hidden: set[Pair]) -> Folder:
    """Return a vault without the links between the notes of ``hidden`` pairs."""
    resolver = NoteResolver(folder.notes, folder.attachments)
    notes = []
    for note in folder.notes:
        text = note.text
        for link in sorted(note.links, key=lambda link: -link.start):
            if _pair(note.key, resolver.resolve(link.target, note.key).key) in hidden:
                start = link.start - (text[max(0, link.start - 1)] == "!")
                text = text[:start] + text[link.end :]
        notes.append(note if text == note.text else reread(note, text))
    return replace(folder, notes=tuple(notes))


def _pair(first: str, second: str) -> Pair | None:
    """Return two keys in order; None if either is missing or both are equal."""
    return None if not second or first == second else (min(first, second), max(first, second))
