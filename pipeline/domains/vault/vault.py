"""A vault in its corpus: opened once, and read again when it changes."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from pipeline.api import HopRank
from pipeline.db.corpus import open_corpus
from pipeline.domains.vault.links import folded, names_of
from pipeline.domains.vault.note import ANY, Scope
from pipeline.domains.vault.stored import NoteGraph, StoredNote, read_graph
from pipeline.errors import CorpusError, did_you_mean


class Vault:
    """The vault of a name; ``scope`` limits it to the notes of a user, skill and agent. Thread-safe.

    Every read sees the newest generation. The notes of a generation are kept in memory: about 2 KB for each passage and
    for each link with a sentence.

    Example::

        from pipeline import HopRank
        from pipeline.domains.vault.context import load_relevant_knowledge
        from pipeline.domains.vault.vault import Vault

        with HopRank.connect() as hoprank:
            vault = Vault(hoprank, "vault")
            print(load_relevant_knowledge(vault, "How do I end a session?").text)
    """

    def __init__(self, hoprank: HopRank, name: str = "vault", scope: Scope = ANY) -> None:
        self.hoprank = hoprank
        self.name = name
        self.scope = scope
        self._lock = threading.Lock()
        self._all: NoteGraph | None = None
        self._graphs: dict[bool, NoteGraph] = {}

    def graph(self, *, published: bool = False) -> NoteGraph:
        """Return the notes and links of the scope; with ``published`` only notes that are published.

        Raises CorpusError if there is no vault of that name.
        """
        corpus = open_corpus(self.hoprank.client, self.name)
        with self._lock:
            every = self._all
            if every is None or (every.corpus.id, every.corpus.generation) != (corpus.id, corpus.generation):
                every = read_graph(corpus)
                self._all, self._graphs = every, {}
            if published not in self._graphs:
                self._graphs[published] = every.scoped(self.scope, published=published)
            return self._graphs[published]

    def filters(self, graph: NoteGraph) -> Mapping[str, Any] | None:
        """Return the filter of a search for the published notes of the scope; None if that is all notes."""
        if graph is self._all:
            return None
        wanted = {f"metadata.{name}": value for name, value in self.scope._asdict().items() if value}
        return {"metadata.published": {"$ne": False}, **wanted}

    def note(self, name: str) -> StoredNote:
        """Return the note with this key, file name, title or alias; raises CorpusError if none or several have it."""
        graph = self.graph()
        if name in graph.notes:
            return graph.notes[name]
        wanted = folded(name.removesuffix(".md"))
        found = [note for note in graph.notes.values() if wanted in names_of(note)]
        if len(found) == 1:
            return found[0]
        if found:
            raise CorpusError(
                f"{len(found)} notes are called {name!r}: {', '.join(note.key for note in found[:5])}.",
                "Give the path of one of them.",
            )
        known = [note.title for note in graph.notes.values()]
        raise CorpusError(
            f"The vault {self.name!r} has no note {name!r}.",
            did_you_mean(name, known, "Give its path, file name, title or alias."),
        )
