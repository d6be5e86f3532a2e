"""Progressive disclosure: titles and descriptions of notes, and the content of the first, cut at section borders."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pipeline.domains.vault.graph import NoteGraph, StoredNote

_HEADING = "## Relevant Knowledge"
_LEFT_OUT = "[...]"


class _Passage(NamedTuple):
    start: int
    end: int
    text: str
    tokens: int


def disclose(
    graph: NoteGraph,
    notes: Sequence[StoredNote],
    found: Mapping[str, Sequence[int]],
    full: int,
    tokens: int,
) -> tuple[dict[str, str], str]:
    """Return the contents of the first ``full`` notes by key, and the section of a prompt with all notes.

    The contents have at most ``tokens`` tokens of the embedder together. Of a longer note the sections are kept that
    the search found, best first (``found``: where they start), then those from its beginning, in reading order.
    """
    wanted = [note.key for note in notes[:full]]
    passages = _passages(graph, wanted)
    contents: dict[str, str] = {}
    for left, key in zip(range(len(wanted), 0, -1), wanted, strict=True):
        # A share of the tokens goes unused by a short note: the next note may use it.
        kept = _kept(passages[key], found.get(key, ()), tokens // left, tokens)
        tokens -= sum(passage.tokens for passage in kept)
        if kept:
            contents[key] = _joined(kept, passages[key])
    return contents, _section(notes, contents)


def _passages(graph: NoteGraph, keys: Sequence[str]) -> dict[str, list[_Passage]]:
    passages: dict[str, list[_Passage]] = defaultdict(list)
    for row in graph.corpus.read("vault_passages", keys=list(keys)):
        passages[row["key"]].append(_Passage(row["start"], row["end"], row["text"], row["tokens"]))
    return passages


def _kept(passages: Sequence[_Passage], found: Sequence[int], share: int, left: int) -> set[_Passage]:
    """Return the passages that fit: those that the search found, best first, then the others in order.

    They have ``share`` tokens together, or the first of them alone as many as are ``left``.
    """
    places = {start: place for place, start in enumerate(found)}
    kept: set[_Passage] = set()
    for passage in sorted(passages, key=lambda one: (places.get(one.start, len(places)), one.start)):
        if passage.tokens <= (share if kept else max(share, left)):
            kept.add(passage)
            share -= passage.tokens
    return kept


def _joined(kept: set[_Passage], every: Sequence[_Passage]) -> str:
    """Return passages in reading order, what two share once, with a mark where others are left out."""
    parts: list[str] = []
    end = 0
    for passage in sorted(every, key=lambda one: one.start):
        if passage in kept:
            # Passages of a section overlap; the front matter's description comes before all.
            parts.append(passage.text[max(0, end - passage.start) :].strip("\n"))
            end = passage.end
        elif not parts or parts[-1] != _LEFT_OUT:
            parts.append(_LEFT_OUT)
    return "\n\n".join(filter(None, parts))


def _section(notes: Sequence[StoredNote], contents: Mapping[str, str]) -> str:
    """Return the section of a prompt. Text of notes stands between tags, which it can't close itself."""
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
