"""Maps of content: for each skill or folder, and the vault as a whole, an index of its notes by topic.

They are a knowledge graph beside the corpus. Its topics are the communities of the linked notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from pipeline.api import HopRank
from pipeline.db.catalogue import find_corpus
from pipeline.db.corpus import CorpusHandle, open_corpus
from pipeline.domains.vault.graph import NoteGraph, StoredNote, read_graph
from pipeline.domains.vault.maps.topics import Cluster, clusters, topic_names
from pipeline.domains.vault.records import ANY
from pipeline.domains.vault.schema import HOLDS, INDEX, LINKS_TO, NOTE, SCHEMA, TOPIC
from pipeline.errors import GraphError
from pipeline.flows import maintain
from pipeline.ids import digest
from pipeline.knowledge import KnowledgeEdge, KnowledgeGraph, KnowledgeNode
from pipeline.knowledge.catalogue import find_graph
from pipeline.knowledge.records import Json


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
    return f"{vault} index"


def refresh_index(hoprank: HopRank, vault: str) -> KnowledgeGraph:
    """Bring the indexes of a vault up to date, and return their graph; nothing is written if they are.

    Raises CorpusError if there is no vault of that name, GraphError if another graph has the name of its indexes.
    """
    corpus = open_corpus(hoprank.client, vault)
    graph = hoprank.graph(index_name(vault))
    before = graph.find_nodes_by_type(INDEX)
    if not before and graph.size().nodes and not graph.find_nodes_by_type(NOTE):
        raise GraphError(
            f"The graph {graph.name!r} isn't the index of the vault {vault!r}.",
            f"Export it under another name and drop it: hoprank graph drop {graph.name!r}.",
        )
    if before and all(index.properties.get("of") == _state(corpus) for index in before):
        return graph
    notes = read_graph(corpus).scoped(ANY, published=True)
    nodes, links = [_note_node(note) for note in notes.notes.values()], list(_links(notes))
    SCHEMA.check(nodes, links)
    _sync_notes(graph, nodes, links)
    groups = clusters(graph.communities(), notes)
    topics, holds = _maps(notes, groups)
    SCHEMA.check([*nodes, *topics], [*links, *holds])
    graph.sync([*nodes, *topics], [*links, *holds])
    return graph


def indexes(notes: Mapping[str, StoredNote]) -> dict[IndexKey, list[str]]:
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
    has_index = find_graph(hoprank.client, index_name(vault)) is not None
    if find_corpus(hoprank.client, vault) or not has_index:
        maintain.drop(hoprank.client, vault)
    if has_index:
        hoprank.graph(index_name(vault)).drop()


def _sync_notes(graph: KnowledgeGraph, nodes: Sequence[KnowledgeNode], links: Sequence[KnowledgeEdge]) -> None:
    """Bring the graph to hold these notes and links, and the old topics with what is left in them.

    Readers see the old topics until the new ones are found.
    """
    old = [*graph.find_nodes_by_type(TOPIC), *graph.find_nodes_by_type(INDEX)]
    known = {node.id for node in (*nodes, *old)}
    holds = [edge for edge in graph.get_edges_by_type(HOLDS) if {edge.source, edge.target} <= known]
    graph.sync([*nodes, *old], [*links, *holds])


def _note_node(note: StoredNote) -> KnowledgeNode:
    properties = {"title": note.title, "description": note.description, "type": note.type.value, **note.scope._asdict()}
    return KnowledgeNode(note.key, NOTE, labels=note.tags, properties={name: v for name, v in properties.items() if v})


def _links(notes: NoteGraph) -> Iterator[KnowledgeEdge]:
    """Yield the links; a link between notes that are alike weighs up to three times as much as one that aren't."""
    for link in notes.links:
        first, second = notes.vectors[notes.rows[link.source]], notes.vectors[notes.rows[link.target]]
        weight = link.times * (0.5 + max(0.0, float(np.dot(first, second))))
        properties: dict[str, Json] = {"relations": list(link.relations)} if link.relations else {}
        yield KnowledgeEdge(link.source, link.target, LINKS_TO, weight=round(weight, 3), properties=properties)


def _maps(notes: NoteGraph, groups: Sequence[Cluster]) -> tuple[list[KnowledgeNode], list[KnowledgeEdge]]:
    """Return the nodes of all indexes and topics, and what these hold."""
    nodes: list[KnowledgeNode] = []
    holds: list[KnowledgeEdge] = []
    for index, keys in sorted(indexes(notes.notes).items()):
        inside = [part for group in groups if (part := group.within(keys, notes))]
        nodes.append(_index_node(index, len(keys), _state(notes.corpus)))
        for place, (topic, name) in enumerate(zip(inside, topic_names(inside, notes.notes), strict=True)):
            topic_id = f"{index.id}:{digest(topic.central)[:16]}"
            properties: dict[str, Json] = {
                "name": name,
                "central": topic.central,
                "place": place,
                "linked": topic.linked,
            }
            nodes.append(KnowledgeNode(topic_id, TOPIC, properties=properties))
            holds.append(_holds(index.id, topic_id))
            holds.extend(_holds(topic_id, key) for key in topic.keys)
    return nodes, holds


def _index_node(index: IndexKey, notes: int, state: str) -> KnowledgeNode:
    given = {"title": index.skill or index.folder, **index._asdict(), "type": "moc", "of": state}
    properties = {name: value for name, value in given.items() if value}
    return KnowledgeNode(index.id, INDEX, properties={**properties, "generated": True, "notes": notes})


def _state(corpus: CorpusHandle) -> str:
    """Return the state of a corpus by which its indexes are known to be current."""
    return f"{corpus.id}:{corpus.generation}"


def _holds(source: str, target: str) -> KnowledgeEdge:
    # Without weight: what an index holds is found by the links, and must not count as one.
    return KnowledgeEdge(source, target, HOLDS, weight=0.0)
