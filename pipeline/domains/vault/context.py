"""The context router: the notes that a message needs, and nothing if it needs none.

A note is loaded if it is more relevant than chance allows, and nearly as strongly meant as the best one. A link from
such a note adds to that, as far as the sentence around it resembles the message. Of equals the newest comes first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
from pydantic import ValidationError

from pipeline.domains.vault.evidence import Evidence, by_meaning, by_words
from pipeline.domains.vault.note import Note
from pipeline.domains.vault.settings import VaultSettings
from pipeline.domains.vault.stored import NoteGraph, NoteLink, OpenVault
from pipeline.errors import ConfigurationError, DownloadFailed
from pipeline.grouping import grouped
from pipeline.json_values import JsonRecord
from pipeline.retrieve.question import check_question

_LEAST = 0.75
"""Share of the best note's strength that each note needs. Chosen with WORDS (in evidence.py) from 0.7, 0.75 and 0.8: of
ten notes loaded for thirty messages to a vault about bees, nine are those that a reader stated before, and no message
loses the note that answers it."""

_LINKED = 0.2
"""Strength that a link adds to a note, as a share of that of the note at its other end. Chosen from 0.1 to 0.3 on the
same messages, which lose nothing by it."""

_LEADING = 5  # notes whose links are followed in a step: as many as a context holds by default


@dataclass(frozen=True, slots=True)
class LoadedNote:
    """A note of a context, and why it was chosen.

    ``relevance`` is that to the message. ``score`` adds up its strength (1 for the strongest), what a ``link`` gives,
    and its ``freshness``: 1 for a note of today, half after the half-life of the settings. ``version`` changes with
    its text.
    """

    key: str
    title: str
    description: str
    type: str
    updated: str
    score: float
    relevance: float
    link: float
    freshness: float
    why: tuple[str, ...]
    version: str = ""


@dataclass(frozen=True, slots=True)
class Knowledge(JsonRecord):
    """The notes that a message needs, best first; ``contents`` are those of the first, by key.

    ``text`` is the section of a prompt with all of them, empty if none is needed; ``reason`` then says why. ``best`` is
    the relevance of the best note, ``threshold`` what it has to exceed, ``measure`` what both measure.
    """

    message: str
    notes: tuple[LoadedNote, ...] = ()
    contents: Mapping[str, str] | None = None
    text: str = ""
    best: float = 0.0
    threshold: float = 0.0
    measure: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    own: float
    link: float = 0.0
    why: tuple[str, ...] = ()

    @property
    def strength(self) -> float:
        return self.own + self.link


def load_relevant_knowledge(
    vault: OpenVault,
    message: str,
    limits: Mapping[str, int | None],
    *,
    vectors: bool = True,
    now: datetime | None = None,
) -> Knowledge:
    """Return the notes that a message needs; see :meth:`pipeline.domains.vault.api.Vault.context`."""
    settings = _limited(vault, limits)
    message = check_question(message, "message")
    graph = vault.graph(published=True)
    if not graph.notes:
        return Knowledge(message, reason="the vault holds no note of this scope")
    evidence = _evidence(vault, graph, message, vectors=vectors)
    best, threshold = float(evidence.relevance.max()), evidence.threshold
    judged = Knowledge(message, best=best, threshold=threshold, measure=evidence.measure)
    if best <= threshold:
        reason = f"the best note has a {evidence.measure} of {best:.2f}, and {threshold:.2f} counts"
        return replace(judged, reason=reason)
    candidates = _candidates(graph, evidence)
    for _ in range(settings.hops):
        candidates = _with_links(graph, evidence, candidates)
    notes = _first(graph, evidence, candidates, settings, now or datetime.now(UTC))
    shown = [graph.notes[note.key] for note in notes]
    contents, text = _disclose(graph, shown, evidence.passages, settings.full, settings.tokens)
    return replace(judged, notes=tuple(notes), contents=contents, text=text)


def _limited(vault: OpenVault, limits: Mapping[str, int | None]) -> VaultSettings:
    settings = vault.hoprank.settings.section(VaultSettings)
    given = {name: value for name, value in limits.items() if value is not None}
    try:
        return VaultSettings(**{**settings.model_dump(), **given})
    except ValidationError as error:
        fault = error.errors()[0]
        name = ".".join(map(str, fault["loc"]))
        raise ConfigurationError(f"{name} is {fault['input']!r}: {fault['msg']}.", "Give another limit.") from error


def _evidence(vault: OpenVault, graph: NoteGraph, message: str, *, vectors: bool) -> Evidence:
    try:
        query = vault.hoprank.embedder.embed_query(message) if vectors else None
    except (ConfigurationError, DownloadFailed):  # there is no model
        query = None
    return by_words(vault, graph, message) if query is None else by_meaning(vault, graph, message, query)


def _candidates(graph: NoteGraph, evidence: Evidence) -> dict[str, _Candidate]:
    """Return the notes that are more relevant than chance allows, the strongest with the strength 1."""
    relevance = evidence.relevance
    rows = np.flatnonzero(relevance > evidence.threshold)
    best = float(evidence.strength[rows].max())
    return {
        graph.keys[row]: _Candidate(
            1 + (float(evidence.strength[row]) - best) / (abs(best) or 1.0),
            why=(f"{evidence.measure} {relevance[row]:.2f}",),
        )
        for row in rows.tolist()
    }


def _with_links(graph: NoteGraph, evidence: Evidence, candidates: Mapping[str, _Candidate]) -> dict[str, _Candidate]:
    """Return the candidates, each with the most that a link from or to one of the strongest adds to it.

    A link counts if the sentence around it is as relevant to the message as the best note is.
    """
    strong = [key for key, candidate in candidates.items() if candidate.strength >= _LEAST]
    sources = sorted(strong, key=lambda key: (-candidates[key].strength, key))[:_LEADING]
    meanings = evidence.link_relevance(sources)
    result = dict(candidates)
    telling = float(evidence.relevance.max())
    for source in sources:
        for link in (*graph.outgoing.get(source, ()), *graph.incoming.get(source, ())):
            other = link.target if link.source == source else link.source
            if other not in candidates or meanings.get((link.source, link.target), -1.0) < telling:
                continue
            before, strength = result[other], candidates[source].strength
            # A link brings a note up to the one that leads to it, and not before that.
            gain = min(_LINKED * strength, strength - before.own)
            if gain > before.link:
                why = (*(text for text in before.why if not text.startswith("link")), _reason(graph, link, source))
                result[other] = replace(before, link=gain, why=why)
    return result


def _reason(graph: NoteGraph, link: NoteLink, source: str) -> str:
    direction = "linked from" if link.source == source else "links to"
    types = f" ({', '.join(link.relations)})" if link.relations else ""
    sentence = f": {link.contexts[0]}" if link.contexts else ""
    return f"{direction} {graph.notes[source].title}{types}{sentence}"


def _first(
    graph: NoteGraph, evidence: Evidence, candidates: Mapping[str, _Candidate], settings: VaultSettings, now: datetime
) -> list[LoadedNote]:
    """Return the best notes, best first, ties by key."""
    notes = []
    for key, candidate in candidates.items():
        if candidate.strength < _LEAST:
            continue
        note, relevance = graph.notes[key], float(evidence.relevance[graph.rows[key]])
        fresh = freshness(note.updated, now, settings.half_life_days)
        about = (note.title, note.description, note.type.value, note.updated)
        score = candidate.strength + settings.freshness * fresh
        notes.append(LoadedNote(key, *about, score, relevance, candidate.link, fresh, candidate.why, note.version))
    return sorted(notes, key=lambda note: (-note.score, note.key))[: settings.top_k]


def freshness(updated: str, now: datetime, half_life_days: float) -> float:
    """Return 1 for a time that isn't past, half as much for each half-life since, and 0 for no time."""
    try:
        time = datetime.fromisoformat(updated)
    except ValueError:
        return 0.0
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return float(0.5 ** (max(0.0, (now - aware) / timedelta(days=1)) / half_life_days))


_HEADING = "## Relevant Knowledge"
_LEFT_OUT = "[...]"


class _Passage(NamedTuple):
    start: int
    end: int
    text: str
    tokens: int


def _disclose(
    graph: NoteGraph, notes: Sequence[Note], found: Mapping[str, Sequence[int]], full: int, tokens: int
) -> tuple[dict[str, str], str]:
    """Return the contents of the first ``full`` notes by key, and the section of a prompt with all notes.

    The contents have at most ``tokens`` tokens of the embedder together. Of a longer note the sections are kept that
    the search found, best first (``found``: where they start), then those from its beginning, in reading order.
    """
    wanted = [note.key for note in notes[:full]]
    rows = graph.corpus.read("vault_passages", keys=wanted)
    passages = grouped((row["key"], _Passage(row["start"], row["end"], row["text"], row["tokens"])) for row in rows)
    contents: dict[str, str] = {}
    for left, key in zip(range(len(wanted), 0, -1), wanted, strict=True):
        # A share of the tokens goes unused by a short note: the next note may use it.
        kept = _kept(passages[key], found.get(key, ()), tokens // left, tokens)
        tokens -= sum(passage.tokens for passage in kept)
        if kept:
            contents[key] = _joined(kept, passages[key])
    return contents, _section(notes, contents)


def _kept(passages: Sequence[_Passage], found: Sequence[int], share: int, left: int) -> set[_Passage]:
    """Return the passages that fit: those that the search found, best first, then the others in order.

    They have ``share`` tokens together, or the first of them alone as many as are ``left``.
    """
    places = {start: place for place, start in enumerate(found)}
    kept: set[_Passage] = set()
    for passage in sorted(passages, key=lambda passage: (places.get(passage.start, len(places)), passage.start)):
        if passage.tokens <= (share if kept else max(share, left)):
            kept.add(passage)
            share -= passage.tokens
    return kept


def _joined(kept: set[_Passage], every: Sequence[_Passage]) -> str:
    """Join passages in reading order; where they overlap, once; with a mark where others are left out."""
    parts: list[str] = []
    end = 0
    for passage in sorted(every, key=lambda passage: passage.start):
        if passage in kept:
            # Passages of a section overlap; the front matter's description comes before all.
            parts.append(passage.text[max(0, end - passage.start) :].strip("\n"))
            end = passage.end
        elif not parts or parts[-1] != _LEFT_OUT:
            parts.append(_LEFT_OUT)
    return "\n\n".join(filter(None, parts))


def _section(notes: Sequence[Note], contents: Mapping[str, str]) -> str:
    """Return the section of a prompt. The text of a note is between tags, and can't close them."""
    if not notes:
        return ""
    parts = [_HEADING]
    for note in notes:
        parts.append(f"### {_line(note.title)}\n\n{_line(note.description)}".rstrip())
        if note.key in contents:
            body = contents[note.key].replace("</note", "<\\/note")
            parts.append(f'<note path="{_line(note.key)}">\n{body}\n</note>')
    return "\n\n".join(parts)


def _line(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace('"', "'")
