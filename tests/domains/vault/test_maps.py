"""Maps of content: topics of linked notes, by skill, by folder, and of the whole vault."""

from __future__ import annotations

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline import HopRank, KnowledgeGraph
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus, find_graph
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.domains.vault import maps
from pipeline.domains.vault.api import Vault
from pipeline.domains.vault.maps import (
    OTHERS,
    Cluster,
    IndexKey,
    IndexNode,
    drop_vault,
    index_name,
    indexes,
    refresh_index,
    topic_names,
)
from pipeline.domains.vault.note import Note, NoteType, Scope
from pipeline.domains.vault.sources import read_folder
from pipeline.embedding.embedder import Embedder
from pipeline.errors import CorpusError, InputError
from pipeline.flows import maintain

GARDEN = Path(__file__).parent / "garden"
SOIL = {"soil/Compost.md", "soil/Earthworms.md", "soil/Mulch.md", "soil/Turning the heap.md"}
PLANTS = {f"plants/{name}.md" for name in ("Tomatoes", "Basil", "Marigold", "Pruning", "Seedlings", "Frost")}


def new_name() -> str:
    return f"h2-{uuid.uuid4().hex[:12]}"


@pytest.fixture(scope="module")
def garden(hoprank: HopRank) -> Iterator[str]:
    """The name of a vault that tests only read."""
    name = new_name()
    Vault(hoprank, name).sync(GARDEN)
    yield name
    drop_vault(hoprank, name)


@pytest.fixture
def grown(hoprank: HopRank, tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A copy of the garden and the name of its vault, for tests that change them."""
    shutil.copytree(GARDEN, tmp_path, dirs_exist_ok=True)
    name = new_name()
    Vault(hoprank, name, "alice").sync(tmp_path)
    yield tmp_path, name
    drop_vault(hoprank, name)


def groups(index: IndexNode) -> list[set[str]]:
    return [{note.key for note in topic.notes} for topic in index.topics]


def stored(key: str, user: str) -> Note:
    return Note(key, key, key, "", NoteType.CONCEPT, scope=Scope(user))


def content(graph: KnowledgeGraph) -> tuple[set[tuple[object, ...]], set[tuple[object, ...]]]:
    """What a graph holds, with the times of the writes."""
    nodes: set[tuple[object, ...]] = {
        (node.id, node.type, repr(sorted(node.properties.items())), node.updated_at) for node in graph.nodes()
    }
    return nodes, {(edge.source, edge.target, edge.type, edge.weight, edge.created_at) for edge in graph.edges()}


@pytest.mark.slow
def test_topics_are_the_communities_of_the_links(hoprank: HopRank, garden: str) -> None:
    index = Vault(hoprank, garden).index()
    topic_of = {key: place for place, group in enumerate(groups(index)) for key in group}

    assert topic_of.keys() == {note.key for note in read_folder(GARDEN).notes}
    assert len({topic_of[key] for key in SOIL}) == 1
    assert len({topic_of[f"plants/{name}.md"] for name in ("Tomatoes", "Basil", "Marigold", "Pruning")}) == 1
    assert topic_of["soil/Compost.md"] != topic_of["plants/Tomatoes.md"]


def test_a_topic_is_named_by_what_tells_it_from_the_others(hoprank: HopRank, garden: str) -> None:
    index = Vault(hoprank, garden).index()
    soil = next(topic for topic in index.topics if topic.notes[0].key in SOIL)
    plants = next(topic for topic in index.topics if "plants/Tomatoes.md" in {note.key for note in topic.notes})

    assert soil.name.split(", ")[:2] == ["earth", "heap"]
    assert plants.name.startswith("summer")
    # `work` is a tag of notes of both.
    assert "work" not in soil.name
    assert soil.notes[0].key == "soil/Compost.md"
    assert plants.notes[0].key in {"plants/Tomatoes.md", "plants/Basil.md"}


def test_a_topic_is_named_by_its_map_by_what_its_notes_share_or_by_its_central_note() -> None:
    titles = {"Soil life": ["Worms"], "Index": ["Sail cloth", "Sails of boats"], "Rope": ["Knots", "Anchor"]}
    maps = {"Soil life", "Index"}
    every = [title for central, others in titles.items() for title in (central, *others)]
    notes = {key: Note(key, key, key, "", NoteType.MOC if key in maps else NoteType.CONCEPT) for key in every}
    topics = [Cluster((central, *others), True) for central, others in titles.items()]

    assert topic_names(topics, notes) == ["Soil life", "Sail", "Rope"]


def test_a_skill_and_a_folder_have_an_index_each(hoprank: HopRank, garden: str) -> None:
    vault = Vault(hoprank, garden)
    skill, folder = vault.index("composting"), vault.index(folder="soil")

    assert set().union(*groups(skill)) == SOIL
    assert set().union(*groups(folder)) == {"soil/Watering.md"}
    assert set().union(*groups(vault.index(folder="plants"))) == PLANTS
    assert groups(Vault(hoprank, garden, skill="composting").index()) == groups(skill)
    compost = next(note for topic in skill.topics for note in topic.notes if note.key == "soil/Compost.md")
    assert (compost.title, compost.description, compost.type) == ("Compost", "What was alive becomes earth.", "concept")
    assert set(compost.links) == {"soil/Earthworms.md", "soil/Mulch.md", "soil/Turning the heap.md"}


def test_the_graph_has_the_indexes_topics_and_links(hoprank: HopRank, garden: str) -> None:
    graph = hoprank.graph(index_name(garden), create=False)
    indexes = {
        str(node.properties["title"]): node for node in graph.find_nodes_by_type("index") if "title" in node.properties
    }
    link = next(
        edge
        for edge in graph.get_edges_by_type("links_to")
        if edge.source == "plants/Basil.md" and edge.target == "plants/Tomatoes.md"
    )

    assert indexes.keys() == {"composting", "plants", "soil"}
    assert indexes["composting"].properties["type"] == "moc"
    assert indexes["composting"].properties["generated"] is True
    assert link.properties["relations"] == ["companion"]
    assert link.weight > 0.5
    topics = graph.get_neighbors(indexes["composting"].id, "holds")
    assert {note.id for topic in topics for note in graph.get_neighbors(topic.id, "holds")} == SOIL
    # The map that somebody wrote is a note.
    written = graph.get_node("Garden.md")
    assert written is not None
    assert (written.type, written.properties["type"]) == ("note", NoteType.MOC.value)


@pytest.mark.slow
def test_a_second_build_writes_nothing(hoprank: HopRank, grown: tuple[Path, str]) -> None:
    folder, name = grown
    graph = hoprank.graph(index_name(name), create=False)
    before = content(graph)

    Vault(hoprank, name, "alice").sync(folder)
    refresh_index(hoprank, name)

    assert content(graph) == before


@pytest.mark.slow
def test_the_index_follows_the_notes(hoprank: HopRank, grown: tuple[Path, str]) -> None:
    folder, name = grown
    (folder / "soil/Mulch.md").unlink()
    (folder / "soil/Compost.md").write_text("---\nskill: composting\npublished: false\n---\nSoon.\n")
    (folder / "plants/Moss.md").write_text("Moss is linked with nothing.\n")
    Vault(hoprank, name, "alice").sync(folder)
    vault = Vault(hoprank, name, "alice")

    index = vault.index()
    assert not {"soil/Mulch.md", "soil/Compost.md"} & set().union(*groups(index))
    assert "plants/Moss.md" in {note.key for note in index.topics[-1].notes}
    assert index.topics[-1].name == OTHERS
    stored = {node.id for node in hoprank.graph(index_name(name), create=False).find_nodes_by_type("note")}
    assert stored == set().union(*groups(index))

    made = vault.create("Lichen", "Lichen grows beside [[Moss]].")
    names = {topic.notes[0].title for topic in vault.index().topics if made.key in {n.key for n in topic.notes}}
    assert names <= {"Lichen", "Moss"}


@pytest.mark.slow
def test_another_users_notes_are_in_no_index(hoprank: HopRank, grown: tuple[Path, str]) -> None:
    folder, name = grown
    text = (
        "---\nuser: mallory\nskill: composting\ntags: [of-{0}]\nagent: {0}\n---\nInto the [[Compost]] and [[Poison]].\n"
    )
    (folder / "soil/Poison.md").write_text(text.format("one"))
    (folder / "soil/Venom.md").write_text(text.format("two"))
    Vault(hoprank, name, "alice").sync(folder)

    alice, mallory = Vault(hoprank, name, "alice"), Vault(hoprank, name, "mallory")
    for index in (alice.index(), alice.index("composting")):
        assert "oison" not in index.to_markdown()
    assert set().union(*groups(mallory.index())) == {"soil/Poison.md", "soil/Venom.md"}
    one = Vault(hoprank, name, "mallory", "", "two").index("composting")
    assert groups(one) == [{"soil/Venom.md"}]
    assert "Poison" not in one.topics[0].name
    assert "of-one" not in one.to_markdown()
    with pytest.raises(CorpusError, match="has no folder 'plants'"):
        mallory.index(folder="plants")
    # Without a user all are seen.
    assert "soil/Poison.md" in set().union(*groups(Vault(hoprank, name).index()))


def test_an_unknown_skill_is_told(hoprank: HopRank, garden: str) -> None:
    with pytest.raises(CorpusError, match="has no skill 'compost'") as told:
        Vault(hoprank, garden).index("compost")
    assert told.value.fix == "Did you mean 'composting'?"
    with pytest.raises(InputError, match="Both a skill"):
        Vault(hoprank, garden).index("composting", folder="soil")


@pytest.mark.slow
def test_an_index_that_is_left_by_its_corpus_can_be_dropped(hoprank: HopRank, grown: tuple[Path, str]) -> None:
    _, name = grown
    maintain.drop(hoprank.client, name)

    drop_vault(hoprank, name)

    assert find_graph(hoprank.client, index_name(name)) is None
    with pytest.raises(CorpusError, match="no vault"):
        drop_vault(hoprank, name)
    Vault(hoprank, name).sync(GARDEN)


@pytest.mark.slow
def test_an_index_is_as_if_the_vault_were_new_whatever_its_topics_were(
    hoprank: HopRank, grown: tuple[Path, str]
) -> None:
    folder, name = grown
    for note in folder.rglob("*.md"):
        note.write_text(re.sub(r"\[\[[^\]]*\]\]", "it", note.read_text(encoding="utf-8")), encoding="utf-8")
    pairs = [("plants/Basil.md", "Compost"), ("plants/Frost.md", "Mulch")]
    for path, target in pairs:
        with (folder / path).open("a", encoding="utf-8") as file:
            file.write(f"\n[[{target}]]\n")
    Vault(hoprank, name, "alice").sync(folder)
    fresh = new_name()
    Vault(hoprank, fresh, "alice").sync(folder)

    index, anew = (Vault(hoprank, one).index() for one in (name, fresh))

    drop_vault(hoprank, fresh)
    assert groups(index) == groups(anew)
    assert {"plants/Basil.md", "soil/Compost.md"} in groups(index)


def test_users_have_indexes_of_their_own() -> None:
    notes = {f"soil/{user}.md": stored(f"soil/{user}.md", user) for user in ("alice", "bob")}

    keys = indexes(notes)

    assert keys[IndexKey("alice", "", "soil")] == ["soil/alice.md"]
    assert keys[IndexKey("bob")] == ["soil/bob.md"]
    assert len({key.id for key in keys}) == 4


def test_an_index_that_is_current_is_not_built_again(
    hoprank: HopRank, garden: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the notes were read again")

    monkeypatch.setattr(maps, "read_graph", fail)

    refresh_index(hoprank, garden)


@pytest.mark.slow
def test_without_gds_the_same_topics_are_found(
    hoprank: HopRank, garden: str, plain_address: Address, embedder: Embedder
) -> None:
    with Client(plain_address) as client:
        assert not client.has_gds
        elsewhere = HopRank(client, embedder, hoprank.settings)
        Vault(elsewhere, garden).sync(GARDEN)
        found = Vault(elsewhere, garden).index()
        drop_vault(elsewhere, garden)

    soil = [group for group in groups(found) if group & SOIL]
    assert len(soil) == 1
    assert soil[0] >= SOIL
    assert not soil[0] & {"plants/Tomatoes.md", "plants/Basil.md"}


@pytest.mark.slow
def test_index_and_drop_as_commands(
    hoprank: HopRank, grown: tuple[Path, str], server_environment: dict[str, str]
) -> None:
    _, name = grown
    environment = {**server_environment, "COLUMNS": "100"}

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(app, ["vault", *arguments], env=environment)
        assert result.exit_code == 0, result.output
        return result.stdout

    people, markdown = run("index", "--vault", name), run("index", "--vault", name, "--markdown")
    document = json.loads(run("index", "--vault", name, "--skill", "composting", "--json"))

    assert "Compost" in people
    assert "What was alive becomes earth." in people
    assert "- [[soil/Compost|Compost]]: What was alive becomes earth." in markdown
    assert "  - links to [[" in markdown
    assert markdown.startswith("---\ntype: moc\n")
    assert document["skill"] == "composting"
    assert {note["key"] for topic in document["topics"] for note in topic["notes"]} == SOIL
    assert run("drop", name, "--yes") == f"Dropped {name}.\n"
    assert find_corpus(hoprank.client, name) is None
    assert find_graph(hoprank.client, index_name(name)) is None
    Vault(hoprank, name).sync(GARDEN)  # for the fixture to drop
