"""Topics: clusters of linked notes, each with its central note and the terms that tell it from the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.domains.vault.graph import NoteGraph, StoredNote
from pipeline.text.labels import labels, terms_of

OTHERS = "Other notes"
"""The name of the topic of notes that no link joins with another one of their index."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """The keys of a topic's notes, the central one first, the others in order; ``linked`` is false for the rest."""

    keys: tuple[str, ...]
    linked: bool = True

    @property
    def central(self) -> str:
        """The key of the note with the most links within the topic."""
        return self.keys[0]

    def within(self, keys: Collection[str], notes: NoteGraph) -> Cluster | None:
        """Return what of the topic is among some notes, if anything."""
        wanted = set(keys)
        left = [key for key in self.keys if key in wanted]
        return Cluster(_central_first(left, notes), self.linked) if left else None


def clusters(communities: Iterable[Sequence[str]], notes: NoteGraph) -> list[Cluster]:
    """Return the topics of communities, the largest first, and last the notes that are in no community of two."""
    groups = [[key for key in community if key in notes.notes] for community in communities]
    rest = sorted(key for group in groups if len(group) == 1 for key in group)
    linked = [Cluster(_central_first(group, notes)) for group in groups if len(group) > 1]
    return [*linked, *([Cluster(tuple(rest), linked=False)] if rest else [])]


def topic_names(topics: Sequence[Cluster], notes: Mapping[str, StoredNote]) -> list[str]:
    """Return the name of each topic: the terms of titles and tags that tell it from the others.

    Each name is another: one that is taken gets the title of the central note.
    """
    found = labels([[_terms(notes[key]) for key in topic.keys] for topic in topics])
    names: list[str] = []
    for topic, shown in zip(topics, found, strict=True):
        title = notes[topic.central].title
        name = (shown or title) if topic.linked else OTHERS
        names.append(name if name not in names else f"{name} ({title})")
    return names


def _terms(note: StoredNote) -> Mapping[str, str]:
    return {**terms_of(note.title), **{tag.casefold(): tag for tag in note.tags}}


def _central_first(keys: Sequence[str], notes: NoteGraph) -> tuple[str, ...]:
    inside = set(keys)
    degrees: Counter[str] = Counter()
    for key in keys:
        for link in notes.outgoing.get(key, ()):
            if link.target in inside:
                degrees.update({key: link.times, link.target: link.times})
    central = min(keys, key=lambda key: (-degrees[key], key))
    return (central, *sorted(inside - {central}))
