"""Read a map of content: the topics of a skill's, a folder's or a whole vault's notes, with their descriptions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.domains.vault.graph import NoteGraph
from pipeline.domains.vault.maps.mocs import IndexKey, indexes, refresh_index
from pipeline.domains.vault.maps.topics import Cluster, topic_names
from pipeline.domains.vault.schema import HOLDS, INDEX, TOPIC
from pipeline.domains.vault.upkeep.targets import without_suffix
from pipeline.domains.vault.vault import Vault
from pipeline.errors import CorpusError, InputError, did_you_mean
from pipeline.knowledge import KnowledgeGraph


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """A note of an index; ``links`` are the notes of the index that it links to, by key, in order."""

    key: str
    title: str
    description: str
    type: str
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and its notes, the central one first."""

    name: str
    notes: tuple[IndexedNote, ...]


@dataclass(frozen=True, slots=True)
class IndexNode:
    """The index of a skill, of a folder, or of the vault as a whole; its topics are the largest first."""

    title: str
    skill: str
    folder: str
    topics: tuple[Topic, ...]

    def to_json(self) -> dict[str, Any]:
        """Return this as plain JSON values."""
        return asdict(self)

    def to_markdown(self) -> str:
        """Return the index as the text of a note: topics, the notes of each with their descriptions, and links."""
        links = {note.key: _wikilink(note) for topic in self.topics for note in topic.notes}
        lines = ["---", "type: moc", "generated: true", "---", "", f"# {_line(self.title)}"]
        for topic in self.topics:
            lines += ["", f"## {_line(topic.name)}", ""]
            for note in topic.notes:
                description = f": {_line(note.description)}" if note.description else ""
                lines.append(f"- {links[note.key]}{description}")
                if note.links:
                    lines.append(f"  - links to {', '.join(links[key] for key in note.links)}")
        return "\n".join(lines)


def graph_index_node(vault: Vault, skill: str = "", *, folder: str = "") -> IndexNode:
    """Return the index of the published notes of the vault's scope: a skill's, a folder's, or without both of all.

    The index is brought up to date first. Raises CorpusError if the scope has no such skill or folder.
    """
    if skill and folder:
        raise InputError(f"Both a skill, {skill!r}, and a folder, {folder!r}, are given.", "Give one of them.")
    skill, folder = skill or ("" if folder else vault.scope.skill), folder.strip("/")
    graph, notes = refresh_index(vault.hoprank, vault.name), vault.graph(published=True)
    known = indexes(notes.notes)
    wanted = {key for key in known if (key.skill, key.folder) == (skill, folder)}
    if not wanted and (skill or folder):
        kind, name = ("skill", skill) if skill else ("folder", folder)
        names = sorted({getattr(key, kind) for key in known} - {""})
        otherwise = f"There are: {', '.join(names)}." if names else f"No note has a {kind}."
        raise CorpusError(f"The vault {vault.name!r} has no {kind} {name!r}.", did_you_mean(name, names, otherwise))
    topics = list(_topics(graph, wanted, notes))
    names = topic_names(topics, notes.notes)
    inside = {key for topic in topics for key in topic.keys}
    return IndexNode(
        skill or folder or vault.name,
        skill,
        folder,
        tuple(
            Topic(name, tuple(_indexed(key, notes, inside) for key in topic.keys))
            for name, topic in zip(names, topics, strict=True)
        ),
    )


def _topics(graph: KnowledgeGraph, wanted: Iterable[IndexKey], notes: NoteGraph) -> Iterable[Cluster]:
    """Yield the topics of some indexes, with those notes that the scope sees."""
    held: Mapping[str, list[str]] = defaultdict(list)
    for edge in graph.get_edges_by_type(HOLDS):
        held[edge.source].append(edge.target)
    nodes = {node.id: node.properties for node in (*graph.find_nodes_by_type(INDEX), *graph.find_nodes_by_type(TOPIC))}
    for index in sorted(wanted):
        for topic in sorted(held[index.id], key=lambda topic: (int(str(nodes[topic]["place"])), topic)):
            linked = nodes[topic]["linked"] is True
            if cluster := Cluster(tuple(held[topic]), linked).within(notes.notes, notes):
                yield cluster


def _indexed(key: str, notes: NoteGraph, inside: set[str]) -> IndexedNote:
    note = notes.notes[key]
    links = tuple(link.target for link in notes.outgoing.get(key, ()) if link.target in inside)
    return IndexedNote(key, note.title, note.description, note.type.value, links)


def _wikilink(note: IndexedNote) -> str:
    shown = _line(note.title).replace("[", "(").replace("]", ")").replace("|", "-")
    return f"[[{without_suffix(note.key)}|{shown}]]"


def _line(text: str) -> str:
    return " ".join(text.split())
