"""Links resolved as Obsidian resolves them."""

from __future__ import annotations

import pytest

from pipeline.domains.vault.links import NoteResolver
from pipeline.domains.vault.note import Note, NoteType, Resolution


def note(key: str, *aliases: str, title: str = "") -> Note:
    return Note(key, key, title or key.rsplit("/", 1)[-1][:-3], "", NoteType.CONCEPT, "", aliases=aliases)


RESOLVER = NoteResolver(
    [
        note("Home.md", title="Where to start"),
        note("sea/Tide.md", "ebb and flow"),
        note("sea/Moon phases.md"),
        note("sea/deep/Tide.md"),
        note("land/Tide.md"),
        note("land/River-mouth.md"),
        note("land/v1.2 notes.md"),
        note("pages/science___tides.md", title="science/tides"),
        note("cafe\u0301/Mu\u0308.md"),
    ],
    ["files/chart.png", "files/Tide.pdf", "files/u\u0308.png"],
)


@pytest.mark.parametrize(
    ("target", "source", "key"),
    [
        ("Home", "sea/Tide.md", "Home.md"),
        ("home", "sea/Tide.md", "Home.md"),
        ("Home.md", "sea/Tide.md", "Home.md"),
        ("/Home", "sea/Tide.md", "Home.md"),
        ("../Home.md", "sea/Tide.md", "Home.md"),
        ("Where to start", "sea/Tide.md", "Home.md"),
        ("Ebb and Flow", "Home.md", "sea/Tide.md"),
        ("moon-phases", "Home.md", "sea/Moon phases.md"),
        ("River mouth", "Home.md", "land/River-mouth.md"),
        ("river_mouth", "Home.md", "land/River-mouth.md"),
        ("v1.2 notes", "Home.md", "land/v1.2 notes.md"),
        ("deep/Tide", "Home.md", "sea/deep/Tide.md"),
        ("land/Tide", "sea/Tide.md", "land/Tide.md"),
        ("science/tides", "Home.md", "pages/science___tides.md"),
        ("caf\u00e9/M\u00fc", "Home.md", "cafe\u0301/Mu\u0308.md"),
        ("cafe\u0301/m\u00fc.md", "Home.md", "cafe\u0301/Mu\u0308.md"),
        ("./M\u00fc", "cafe\u0301/Other.md", "cafe\u0301/Mu\u0308.md"),
        ("./deep/Tide", "sea/Moon phases.md", "sea/deep/Tide.md"),
        ("./Tide", "Home.md", ""),
        ("../../Home", "sea/Tide.md", ""),
        ("Nowhere", "Home.md", ""),
        ("ide", "Home.md", ""),
        ("...", "Home.md", ""),
    ],
)
def test_a_target_means_a_note(target: str, source: str, key: str) -> None:
    assert RESOLVER.resolve(target, source).key == key


@pytest.mark.parametrize(
    ("source", "key"),
    [("land/River-mouth.md", "land/Tide.md"), ("sea/deep/x.md", "sea/deep/Tide.md"), ("Home.md", "land/Tide.md")],
)
def test_of_several_notes_the_own_folder_then_the_shortest_path_wins_and_the_others_are_told(
    source: str, key: str
) -> None:
    resolution = RESOLVER.resolve("Tide", source)

    assert resolution.key == key
    assert {resolution.key, *resolution.others} == {"sea/Tide.md", "sea/deep/Tide.md", "land/Tide.md"}


def test_a_note_is_what_an_empty_target_means() -> None:
    assert RESOLVER.resolve("", "Home.md") == Resolution("Home.md")


@pytest.mark.parametrize(
    ("target", "attachment"), [("chart.png", True), ("files/Tide.pdf", True), ("\u00fc.png", True), ("no.png", False)]
)
def test_a_file_that_is_no_note_is_an_attachment(target: str, attachment: bool) -> None:
    assert RESOLVER.resolve(target, "Home.md") == Resolution(attachment=attachment)
