"""Maps of content: for each skill or folder, and the vault as a whole, an index of its notes by topic.

They are a knowledge graph beside the corpus. Its topics are the communities of the linked notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipeline.api import HopRank
from pipeline.db.catalogue import derived_name, find_corpus, find_graph
from pipeline.db.corpus import CorpusHandle
from pipeline.domains.vault.links import folded, without_suffix
from pipeline.domains.vault.note import ANY, Note, NoteType
from pipeline.domains.vault.schema import HOLDS, INDEX, LINKS_TO, NOTE, SCHEMA, TOPIC
from pipeline.domains.vault.stored import NoteGraph, OpenVault, open_vault, read_graph
from pipeline.errors import CorpusError, InputError, did_you_mean
from pipeline.flows import maintain
from pipeline.grouping import grouped
from pipeline.ids import digest
from pipeline.json_values import JsonRecord
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.catalogue import derived_graph
from pipeline.knowledge.records import Json
from pipeline.text.labels import labels, terms_of
from pipeline.text.prose import one_line

_NOT_IN_ALIAS = str.maketrans("[]|", "()-")

OTHERS = "Other notes"
"""The name of the topic of notes without a link to another note of their index."""

_WHOLE = frozenset(
    ("contents", "home", "index", "map of content", "moc", "overview", "readme", "start here", "welcome")
)
"""Titles of maps of whole vaults, which name no topic."""

_ALIKE = 0.5
"""Links weigh 0.5 to 1.5, by the cosine of their notes: a link between notes about one thing counts up to three times
as much for their topic as one between notes that have nothing in common. Chosen by hand; not measured."""


_INDEX = "index"


class IndexKey(NamedTuple):
    """The subject of an index: a user's notes, limited to a skill or a top folder if one is given."""

    user: str
    skill: str = ""
    folder: str = ""

    @property
    def id(self) -> str:
        """The id of the index's node."""
        return "index:" + digest(*self)[:16]


def index_name(vault: str) -> str:
    """Return the name of the graph that holds the indexes of a vault."""
    return derived_name(vault, _INDEX)


def refresh_index(hoprank: HopRank, vault: str) -> KnowledgeGraph:
    """Bring the indexes of a vault up to date, and return their graph; nothing is written if they are.

    Raises CorpusError if there is no vault of that name.
    """
    corpus = open_vault(hoprank.client, vault)
    graph = hoprank.graph_of(derived_graph(hoprank.client, vault, _INDEX))
    before = graph.find_nodes_by_type(INDEX)
    if before and all(index.properties.get("of") == _state(corpus) for index in before):
        return graph
    notes = read_graph(corpus).scoped(ANY, published=True)
    nodes, links = list(_nodes(notes)), list(_links(notes))
    # Readers see the old topics, with what is left in them, until the new ones are found.
    old = [*graph.find_nodes_by_type(TOPIC), *before] if before else []
    kept = {node.id for node in (*nodes, *old)}
    edges = graph.get_edges_by_type(HOLDS) if before else []
    left = (edge for edge in edges if {edge.source, edge.target} <= kept)
    graph.sync([*nodes, *old], [*links, *left], schema=SCHEMA)
    topics, holds = _maps(notes, graph.communities())
    graph.sync([*nodes, *topics], [*links, *holds], schema=SCHEMA)
    return graph


def indexes(notes: Mapping[str, Note]) -> dict[IndexKey, list[str]]:
    """Return the keys of the notes of each index: of each skill, of each folder for notes without, and of all."""
    keys: dict[IndexKey, list[str]] = {}
    for key, note in notes.items():
        user, skill = note.scope.user, note.scope.skill
        folder = key.split("/", 1)[0] if "/" in key and not skill else ""
        for index in {IndexKey(user), IndexKey(user, skill, folder)}:
            keys.setdefault(index, []).append(key)
    return keys


def drop_vault(hoprank: HopRank, vault: str) -> None:
    """Delete a vault and its indexes, irrevocably; its folder stays. Raises CorpusError if there is neither.

    The indexes are deleted too if the corpus was dropped before.
    """
    index = find_graph(hoprank.client, index_name(vault))
    if index is None:
        open_vault(hoprank.client, vault)
    if find_corpus(hoprank.client, vault):
        maintain.drop(hoprank.client, vault)
    if index is not None:
        hoprank.graph_of(index).drop()


def _nodes(notes: NoteGraph) -> Iterator[KnowledgeNode]:
    for note in notes.notes.values():
        given = {"title": note.title, "description": note.description, "type": note.type.value, **note.scope._asdict()}
        properties = {name: value for name, value in given.items() if value}
        yield KnowledgeNode(note.key, NOTE, labels=note.tags, properties=properties)


def _links(notes: NoteGraph) -> Iterator[KnowledgeEdge]:
    for link in notes.links:
        first, second = notes.vectors[notes.rows[link.source]], notes.vectors[notes.rows[link.target]]
        weight = link.times * (_ALIKE + max(0.0, float(np.dot(first, second))))
        properties: dict[str, Json] = {"relations": list(link.relations)} if link.relations else {}
        yield KnowledgeEdge(link.source, link.target, LINKS_TO, weight=round(weight, 3), properties=properties)


def _maps(notes: NoteGraph, communities: Iterable[Sequence[str]]) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes of all indexes and topics, and what these hold."""
    nodes: list[KnowledgeNode] = []
    holds: list[KnowledgeEdge] = []
    groups = [[key for key in community if key in notes.notes] for community in communities]
    # The notes that are in no community of two come last.
    linked = [(group, True) for group in groups if len(group) > 1]
    parts = [*linked, ([key for group in groups if len(group) == 1 for key in group], False)]
    for index, keys in sorted(indexes(notes.notes).items()):
        inside = [topic for group in parts if (topic := _cluster(*group, keys, notes))]
        given = {"title": index.skill or index.folder, **index._asdict(), "type": "moc", "of": _state(notes.corpus)}
        properties: dict[str, Json] = {name: value for name, value in given.items() if value}
        nodes.append(KnowledgeNode(index.id, INDEX, properties={**properties, "generated": True, "notes": len(keys)}))
        for place, (topic, name) in enumerate(zip(inside, topic_names(inside, notes.notes), strict=True)):
            topic_id = f"{index.id}:{digest(topic.central)[:16]}"
            about: dict[str, Json] = {"name": name, "central": topic.central, "place": place, "linked": topic.linked}
            nodes.append(KnowledgeNode(topic_id, TOPIC, properties=about))
            pairs = [(index.id, topic_id), *((topic_id, key) for key in topic.keys)]
            # Without weight: what an index holds is found by the links, and must not count as one.
            holds.extend(KnowledgeEdge(*pair, HOLDS, weight=0.0) for pair in pairs)
    return nodes, holds


def _state(corpus: CorpusHandle) -> str:
    """Return the state of a corpus, which its indexes are stamped with: they are current if it is the same."""
    return f"{corpus.id}:{corpus.generation}"


class Cluster(NamedTuple):
    """The keys of a topic's notes, the central one first, the others in order; ``linked`` is false for the rest."""

    keys: tuple[str, ...]
    linked: bool

    @property
    def central(self) -> str:
        """The key of the note with the most links within the topic."""
        return self.keys[0]


def _cluster(group: Sequence[str], linked: bool, among: Iterable[str], notes: NoteGraph) -> Cluster | None:
    """Return the part of a group that is ``among`` some notes; None if no note of it is."""
    inside = set(group) & set(among)
    degrees: Counter[str] = Counter()
    for key in inside:
        for link in notes.outgoing.get(key, ()):
            if link.target in inside:
                degrees.update({key: link.times, link.target: link.times})
    central = min(inside, key=lambda key: (-degrees[key], key), default="")
    return Cluster((central, *sorted(inside - {central})), linked) if inside else None


def topic_names(topics: Sequence[Cluster], notes: Mapping[str, Note]) -> list[str]:
    """Return the name of each topic: what at least two of its notes have in titles and tags, and others less.

    If no two share a word, or if somebody wrote the central note as a map of content, its title is the name, unless
    that is of a map of all. A name that another topic has is followed by that title.
    """
    terms = [
        [
            ({} if folded(notes[key].title) in _WHOLE else terms_of(notes[key].title))
            | {tag.casefold(): tag for tag in notes[key].tags}
            for key in topic.keys
        ]
        for topic in topics
    ]
    names: list[str] = []
    for topic, shared, every in zip(topics, labels(terms, shared=True), labels(terms), strict=True):
        title, is_map = notes[topic.central].title, notes[topic.central].type is NoteType.MOC
        own = "" if folded(title) in _WHOLE else title
        told = (own if is_map else "") or shared or own or every or title
        name = told if topic.linked else OTHERS
        names.append(name if name not in names else f"{name} ({title})")
    return names


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
class IndexNode(JsonRecord):
    """The index of a skill, of a folder, or of the vault as a whole; its topics are the largest first."""

    title: str
    skill: str
    folder: str
    topics: tuple[Topic, ...]

    def to_markdown(self) -> str:
        """Return the index as the text of a note: topics, the notes of each with their descriptions, and links."""
        links = {
            note.key: f"[[{without_suffix(note.key)}|{one_line(note.title).translate(_NOT_IN_ALIAS)}]]"
            for topic in self.topics
            for note in topic.notes
        }
        lines = ["---", "type: moc", "generated: true", "---", "", f"# {one_line(self.title)}"]
        for topic in self.topics:
            lines += ["", f"## {one_line(topic.name)}", ""]
            for note in topic.notes:
                description = f": {one_line(note.description)}" if note.description else ""
                lines.append(f"- {links[note.key]}{description}")
                if note.links:
                    lines.append(f"  - links to {', '.join(links[key] for key in note.links)}")
        return "\n".join(lines)


def graph_index_node(vault: OpenVault, skill: str = "", *, folder: str = "") -> IndexNode:
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
    inside = {key for topic in topics for key in topic.keys}

    def indexed(key: str) -> IndexedNote:
        note, links = notes.notes[key], (link.target for link in notes.outgoing.get(key, ()))
        shown = tuple(target for target in links if target in inside)
        return IndexedNote(key, note.title, note.description, note.type.value, shown)

    named = zip(topic_names(topics, notes.notes), topics, strict=True)
    shown = tuple(Topic(name, tuple(map(indexed, topic.keys))) for name, topic in named)
    return IndexNode(skill or folder or vault.name, skill, folder, shown)


def _topics(graph: KnowledgeGraph, wanted: Iterable[IndexKey], notes: NoteGraph) -> Iterable[Cluster]:
    """Yield the topics of some indexes, without the notes that are outside of the scope."""
    members = grouped((edge.source, edge.target) for edge in graph.get_edges_by_type(HOLDS))
    nodes = {node.id: node.properties for node in (*graph.find_nodes_by_type(INDEX), *graph.find_nodes_by_type(TOPIC))}
    for index in sorted(wanted):
        for topic in sorted(members[index.id], key=lambda topic: (int(str(nodes[topic]["place"])), topic)):
            if cluster := _cluster(members[topic], nodes[topic]["linked"] is True, notes.notes, notes):
                yield cluster
