"""Agents create, link and traverse notes; a sync of the folder keeps what they made."""

from __future__ import annotations

import base64
import json
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.db.catalogue import find_corpus
from pipeline.domains.vault import write
from pipeline.domains.vault.api import Vault, VaultSync
from pipeline.domains.vault.maps import drop_vault
from pipeline.domains.vault.note import NoteType, Scope
from pipeline.domains.vault.requests import ACTIONS, Traversal, schema
from pipeline.domains.vault.sources import read_folder
from pipeline.errors import CorpusError, InputError, QuestionError, SourceError

GARDEN = Path(__file__).parent / "garden"
ALICE, MALLORY = Scope("alice"), Scope("mallory")


class Garden:
    """A copy of the garden, synced as alice's; a note of mallory's is in it, and links to and from alice's."""

    def __init__(self, hoprank: HopRank, folder: Path) -> None:
        self.hoprank, self.folder = hoprank, folder
        self.name = f"h2-{uuid.uuid4().hex[:12]}"
        shutil.copytree(GARDEN, folder, dirs_exist_ok=True)
        self.write("Poison.md", "---\nuser: mallory\ndescription: Secret.\n---\nPoison the [[Tomatoes]].\n")
        self.write("Shed.md", "The shed holds [[Poison]], and a plan for the [[Greenhouse]].\n")
        self.sync()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text, encoding="utf-8")

    def text(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    def sync(self) -> VaultSync:
        return self.vault().sync(self.folder)

    def vault(self, scope: Scope = ALICE) -> Vault:
        return Vault(self.hoprank, self.name, *scope)

    def links(self, key: str, scope: Scope = ALICE) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """The notes that a note links to, with the types and sentences of the links."""
        links = self.vault(scope).graph().outgoing.get(key, ())
        return {link.target: (link.relations, link.contexts) for link in links}


@pytest.fixture
def garden(hoprank: HopRank, tmp_path: Path) -> Iterator[Garden]:
    made = Garden(hoprank, tmp_path / "garden")
    yield made
    drop_vault(hoprank, made.name)


@pytest.fixture(scope="module")
def kept(hoprank: HopRank, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garden]:
    """A garden that tests only read."""
    made = Garden(hoprank, tmp_path_factory.mktemp("garden"))
    yield made
    drop_vault(hoprank, made.name)


def walked(page: Traversal) -> list[tuple[str, int]]:
    return [(node.key, node.distance) for node in page.nodes]


def test_a_created_note_is_found_linked_and_scoped(garden: Garden) -> None:
    made = garden.vault(Scope("alice", "composting")).create(
        "Bokashi: sour heaps",
        "Bokashi ferments what [[Compost]] rots. See [[Nowhere]].",
        "A bin without air.",
        "technique",
        ["heap", "kitchen"],
        agent="digger",
        links=[{"target": "Mulch", "relation": "feeds", "context": "What comes out goes below it."}],
    )

    note = garden.vault().note("Bokashi: sour heaps")
    assert made.key == note.key == "agents/alice/composting/digger/Bokashi- sour heaps.md"
    assert note.scope == Scope("alice", "composting", "digger")
    assert (note.type, note.tags, note.description) == (NoteType.TECHNIQUE, ("heap", "kitchen"), "A bin without air.")
    assert garden.links(note.key) == {
        "soil/Compost.md": ((), ("Bokashi ferments what Compost rots.",)),
        "soil/Mulch.md": (("feeds",), ("feeds:: Mulch: What comes out goes below it.",)),
    }
    assert (set(made.links), made.unresolved) == ({"soil/Compost.md", "soil/Mulch.md"}, ("Nowhere",))
    assert garden.hoprank.search("bin without air", corpus=garden.name).items[0].metadata["document"] == note.key


@pytest.mark.slow
def test_a_sync_keeps_a_created_note_and_a_second_one_writes_nothing(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].\n\n---\n\nWarm: 30 *degrees*.")
    before = garden.vault().graph().notes[made.key]

    first = garden.sync()
    second = garden.sync()

    assert first.synced.plan.removed_keys == frozenset()
    assert not second.synced.plan
    assert garden.vault().graph().notes[made.key] == before
    assert "plants/Tomatoes.md" in garden.links(made.key)
    # The link of the folder, which led nowhere, leads to the created note now.
    assert made.key in garden.links("Shed.md")


@pytest.mark.slow
def test_a_created_note_is_resolved_by_others_that_waited_for_it(garden: Garden) -> None:
    first = garden.vault().create("Glass", "Glass is for a [[Hothouse]].")
    second = garden.vault().create("Hothouse", "Made of [[Glass]].")

    assert second.key in garden.links(first.key)
    assert first.key in garden.links(second.key)


@pytest.mark.slow
def test_created_notes_link_to_each_other(garden: Garden) -> None:
    first = garden.vault().create("Glass", "Glass is clear.")
    second = garden.vault().create("Pane", "Flat.", links=[{"target": "glass", "relation": "made of"}])
    linked = garden.vault().link("Glass", "Pane", "cut into")

    assert linked.created
    assert garden.links(second.key)[first.key][0] == ("made of",)
    assert garden.links(first.key)[second.key][0] == ("cut into",)


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
def test_hits_hold_the_metadata_of_an_agents_note_and_not_its_text_again(hoprank: HopRank, garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Warm.\n\nGlass above the seedlings.", tags=["glass"])

    hits = hoprank.search("glass above the seedlings", corpus=garden.name).hits
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
    assert garden.vault().note("Greenhouse").original.split("---\n\n")[1] == (
        "Glass.\n\n## Related\n\n- keeps out:: [[Frost]]: Glass holds the warmth.\n- Warmth is for [[basil]] too.\n"
    )
    garden.sync()
    assert garden.links(made.key) == expected


@pytest.mark.slow
def test_links_that_can_not_be(garden: Garden) -> None:
    garden.vault().create("Greenhouse", "Glass.")
    garden.vault().create("Open", "```python\nnever closed")

    with pytest.raises(SourceError, match="note of the vault's folder") as told:
        garden.vault().link("Basil", "Frost")
    assert "--folder" in told.value.fix
    with pytest.raises(CorpusError, match="the same note"):
        garden.vault().link("Basil", "plants/Basil.md")
    with pytest.raises(InputError, match="has a link to 'Compost'"):
        garden.vault().link("Greenhouse", "Frost", context="As [[Compost]] is.")
    with pytest.raises(SourceError, match="would be none"):
        garden.vault().link("Open", "Frost")


def test_agents_that_write_at_the_same_time_lose_nothing(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass.")
    targets = ["Frost", "Basil", "Compost"]
    threads = [threading.Thread(target=garden.vault().link, args=("Greenhouse", target)) for target in targets]
    refused: list[Exception] = []

    def create() -> None:
        try:
            garden.vault().create("Only one", "Text.")
        except CorpusError as error:
            refused.append(error)

    threads += [threading.Thread(target=create) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert set(garden.links(made.key)) == {"plants/Frost.md", "plants/Basil.md", "soil/Compost.md"}
    assert len(refused) == 1


@pytest.mark.slow
def test_a_created_note_becomes_a_file(garden: Garden) -> None:
    made = garden.vault().create("Greenhouse", "Glass for [[Tomatoes]].", folder=garden.folder)

    note = garden.vault().note("Greenhouse")
    assert garden.text(made.key).endswith("---\n\nGlass for [[Tomatoes]].\n")
    assert made.path == note.path == str(garden.folder / made.key)
    assert not note.original
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


def test_a_traversal_goes_by_distance_and_says_the_way(kept: Garden) -> None:
    one = kept.vault().traverse("Tomatoes")
    two = kept.vault().traverse("Tomatoes", depth=2)

    assert walked(one) == [("plants/Basil.md", 1), ("soil/Compost.md", 1)]
    assert walked(two)[:2] == walked(one)
    # Basil links to itself and back to Tomatoes, Marigold to both: each note is reached once.
    assert walked(two)[2:] == [
        ("plants/Marigold.md", 2),
        ("soil/Earthworms.md", 2),
        ("soil/Mulch.md", 2),
        ("soil/Turning the heap.md", 2),
    ]
    circle = walked(kept.vault().traverse("Basil", depth=2))
    assert circle[:3] == [("plants/Marigold.md", 1), ("plants/Tomatoes.md", 1), ("plants/Frost.md", 2)]
    assert [key for key, _ in circle].count("plants/Tomatoes.md") == 1
    first, second = two.nodes[5].path
    assert (first.source, first.target, first.relations) == ("plants/Tomatoes.md", "soil/Compost.md", ("fed_by",))
    assert (second.relations, two.nodes[5].title) == (("made_by",), "Turning the heap")
    assert two.nodes[0].path[0].sentences == ("They grow well beside Basil, which keeps the whitefly away.",)
    assert two.nodes[0].description == "A herb that dies of the first frost."
    assert (two.total, two.cursor, two.start.title) == (6, None, "Tomatoes")


def test_directions_and_relations(kept: Garden) -> None:
    def keys(**options: object) -> set[str]:
        return {key for key, _ in walked(kept.vault().traverse("Basil", **options))}  # type: ignore[arg-type]

    assert keys() == {"plants/Tomatoes.md", "plants/Marigold.md"}
    assert keys(direction="in") == {f"plants/{name}.md" for name in ("Tomatoes", "Marigold", "Pruning", "Seedlings")}
    assert keys(direction="both") == keys() | keys(direction="in")
    assert keys(relations=["companion"]) == {"plants/Tomatoes.md"}
    assert keys(relations=["Companion", "fed-by"], depth=2) == {"plants/Tomatoes.md", "soil/Compost.md"}


@pytest.mark.parametrize("budget", [1, 2, 4, 5])
def test_pages_go_on_exactly_where_they_stopped(kept: Garden, budget: int) -> None:
    whole = kept.vault().traverse("Tomatoes", 2, 50)
    pages = [kept.vault().traverse("Tomatoes", 2, budget)]
    while pages[-1].cursor:
        pages.append(kept.vault().traverse("Tomatoes", 2, budget, pages[-1].cursor))

    assert [node for page in pages for node in page.nodes] == list(whole.nodes)
    assert all(len(page.nodes) == budget for page in pages[:-1])
    assert len(pages) > 1


@pytest.mark.slow
def test_cursors_that_do_not_fit_are_told(garden: Garden) -> None:
    cursor = garden.vault().traverse("Tomatoes", 2, 2).cursor
    assert cursor is not None
    offset, generation, identity = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    beyond = base64.urlsafe_b64encode(json.dumps([99, generation, identity]).encode()).decode()
    text = base64.urlsafe_b64encode(json.dumps(["1", generation, identity]).encode()).decode()

    assert offset == 2
    for wrong in ("", "!", "é", "bm8", cursor[:-6], beyond, text):
        with pytest.raises(QuestionError, match="is malformed") as told:
            garden.vault().traverse("Tomatoes", 2, 2, wrong)
        assert "leave the cursor out" in told.value.fix
    for vault, start, depth in (
        (garden.vault(), "Basil", 2),
        (garden.vault(), "Tomatoes", 1),
        (garden.vault(Scope()), "Tomatoes", 2),
    ):
        with pytest.raises(QuestionError, match="another traversal"):
            vault.traverse(start, depth, 2, cursor)
    garden.vault().create("New", "Text.")
    with pytest.raises(QuestionError, match="has changed since"):
        garden.vault().traverse("Tomatoes", 2, 2, cursor)


@pytest.mark.slow
def test_unpublished_notes_are_not_traversed(garden: Garden) -> None:
    garden.write("plants/Basil.md", "---\npublished: false\n---\nSoon. [[Tomatoes]]\n")
    garden.sync()

    assert walked(garden.vault().traverse("Tomatoes", direction="both"))
    assert "plants/Basil.md" not in dict(walked(garden.vault().traverse("Tomatoes", direction="both")))
    with pytest.raises(CorpusError, match="isn't published"):
        garden.vault().traverse("Basil")


@pytest.mark.parametrize(("option", "value"), [("depth", 3), ("depth", 0), ("budget", 51), ("direction", "up")])
def test_bounds_of_a_traversal_are_told(kept: Garden, option: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{option}: "):
        kept.vault().traverse("Basil", **{option: value})  # type: ignore[arg-type]


@pytest.fixture
def run(garden: Garden, server_environment: dict[str, str]) -> Callable[..., Result]:
    environment = {**server_environment, "COLUMNS": "100"}

    def command(*arguments: str, text: str | None = None) -> Result:
        given = ["vault", *arguments, "--vault", garden.name, "--user", "alice"]
        return CliRunner().invoke(app, given, input=text, env=environment)

    return command


@pytest.mark.slow
def test_the_commands_do_and_print_what_the_schema_says(garden: Garden, run: Callable[..., Result]) -> None:
    printed = CliRunner().invoke(app, ["vault", "schema"])
    schemas = json.loads(printed.stdout)
    assert schemas == schema()
    assert set(schemas) == set(ACTIONS)

    results = {
        "create_knowledge_node": run(
            "create", "Greenhouse", "--tag", "glass", "--link", "Frost", "--json", text="Glass.\n"
        ),
        "link_knowledge_nodes": run("link", "Greenhouse", "Basil", "--relation", "warms", "--json"),
        "traverse_knowledge": run("traverse", "Greenhouse", "--depth", "2", "--budget", "3", "--json"),
    }

    for name, result in results.items():
        assert result.exit_code == 0, result.output
        document = json.loads(result.stdout)
        ACTIONS[name][1].model_validate(document)
        assert document.keys() == schemas[name]["result"]["properties"].keys()
    page = json.loads(results["traverse_knowledge"].stdout)
    assert {node["key"] for node in page["nodes"]} >= {"plants/Frost.md", "plants/Basil.md"}


@pytest.mark.slow
def test_the_commands_print_for_people(garden: Garden, run: Callable[..., Result]) -> None:
    created = run("create", "Greenhouse", "--content", "Glass for [[Frost]].", "--folder", str(garden.folder))
    linked = run("link", "Basil", "Greenhouse", "--context", "It lives there.", "--folder", str(garden.folder))
    traversed = run("traverse", "Basil", "--direction", "out", "--budget", "1")
    rest = run("traverse", "Basil", "--cursor", traversed.stdout.split("--cursor ")[1].split()[0])
    refused = run("link", "Basil", "Nowhere")

    assert "agents/alice/Greenhouse.md" in created.stdout
    assert "plants/Basil.md -> agents/alice/Greenhouse.md" in linked.stdout
    assert "Greenhouse" in traversed.stdout + rest.stdout
    assert "It lives there." in traversed.stdout + rest.stdout
    assert refused.exit_code == 2
    assert (garden.folder / "agents/alice/Greenhouse.md").exists()


def test_a_request_is_frozen(kept: Garden) -> None:
    page = kept.vault().traverse("Tomatoes")

    with pytest.raises(ValueError, match="frozen"):
        page.total = 0
