"""Measure recall of memories: turns and sessions that answer questions about long conversations."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pipeline.api import HopRank
from pipeline.domains.memory.chats.read import read_memories
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.recall import recall
from pipeline.domains.memory.recall.records import FoundText
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.texts.documents import FIELDS
from pipeline.domains.memory.texts.remember import remember
from pipeline.errors import QuerySetError
from pipeline.evaluate.datasets import Dataset, Query, check_documents, read_dataset
from pipeline.progress import Progress

CUTOFFS = (5, 10)
LEGS = ("bm25", "vector", "hybrid", "hoprank")
"""The rankings that are compared; ``hoprank`` is what ``hoprank memory search`` returns of memories."""

_CANDIDATES = 100


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The shares of the relevant turns and sessions among the first, by ranking, as fractions of 1."""

    metrics: Mapping[str, Mapping[str, float]]
    queries: int
    turns: int

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        return asdict(self)


def evaluate(
    hoprank: HopRank, folder: Path, *, name: str | None = None, progress: Progress | None = None
) -> MemoryReport:
    """Measure each ranking on a folder of corpus.jsonl (turns), queries.jsonl and qrels.tsv.

    A query's ``filter``, on the metadata of turns, restricts it. Relevant sessions are those of relevant turns, or of
    ``qrels-session.tsv``. The memory is temporary, or kept and used again as ``name``. Raises QuerySetError if a file
    is missing or malformed, SourceError if a turn is.
    """
    progress = progress or Progress()
    dataset = read_dataset(folder)
    if dataset.corpus_path is None:
        raise QuerySetError(f"{folder} has no corpus.jsonl.", "Put the turns into corpus.jsonl, one a line.")
    memory = AgentMemory(hoprank, name or f"evaluate-{uuid.uuid4().hex[:12]}")
    read = read_memories(dataset.corpus_path, timezone=memory.settings.timezone, limits=hoprank.settings.sources.limits)
    check_documents(dataset, {one.key for one in read.memories})
    filters = _filters(folder / "queries.jsonl")
    sessions = _relevant_sessions(folder, dataset, read.memories)
    try:
        remember(memory, read, progress)
        return _measure(memory, dataset, filters, sessions, read.memories, progress)
    finally:
        if name is None:
            memory.drop()


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
    sessions: Mapping[str, set[str]],
    memories: Sequence[Memory],
    progress: Progress,
) -> MemoryReport:
    session = {one.key: session_of(one) for one in memories}
    totals: dict[str, dict[str, float]] = {leg: {} for leg in LEGS}
    with progress.stage("queries", len(dataset.queries)) as done:
        for query in dataset.queries:
            for leg in LEGS:
                turns = _ranking(memory, leg, query, filters.get(query.id))
                ranked = list(dict.fromkeys(session[key] for key in turns))
                for k in CUTOFFS:
                    _add(totals[leg], f"turn_recall@{k}", recall_at(turns, query.relevant, k))
                    _add(totals[leg], f"session_recall@{k}", recall_at(ranked, sessions[query.id], k))
            done(1)
    count = len(dataset.queries)
    metrics = {leg: {name: total / count for name, total in of.items()} for leg, of in totals.items()}
    return MemoryReport(metrics, count, len(memories))


def _ranking(memory: AgentMemory, leg: str, query: Query, filters: Mapping[str, Any] | None) -> list[str]:
    if leg == "hoprank":
        items = recall(memory, query.text, _CANDIDATES, filters=filters).items
        return [item.key for item in items if isinstance(item, FoundText)]
    hits = memory.hoprank.search(query.text, None, _CANDIDATES, filters, corpus=memory.name, leg=leg).hits
    return list(dict.fromkeys(hit.document for hit in hits))


def _add(totals: dict[str, float], name: str, value: float) -> None:
    totals[name] = totals.get(name, 0.0) + value


def _filters(path: Path) -> dict[str, Mapping[str, Any]]:
    """Return the filters of queries by id, as a search takes them; names of sessions and conversations are texts."""
    filters: dict[str, Mapping[str, Any]] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        held = json.loads(line) if line.strip() else {}
        given = held.get("filter")
        if given is None:
            continue
        if not isinstance(given, Mapping):
            raise QuerySetError(f"{path}, line {number}: its filter is {given!r}.", 'Write {"conversation": 1}.')
        filters[str(held["id"])] = {f"metadata.{name}": _stored(name, value) for name, value in given.items()}
    return filters


def _stored(name: str, value: Any) -> Any:
    named = name in FIELDS and name != "turn"
    return str(value) if named and isinstance(value, int | float) and not isinstance(value, bool) else value


def _relevant_sessions(folder: Path, dataset: Dataset, memories: Sequence[Memory]) -> dict[str, set[str]]:
    session = {one.key: session_of(one) for one in memories}
    relevant = {query.id: {session[key] for key in query.relevant} for query in dataset.queries}
    path = folder / "qrels-session.tsv"
    if path.exists():
        judged: dict[str, set[str]] = {}
        for line in path.read_text(encoding="utf-8").splitlines()[1:]:
            query_id, name, relevance = line.split("\t")
            if float(relevance) > 0:
                judged.setdefault(query_id, set()).add(name)
        relevant |= {id_: names for id_, names in judged.items() if id_ in relevant}
    return relevant
