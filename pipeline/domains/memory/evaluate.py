"""Measure recall of memories: turns and sessions that answer questions about long conversations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.api import HopRank
from pipeline.domains.memory.chats.read import read_memories
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.recall import FoundText, recall
from pipeline.domains.memory.records import FIELDS, Memory
from pipeline.domains.memory.remember import remember
from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Dataset, Query, check_documents, judgements
from pipeline.evaluate.harness import ask, means, read_judged
from pipeline.files import Guard, lines
from pipeline.flows.evaluate import temporary
from pipeline.json_values import JsonRecord
from pipeline.progress import Progress

LEGS = ("bm25", "vector", "hybrid", "hoprank")
"""The rankings that are compared; ``hoprank`` is what ``hoprank memory search`` returns of memories."""

_CANDIDATES = 100  # far more than the cutoffs, since a session may have many turns; chosen by hand
_QUERIES = Guard(QuerySetError, 'Write a filter as an object: {"conversation": 1}.', mend=True)


@dataclass(frozen=True, slots=True)
class MemoryReport(JsonRecord):
    """The shares of the relevant turns and sessions among the first, by ranking, as fractions of 1."""

    metrics: Mapping[str, Mapping[str, float]]
    queries: int
    turns: int
    remarks: tuple[str, ...] = ()


def evaluate(
    hoprank: HopRank, folder: Path, *, name: str | None = None, progress: Progress | None = None
) -> MemoryReport:
    """Measure each ranking on a folder of corpus.jsonl (turns), queries.jsonl and qrels.tsv.

    A query's ``filter``, on the metadata of turns, restricts it. Relevant sessions are those of relevant turns, or of
    ``qrels-session.tsv``. The memory is temporary, or kept and used again as ``name``. Raises QuerySetError if a file
    is missing or malformed, SourceError if a turn is.
    """
    progress = progress or Progress()
    dataset, corpus = read_judged(folder, "turns")
    with temporary(hoprank.client, name) as kept:
        memory = AgentMemory(hoprank, kept)
        limits = hoprank.settings.sources.limits
        read = read_memories(corpus, timezone=memory.settings.timezone, limits=limits, strict=True, by_ids=True)
        dataset = check_documents(dataset, {one.key for one in read.memories})
        filters = _filters(folder / "queries.jsonl")
        session = {one.key: session_of(one) for one in read.memories}
        sessions = _relevant_sessions(folder, dataset, session)
        remember(memory, read, progress)
        return _measure(memory, dataset, filters, session, sessions, progress)


def session_of(memory: Memory) -> str:
    """Return the session of a turn: its key before the last colon, or its conversation and session."""
    before, colon, _ = memory.key.rpartition(":")
    return before if colon else f"{memory.conversation}/{memory.session}"


def recall_at(ranking: Sequence[str], relevant: Iterable[str], k: int) -> float:
    """Return the share of the relevant items among the first ``k``; each item of the ranking occurs once."""
    wanted = set(relevant)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def _measure(
    memory: AgentMemory,
    dataset: Dataset,
    filters: Mapping[str, Mapping[str, Any]],
    session: Mapping[str, str],
    sessions: Mapping[str, set[str]],
    progress: Progress,
) -> MemoryReport:
    def rank(leg: str, query: Query) -> list[str]:
        within = filters.get(query.id)
        if leg == "hoprank":
            items = recall(memory, query.text, _CANDIDATES, filters=within).items
            return [item.key for item in items if isinstance(item, FoundText)]
        hits = memory.hoprank.search(query.text, None, _CANDIDATES, within, corpus=memory.name, leg=leg).hits
        return list(dict.fromkeys(hit.document for hit in hits))

    def measure(query: Query, turns: Sequence[str]) -> dict[str, float]:
        ranked = list(dict.fromkeys(session[key] for key in turns))
        measures = {}
        for k in (5, 10):
            measures[f"turn_recall@{k}"] = recall_at(turns, query.relevant, k)
            measures[f"session_recall@{k}"] = recall_at(ranked, sessions[query.id], k)
        return measures

    answered = ask(dataset.queries, {leg: partial(rank, leg) for leg in LEGS}, progress)
    return MemoryReport(means(answered, measure), len(dataset.queries), len(session), dataset.remarks)


def _filters(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the filters of queries by id, as a search takes them; names of sessions and conversations are texts."""
    filters: dict[str, Mapping[str, Any]] = {}
    for line in lines(path, _QUERIES):
        record = line.object()
        if (given := record.get("filter")) is None:
            continue
        if not isinstance(given, Mapping):
            raise line.fault(f"has the filter {given!r:.80}")
        id_ = str(record.get("id", record.get("_id")))
        filters[id_] = {f"metadata.{name}": _stored(name, value) for name, value in given.items()}
    return filters


def _stored(name: str, value: Any) -> Any:
    named = name in FIELDS and name != "turn"
    return str(value) if named and isinstance(value, int | float) and not isinstance(value, bool) else value


def _relevant_sessions(folder: Path, dataset: Dataset, session: Mapping[str, str]) -> dict[str, set[str]]:
    relevant = {query.id: {session.get(key, key) for key in query.relevant} for query in dataset.queries}
    judged: dict[str, set[str]] = defaultdict(set)
    path = folder / "qrels-session.tsv"
    for _, query_id, name, relevance in judgements(path) if path.exists() else ():
        if relevance > 0 and query_id in relevant:
            judged[query_id].add(name)
    return relevant | judged
