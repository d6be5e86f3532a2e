"""Agents update and delete what agents made, and nobody's edit meanwhile is lost."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner, Result

from pipeline.cli.app import app
from pipeline.domains.vault.note import NoteType
from pipeline.domains.vault.requests import UpdateKnowledgeNode
from pipeline.domains.vault.revise import _updated
from pipeline.domains.vault.sources import read_note
from pipeline.errors import CorpusError, InputError, SourceError
from tests.domains.vault.gardens import MALLORY, Garden
from tests.domains.vault.test_interrupted_write import killed_before_storing
from tests.domains.verbs import asked

HEAD = "---\ntitle: Cloche\ndescription: A bell of glass.\ntags:\n- glass\nmade_by: agent\nupdated: '2020-01-01'\n---\n"
TEXT = f"{HEAD}\nKeeps warm.\n\n## Related\n\n- [[Frost]]\n"


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"content": "Keeps dry."}, TEXT.replace("warm", "dry")),
        ({"content": "Keeps dry.\n\n## Related\n\n- [[Basil]]"}, f"{HEAD}\nKeeps dry.\n\n## Related\n\n- [[Basil]]\n"),
        ({"description": "A hood."}, TEXT.replace("A bell of glass.", "A hood.")),
        ({"type": "claim"}, TEXT.replace("updated: '2020-01-01'\n", "updated: '2020-01-01'\ntype: claim\n")),
        ({"tags": ()}, TEXT.replace("tags:\n- glass\n", "")),
        ({"content": "Keeps warm.", "tags": ("glass",), "description": "A bell of glass."}, TEXT),
    ],
)
def test_what_is_given_replaces_what_is_there_and_the_rest_stays(given: dict[str, Any], text: str) -> None:
    note = read_note("Cloche.md", TEXT)

    updated = _updated(note, UpdateKnowledgeNode(note="Cloche", **given))

    assert updated.text == text
    assert (updated is note) == (text == TEXT)


def test_a_note_of_an_agent_is_updated_and_another_update_is_a_conflict(shared_garden: Garden) -> None:
    vault = shared_garden.vault()
    made = vault.create("Cloche", "Keeps [[Basil]] warm.", "A bell of glass.", links=[{"target": "Frost"}])

    updated = vault.update("Cloche", "Keeps [[Tomatoes]] warm.", tags=["glass"], version=made.version)
    again = vault.update("Cloche", "Keeps [[Tomatoes]] warm.", tags=["glass"], version=made.version)

    assert (updated.changed, again.changed) == (True, False)
    assert set(updated.links) == set(shared_garden.links(made.key)) == {"plants/Tomatoes.md", "plants/Frost.md"}
    note = vault.note("Cloche")
    assert (note.description, note.tags, note.version) == ("A bell of glass.", ("glass",), updated.version)
    assert updated.version != made.version
    for change in (
        lambda: vault.update("Cloche", "Mine.", version=made.version),
        lambda: vault.delete("Cloche", version=made.version),
    ):
        with pytest.raises(CorpusError, match="has changed since it was read"):
            change()
    assert vault.note("Cloche") == note
    assert not shared_garden.sync().synced.plan


def test_notes_of_people_and_of_others_are_refused(shared_garden: Garden) -> None:
    theirs = shared_garden.vault(MALLORY).create("Snare", "Mine.")

    for name, says in (("Basil", "wasn't made by an agent"), (theirs.key, "has no note"), ("Nowhere", "has no note")):
        with pytest.raises(CorpusError, match=says):
            shared_garden.vault().update(name, "Changed.")
        with pytest.raises(CorpusError, match=says):
            shared_garden.vault().delete(name)
    with pytest.raises(InputError, match="Nothing is given"):
        shared_garden.vault().update("Basil")
    assert "Basil smells" in shared_garden.text("plants/Basil.md")


def test_links_to_a_deleted_note_are_told_and_lead_to_the_next_of_its_name(garden: Garden) -> None:
    vault = garden.vault()
    made, other = vault.create("Greenhouse", "Glass."), vault.create("Pane", "For the [[Greenhouse]].")
    garden.sync()

    planned = vault.delete("Greenhouse", dry_run=True)
    assert vault.note("Greenhouse").key == made.key
    done = vault.delete("Greenhouse")

    assert planned.linked_from == done.linked_from == ("Shed.md", other.key)
    assert (planned.deleted, done.deleted) == (False, True)
    assert made.key not in vault.graph().notes
    assert garden.links(other.key) == {}
    assert vault.note("Pane").unresolved == ("Greenhouse",)
    again = vault.create("Greenhouse", "New glass.")
    assert again.key in garden.links(other.key)
    garden.sync()
    assert again.key in garden.links("Shed.md")


@pytest.mark.slow
def test_a_file_is_updated_and_deleted_unless_somebody_has_edited_it(garden: Garden) -> None:
    vault, folder = garden.vault(), garden.folder
    made = vault.create("Greenhouse", "Glass for [[Tomatoes]].", folder=folder)

    with pytest.raises(SourceError, match="is a file of the vault's folder"):
        vault.update("Greenhouse", "Foil.")
    updated = vault.update("Greenhouse", "Foil for [[Basil]].", folder=folder)
    assert updated.path == made.path
    assert garden.text(made.key).endswith("---\n\nFoil for [[Basil]].\n")
    assert set(garden.links(made.key)) == {"plants/Basil.md"}
    assert made.key not in garden.sync().synced.plan.changed

    garden.write(made.key, f"{garden.text(made.key)}By hand.\n")
    for change in (
        lambda: vault.update("Greenhouse", "Mine.", folder=folder),
        lambda: vault.delete("Greenhouse", folder=folder),
    ):
        with pytest.raises(SourceError, match="has changed since the last sync"):
            change()
    assert garden.text(made.key).endswith("By hand.\n")

    garden.sync()
    done = vault.delete("Greenhouse", folder=folder)
    assert done.path == made.path
    assert not (folder / made.key).exists()
    assert made.key not in vault.graph().notes
    assert made.key not in garden.sync().synced.plan.removed


@pytest.mark.slow
def test_a_note_beside_the_folder_becomes_a_file_by_an_update(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass.")

    updated = garden.vault().update("Greenhouse", "Foil.", folder=garden.folder)

    assert updated.path == str(garden.folder / made.key)
    assert garden.text(made.key).endswith("Foil.\n")
    assert made.key not in garden.sync().synced.plan.changed


def test_a_revision_whose_run_was_killed_between_file_and_corpus_is_finished_by_the_next(
    garden: Garden, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault, folder = garden.vault(), garden.folder
    made = vault.create("Greenhouse", "Glass.", folder=folder)
    with killed_before_storing(monkeypatch):
        vault.update("Greenhouse", "Foil.", version=made.version, folder=folder)
    assert garden.text(made.key).endswith("Foil.\n")
    assert vault.note("Greenhouse").version == made.version

    again = vault.update("Greenhouse", "Foil.", version=made.version, folder=folder)
    assert again.changed
    assert vault.note("Greenhouse").version == again.version
    assert made.key not in garden.sync().synced.plan.changed

    with killed_before_storing(monkeypatch):
        vault.delete("Greenhouse", folder=folder)
    assert not (folder / made.key).exists()
    assert made.key in vault.graph().notes
    assert vault.delete("Greenhouse", folder=folder).deleted
    assert made.key not in vault.graph().notes


@pytest.mark.slow
def test_servers_offer_what_agents_write(garden: Garden) -> None:
    def call(verb: str, **arguments: Any) -> Any:
        return asked(garden.hoprank, "vault", f"{verb}_knowledge_node", vault=garden.name, **arguments)

    made = call("create", title="Cloche", content="Glass.", type="technique", links=[{"target": "Frost"}])
    updated = call("update", note="Cloche", content="Foil.", version=made["version"])
    told = call("delete", note="Cloche", dry_run=True)

    assert updated["links"] == ["plants/Frost.md"]
    assert (told["deleted"], told["linked_from"]) == (False, [])
    assert call("delete", note="Cloche", version=updated["version"])["deleted"]


@pytest.mark.slow
def test_the_commands_update_and_delete(garden: Garden, server_environment: dict[str, str]) -> None:
    def run(*arguments: str, code: int = 0, text: str | None = None) -> Result:
        given = ["vault", *arguments, "--vault", garden.name, "--user", "alice"]
        result = CliRunner().invoke(app, given, input=text, env={**server_environment, "COLUMNS": "100"})
        assert result.exit_code == code, result.output
        return result

    run("create", "Greenhouse", "--content", "Glass.", "--tag", "glass/pane", "--type", "technique")
    updated = run("update", "Greenhouse", "--content", "-", text="Foil.\n")
    refused = run("delete", "Greenhouse", code=2)
    deleted = run("delete", "Greenhouse", "--yes")

    assert "updated" in updated.stdout
    assert "Nobody is there to be asked" in refused.stderr
    assert "deleted" in deleted.stdout
    assert garden.vault().list("technique", "glass") == []


def test_notes_are_listed_by_type_and_tag(kept: Garden) -> None:
    vault = kept.vault()

    assert [one.key for one in vault.list(tag="herb")] == ["plants/Basil.md"]
    assert {one.key for one in vault.list()} == set(vault.graph().notes)
    assert all(one.type == "concept" for one in vault.list(NoteType.CONCEPT))
    assert not any(one.made_by_agent for one in vault.list())
    with pytest.raises(InputError, match="no type 'concpt'"):
        vault.list("concpt")
