"""Agents create and link notes; a sync of the folder keeps what they made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus
from pipeline.domains.vault import write
from pipeline.domains.vault.api import Vault
from pipeline.domains.vault.maps import drop_vault
from pipeline.domains.vault.note import NoteType, Scope
from pipeline.domains.vault.requests import LinkedNodes
from pipeline.domains.vault.sources import read_folder
from pipeline.errors import CorpusError, InputError, SourceError
from tests.domains.vault.gardens import ALICE, MALLORY, Garden, walked


def test_a_created_note_is_found_linked_and_scoped(shared_garden: Garden) -> None:
    made = shared_garden.vault(Scope("alice", "composting")).create(
        "Bokashi: sour heaps",
        "Bokashi ferments what [[Compost]] rots. See [[Nowhere]].",
        "A bin without air.",
        "technique",
        ["heap", "kitchen"],
        agent="digger",
        links=[{"target": "Mulch", "relation": "feeds", "context": "What comes out goes below it."}],
    )

    note = shared_garden.vault().note("Bokashi: sour heaps")
    assert made.key == note.key == "agents/alice/composting/digger/Bokashi- sour heaps.md"
    assert note.scope == Scope("alice", "composting", "digger")
    assert (note.type, note.tags, note.description) == (NoteType.TECHNIQUE, ("heap", "kitchen"), "A bin without air.")
    assert shared_garden.links(note.key) == {
        "soil/Compost.md": ((), ("Bokashi ferments what Compost rots.",)),
        "soil/Mulch.md": (("feeds",), ("feeds:: Mulch: What comes out goes below it.",)),
    }
    assert (set(made.links), made.unresolved) == ({"soil/Compost.md", "soil/Mulch.md"}, ("Nowhere",))
    assert (
        shared_garden.hoprank.search("bin without air", corpus=shared_garden.name).items[0].metadata["document"]
        == note.key
    )


@pytest.mark.slow
def test_a_sync_keeps_a_created_note_and_a_second_one_writes_nothing(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].\n\n---\n\nWarm: 30 *degrees*.")
    before = garden.vault().graph().notes[made.key]

    first = garden.sync()
    second = garden.sync()

    assert first.synced.plan.removed_keys == frozenset()
    assert not second.synced.plan
    assert garden.vault().graph().notes[made.key] == before
    # Whether a note has a text is read, and not the text.
    assert {row["note"]["original"] for row in garden.vault().graph().corpus.stream("vault_notes")} == {True, False}
    assert "plants/Tomatoes.md" in garden.links(made.key)
    # The link of the folder, which led nowhere, leads to the created note now.
    assert made.key in garden.links("Shed.md")


@pytest.mark.slow
def test_created_notes_link_to_each_other_and_to_those_that_come_later(shared_garden: Garden) -> None:
    first = shared_garden.vault().create("Glass", "Glass is for a [[Hothouse]].")
    second = shared_garden.vault().create("Hothouse", "Warm.", links=[{"target": "glass", "relation": "made of"}])
    waited = shared_garden.links(first.key)
    linked = shared_garden.vault().link("Glass", "Hothouse", "cut into")

    assert waited.keys() == {second.key}
    assert linked.created
    assert shared_garden.links(second.key)[first.key][0] == ("made of",)
    assert shared_garden.links(first.key)[second.key][0] == ("cut into",)


@pytest.mark.slow
def test_a_note_of_the_folder_replaces_a_created_one(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass.")
    (garden.folder / "agents/alice").mkdir(parents=True)
    garden.write(made.key, "---\ntitle: Greenhouse\n---\nBy hand.\n")
    garden.sync()

    assert garden.vault().note("Greenhouse").description == "By hand."

    (garden.folder / made.key).unlink()
    garden.sync()
    assert made.key not in garden.vault().graph().notes


@pytest.mark.slow
def test_front_matter_makes_no_note_an_agents(garden: Garden) -> None:
    garden.write("Forged.md", "---\norigin: agent\nmarkdown: kept for ever\n---\nForged.\n")
    garden.sync()
    (garden.folder / "Forged.md").unlink()
    garden.sync()

    assert "Forged.md" not in garden.vault(Scope()).graph().notes


@pytest.mark.slow
def test_a_vault_begins_with_a_created_note(hoprank: HopRank, kept: Garden) -> None:
    vault = Vault(hoprank, f"{kept.name}-new", *ALICE)
    try:
        first = vault.create("First", "Nothing was here.")
        second = vault.create("Second", "After [[First]].")

        assert second.links == (first.key,)
    finally:
        drop_vault(hoprank, vault.name)


@pytest.mark.slow
def test_agents_that_begin_a_vault_at_the_same_time_lose_nothing(hoprank: HopRank, kept: Garden) -> None:
    vault = Vault(hoprank, f"{kept.name}-new", *ALICE)
    titles = ["First", "Second", "Third"]
    threads = [
        threading.Thread(target=Vault(hoprank, vault.name, *ALICE).create, args=(title, f"A {title}."))
        for title in titles
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert sorted(note.title for note in vault.graph().notes.values()) == titles
    finally:
        drop_vault(hoprank, vault.name)


def test_a_first_note_that_is_refused_leaves_no_vault(hoprank: HopRank, kept: Garden) -> None:
    name = f"{kept.name}-new"

    with pytest.raises(CorpusError, match="No note is called 'Nowhere'"):
        Vault(hoprank, name, *ALICE).create("First", "Text.", links=[{"target": "Nowhere"}])

    assert find_corpus(hoprank.client, name) is None


@pytest.mark.slow
def test_hits_hold_the_metadata_of_an_agents_note_and_not_its_text_again(
    hoprank: HopRank, shared_garden: Garden
) -> None:
    made = shared_garden.vault().create("Cold frame", "Warm.\n\nGlass above the seedlings.", tags=["glass"])

    hits = hoprank.search("glass above the seedlings", corpus=shared_garden.name).hits
    metadata = next(hit.document_metadata for hit in hits if hit.document == made.key)
    assert metadata.keys() >= {"origin", "tags"}
    assert not any("above" in str(value) for value in metadata.values())


@pytest.mark.parametrize("title", ["tomatoes", "Turning-the-Heap", "Compost"])
def test_a_title_of_the_scope_is_refused(kept: Garden, title: str) -> None:
    with pytest.raises(CorpusError, match="already called") as refused:
        kept.vault().create(title, "Again.")

    assert "link_knowledge_nodes" in refused.value.fix


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"content": "x" * 20_001}, "content: .*20000"),
        ({"content": "  \n"}, "a note needs a text"),
        ({"title": "a [[b]]"}, "title: "),
        ({"title": " "}, "title: "),
        ({"description": "d" * 201}, "description: "),
        ({"type": "poem"}, "type: .*'poem'"),
        ({"tags": ["t"] * 31}, "tags: "),
        ({"links": [{"target": "Basil", "relation": "a::b"}]}, "links.0.relation"),
        ({"links": [{"to": "Basil"}]}, "links.0.target"),
    ],
)
def test_limits_are_told(kept: Garden, values: dict[str, object], says: str) -> None:
    before = kept.vault().graph().corpus.generation

    with pytest.raises(InputError, match=says):
        kept.vault().create(**{"title": "New", "content": "Text.", **values})  # type: ignore[arg-type]

    assert kept.vault().graph().corpus.generation == before


@pytest.mark.parametrize("target", ["Nowhere", "Poison"])
def test_a_link_to_no_note_of_the_scope_creates_nothing(kept: Garden, target: str) -> None:
    with pytest.raises(CorpusError, match=f"No note is called '{target}'"):
        kept.vault().create("New", "Text.", links=[{"target": target}])

    assert "agents/alice/New.md" not in kept.vault().graph().notes


def test_another_users_notes_are_never_reached(garden: Garden) -> None:
    own, other = garden.vault(), garden.vault(MALLORY)
    # The same title, once for each user.
    theirs = other.create("Tomatoes", "Mine. [[Basil]] [[Poison]]")
    plan = other.create("Greenhouse", "Mallory's glass.")
    made = own.create("Fence", "Keeps out [[Poison]].")
    garden.sync()

    assert theirs.links == ("Poison.md",)
    assert theirs.unresolved == ("Basil",)
    assert made.links == ()
    assert set(garden.links("Poison.md", Scope())) == {"plants/Tomatoes.md"}  # the folder's, as before
    assert plan.key not in garden.links("Shed.md", Scope())
    assert made.key not in other.graph().notes
    for scope, source, target in (
        (ALICE, "Fence", "Poison"),
        (MALLORY, theirs.key, "Basil"),
        (ALICE, theirs.key, "Basil"),
    ):
        with pytest.raises(CorpusError, match="has no note"):
            garden.vault(scope).link(source, target)
    reached = own.traverse("Tomatoes", 2, 50, direction="both")
    assert reached.start.key == "plants/Tomatoes.md"
    assert not {"Poison.md", theirs.key} & {key for key, _ in walked(reached)}
    with pytest.raises(CorpusError, match="has no note"):
        own.traverse("Poison")


def test_a_scope_is_not_left(kept: Garden) -> None:
    with pytest.raises(InputError, match="The skill is 'cooking'"):
        kept.vault(Scope("alice", "composting")).create("New", "Text.", skill="cooking")


def test_a_link_is_added_once_and_survives_a_sync(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass.")

    first = garden.vault().link("Greenhouse", "Frost", "keeps out", "Glass holds the warmth.")
    generation = garden.vault().graph().corpus.generation
    again = garden.vault().link(made.key, "plants/Frost.md", "keeps-out")
    other = garden.vault().link("Greenhouse", "Basil", context="Warmth is for [[basil]] too.")

    assert (first.created, again.created, other.created) == (True, False, True)
    expected = {
        "plants/Frost.md": (("keeps out",), ("keeps out:: Frost: Glass holds the warmth.",)),
        "plants/Basil.md": ((), ("Warmth is for basil too.",)),
    }
    assert garden.links(made.key) == expected
    assert garden.vault().graph().corpus.generation == generation + 1
    (text,) = (note.text for note in write.created_notes(garden.hoprank.client, garden.name) if note.key == made.key)
    assert text.split("---\n\n")[1] == (
        "Glass.\n\n## Related\n\n- keeps out:: [[Frost]]: Glass holds the warmth.\n- Warmth is for [[basil]] too.\n"
    )
    garden.sync()
    assert garden.links(made.key) == expected


@pytest.mark.slow
def test_links_that_can_not_be(shared_garden: Garden) -> None:
    shared_garden.vault().create("Shelter", "Glass.")
    shared_garden.vault().create("Open", "```python\nnever closed")

    with pytest.raises(SourceError, match="note of the vault's folder") as told:
        shared_garden.vault().link("Basil", "Frost")
    assert "--folder" in told.value.fix
    with pytest.raises(CorpusError, match="the same note"):
        shared_garden.vault().link("Basil", "plants/Basil.md")
    with pytest.raises(InputError, match="has a link to 'Compost'"):
        shared_garden.vault().link("Shelter", "Frost", context="As [[Compost]] is.")
    with pytest.raises(SourceError, match="would be none"):
        shared_garden.vault().link("Open", "Frost")


def test_agents_that_write_at_the_same_time_lose_nothing(shared_garden: Garden) -> None:
    made = shared_garden.vault().create("Trellis", "Glass.")
    targets = ["Frost", "Basil", "Compost"]
    threads = [threading.Thread(target=shared_garden.vault().link, args=("Trellis", target)) for target in targets]
    refused: list[Exception] = []

    def create() -> None:
        try:
            shared_garden.vault().create("Only one", "Text.")
        except CorpusError as error:
            refused.append(error)

    threads += [threading.Thread(target=create) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(shared_garden.links(made.key)) == {"plants/Frost.md", "plants/Basil.md", "soil/Compost.md"}
    assert len(refused) == 1


@pytest.mark.slow
def test_a_created_note_becomes_a_file(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].", folder=garden.folder)

    note = garden.vault().note("Greenhouse")
    assert garden.text(made.key).endswith("---\n\nGlass for [[Tomatoes]].\n")
    assert made.path == note.path == str(garden.folder / made.key)
    assert not note.is_created
    assert "origin" not in note.metadata
    assert "plants/Tomatoes.md" in garden.links(made.key)
    synced = garden.sync()
    assert synced.synced.plan.added == ()
    assert garden.vault().note("Greenhouse") == note


@pytest.mark.slow
def test_no_file_is_overwritten(garden: Garden) -> None:
    (garden.folder / "agents/alice").mkdir(parents=True)
    garden.write("agents/alice/Greenhouse.md", "---\nuser: alice\n---\nBy hand, not synced yet.\n")

    with pytest.raises(CorpusError, match="already called"):
        garden.vault().create("Greenhouse", "Glass.", folder=garden.folder)
    created = garden.vault().create("Greenhouse", "Glass.")
    with pytest.raises(SourceError, match="can't be written: file exists"):
        garden.vault().link(created.key, "Frost", folder=garden.folder)

    assert garden.text(created.key).endswith("By hand, not synced yet.\n")
    assert garden.links(created.key) == {}


@pytest.mark.slow
def test_a_link_is_written_into_a_file(garden: Garden) -> None:
    garden.write("plants/Basil.md", garden.text("plants/Basil.md") + "\nA hand edit that no sync has seen.\n")
    before = garden.text("plants/Basil.md")

    done = garden.vault().link("Basil", "Frost", "dies of", folder=garden.folder)
    again = garden.vault().link("Basil", "Frost", "dies of", folder=garden.folder)

    assert (done.created, again.created) == (True, False)
    assert garden.text("plants/Basil.md") == f"{before}\n## Related\n\n- dies of:: [[Frost]]\n"
    assert garden.links("plants/Basil.md")["plants/Frost.md"][0] == ("dies of",)
    assert not garden.sync().synced.plan


@pytest.mark.slow
def test_a_created_note_with_a_link_becomes_a_file(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass.")

    done = garden.vault().link("Greenhouse", "Frost", folder=garden.folder)

    assert done.path == str(garden.folder / made.key)
    assert garden.text(made.key).endswith("- [[Frost]]\n")
    assert "origin" not in garden.vault().note("Greenhouse").metadata


@pytest.mark.slow
def test_a_hand_edit_at_the_same_time_is_a_conflict(garden: Garden, monkeypatch: pytest.MonkeyPatch) -> None:

    def read_and_edited(folder: Path, **options: object) -> object:
        read = read_folder(folder, **options)  # type: ignore[arg-type]
        garden.write("plants/Basil.md", "By hand, meanwhile.\n")
        return read

    monkeypatch.setattr(write, "read_folder", read_and_edited)

    with pytest.raises(SourceError, match=r"plants/Basil\.md has changed since it was read"):
        garden.vault().link("Basil", "Frost", folder=garden.folder)
    assert garden.text("plants/Basil.md") == "By hand, meanwhile.\n"
    assert "plants/Frost.md" not in garden.links("plants/Basil.md")


@pytest.fixture
def run(garden: Garden, server_environment: dict[str, str]) -> Callable[..., Result]:
    environment = {**server_environment, "COLUMNS": "100"}

    def command(*arguments: str, text: str | None = None) -> Result:
        given = ["vault", *arguments, "--vault", garden.name, "--user", "alice"]
        return CliRunner().invoke(app, given, input=text, env=environment)

    return command


@pytest.mark.slow
def test_the_commands_create_and_link(garden: Garden, run: Callable[..., Result]) -> None:
    created = run("create", "Greenhouse", "--tag", "glass", "--link", "Frost", "--folder", str(garden.folder), text="A")
    linked = run("link", "Basil", "Greenhouse", "--context", "It lives there.", "--folder", str(garden.folder))
    again = run("link", "Basil", "Greenhouse", "--folder", str(garden.folder), "--json")
    refused = run("link", "Basil", "Nowhere")

    assert "agents/alice/Greenhouse.md" in created.stdout
    assert "plants/Basil.md -> agents/alice/Greenhouse.md" in linked.stdout
    assert LinkedNodes.model_validate_json(again.stdout).created is False
    assert refused.exit_code == 2
    assert (garden.folder / "agents/alice/Greenhouse.md").exists()
