"""A vault's notes and links in memory: read from its corpus at once, and again when that changes."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.api import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.corpus import CorpusHandle, read_whole
from pipeline.domains.vault.links import folded, names_of
from pipeline.domains.vault.note import ANY, Note, NoteEntry, NoteType, Scope
from pipeline.errors import CorpusError, InputError, did_you_mean
from pipeline.grouping import grouped
from pipeline.records import Vector, metadata_of

_Measured = TypeVar("_Measured")

Rows = npt.NDArray[np.intp]


class NoteLink(NamedTuple):
    """The links from one note to another: their number, types, and the sentences around them, in order."""

    source: str
    target: str
    times: int
    relations: tuple[str, ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class NoteGraph:
    """The notes of a vault by key, in order, and the links between different notes; ``whole``: none is left out."""

    corpus: CorpusHandle
    notes: Mapping[str, Note]
    links: tuple[NoteLink, ...]
    whole: bool = True
    _measurements: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The notes' keys: the order of rows in ``vectors``."""
        return tuple(self.notes)

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each note, by key."""
        return {key: row for row, key in enumerate(self.keys)}

    @cached_property
    def outgoing(self) -> Mapping[str, Sequence[NoteLink]]:
        """The links from each note, by key."""
        return grouped((link.source, link) for link in self.links)

    @cached_property
    def incoming(self) -> Mapping[str, Sequence[NoteLink]]:
        """The links to each note, by key."""
        return grouped((link.target, link) for link in self.links)

    def measured(self, name: str, measure: Callable[[], _Measured]) -> _Measured:
        """Return the measurement of these notes with a name, made once by ``measure``."""
        if name not in self._measurements:
            self._measurements[name] = measure()
        measured: _Measured = self._measurements[name]
        return measured

    @cached_property
    def ends(self) -> tuple[Rows, Rows]:
        """The pairs of linked notes, by row, each pair once in both directions."""
        pairs = sorted({tuple(sorted((self.rows[link.source], self.rows[link.target]))) for link in self.links})
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return np.concatenate([first, second]), np.concatenate([second, first])

    @cached_property
    def passages(self) -> tuple[Vector, Rows]:
        """The vectors of all passages, shape (passages, dimension), and the row of each one's note."""
        passages = [
            (self.rows[row["document"]], row["vector"].to_numpy())
            for row in self.corpus.stream("visible_vectors")
            if row["document"] in self.rows
        ]
        rows = np.array([row for row, _ in passages], dtype=np.intp)
        vectors = np.array([vector for _, vector in passages], dtype=np.float32)
        return vectors.reshape(-1, self.corpus.record.dimension), rows

    @cached_property
    def sentences(self) -> tuple[Vector, Rows, Rows]:
        """The vectors of the sentences around links, shape (sentences, dimension), and each one's source and target."""
        rows = [
            (self.rows[row["source"]], self.rows[row["target"]], row["vector"].to_numpy())
            for row in self.corpus.stream("vault_sentences")
            if row["source"] != row["target"] and {row["source"], row["target"]} <= self.rows.keys()
        ]
        vectors = np.array([vector for *_, vector in rows], dtype=np.float32)
        sources, targets = (np.array([row[end] for row in rows], dtype=np.intp) for end in (0, 1))
        return vectors.reshape(-1, self.corpus.record.dimension), sources, targets

    @cached_property
    def vectors(self) -> Vector:
        """The mean direction of each note's passages, shape (notes, dimension); zero for a note without any."""
        vectors, rows = self.passages
        sums = np.zeros((len(self.notes), self.corpus.record.dimension))
        np.add.at(sums, rows, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(lengths > 0, lengths, 1)).astype(np.float32)

    def best(self, cosines: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.float64]:
        """Return the highest value of each note's passages, -1 for a note without any; ``cosines`` are by passage."""
        highest: npt.NDArray[np.float64] = np.full(len(self.notes), -1.0)
        np.maximum.at(highest, self.passages[1], cosines)
        return highest

    def scoped(self, scope: Scope, *, published: bool = False) -> NoteGraph:
        """Return the notes of a user, skill and agent, and the links among them; ``published``: of published notes."""
        notes = {
            key: note
            for key, note in self.notes.items()
            if (note.published or not published) and scope.holds(note.scope)
        }
        if len(notes) == len(self.notes):
            return self
        links = tuple(link for link in self.links if link.source in notes and link.target in notes)
        return NoteGraph(self.corpus, notes, links, whole=False)

    def neighbours(self, key: str) -> set[str]:
        """Return the notes that a note links to, or that link to it."""
        targets, sources = self.outgoing.get(key, ()), self.incoming.get(key, ())
        return {*(link.target for link in targets), *(link.source for link in sources)}


def read_graph(corpus: CorpusHandle) -> NoteGraph:
    """Return the notes and links of a vault's visible generation; raises Superseded if another is published by now."""
    notes = {row["note"]["key"]: _note(row["note"]) for row in corpus.stream("vault_notes")}
    merged: dict[tuple[str, str], list[Any]] = defaultdict(lambda: [0, {}, {}])
    for row in corpus.stream("vault_links"):
        if row["source"] != row["target"] and {row["source"], row["target"]} <= notes.keys():
            link = merged[row["source"], row["target"]]
            link[0] += row["count"]
            link[1].update(dict.fromkeys(row["relations"]))
            link[2].update(dict.fromkeys(filter(None, row["context"].split("\n"))))
    corpus.check_visible()
    links = (NoteLink(*ends, count, tuple(types), tuple(texts)) for ends, (count, types, texts) in merged.items())
    return NoteGraph(corpus, notes, tuple(links))


def list_notes(graph: NoteGraph, type_: str, tag: str) -> list[NoteEntry]:
    """Return the notes of a type, with a tag or a tag below it, by key; see :meth:`pipeline.domains.vault.api.Vault`.

    Raises InputError for an unknown type.
    """
    if type_ and type_ not in set(NoteType):
        raise InputError(
            f"There is no type {str(type_)!r}.", did_you_mean(type_, list(NoteType), f"Types: {', '.join(NoteType)}.")
        )
    wanted = folded(tag.lstrip("#"))
    return [
        NoteEntry(
            note.key,
            note.title,
            note.description,
            note.type.value,
            note.tags,
            note.updated,
            note.published,
            note.is_made_by_agent,
            note.version,
        )
        for note in graph.notes.values()
        if (not type_ or note.type == type_)
        and (not wanted or any(f"{folded(other)}/".startswith(f"{wanted}/") for other in note.tags))
    ]


def _note(properties: Mapping[str, Any]) -> Note:
    given = metadata_of(properties)
    type_ = given.get("type", "")
    return Note(
        key=properties["key"],
        title=properties["title"],
        description=given.get("description", ""),
        type=NoteType(type_) if type_ in set(NoteType) else NoteType.CONCEPT,
        tags=tuple(given.get("tags", ())),
        aliases=tuple(given.get("aliases", ())),
        scope=Scope(*(given.get(name, "") for name in Scope._fields)),
        published=given.get("published", True) is not False,
        created=given.get("created", ""),
        updated=given.get("updated") or properties.get("modified", ""),
        path=properties["path"],
        is_created=properties["original"],
        version=properties.get("text_hash") or "",
        unresolved=tuple(given.get("unresolved", ())),
        metadata=given,
    )


def open_vault(client: Client, name: str) -> CorpusHandle:
    """Return the corpus of a vault; raises CorpusError if there is none."""
    return CorpusHandle(client, get_corpus(client, name, "vault", f"hoprank vault sync DIR --vault {name}"))


class OpenVault:
    """A vault in its corpus; ``scope`` limits it to the notes of a user, skill and agent. Thread-safe.

    Every read sees the newest generation. The notes of a generation are kept in memory: about 2 KB for each passage and
    for each link with a sentence.
    """

    def __init__(self, hoprank: HopRank, name: str, scope: Scope = ANY) -> None:
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

        def read() -> NoteGraph:
            corpus = open_vault(self.hoprank.client, self.name)
            with self._lock:
                every = self._all
                if every is None or (every.corpus.id, every.corpus.generation) != (corpus.id, corpus.generation):
                    every = read_graph(corpus)
                    self._all, self._graphs = every, {}
                if published not in self._graphs:
                    self._graphs[published] = every.scoped(self.scope, published=published)
                return self._graphs[published]

        return read_whole(read)

    def note(self, name: str) -> Note:
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
        titles = [note.title for note in graph.notes.values()]
        raise CorpusError(
            f"The vault {self.name!r} has no note {name!r}.",
            did_you_mean(name, titles, "Give its path, file name, title or alias."),
        )
