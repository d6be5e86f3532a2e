"""Notes as read: fields, types and descriptions, links with their types and the sentences around them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pipeline.domains.vault.links import documents
from pipeline.domains.vault.note import Folder, Note, NoteType, Scope
from pipeline.domains.vault.sources import LONGEST_DESCRIPTION, plain, read_folder, shortened

Read = Callable[[Mapping[str, str | bytes]], Folder]


@pytest.fixture
def note(vault: Read) -> Callable[[str], Note]:
    """Read a single note."""
    return lambda text: vault({"folder/A note.md": text}).notes[0]


def test_front_matter_gives_the_fields(note: Callable[[str], Note]) -> None:
    read = note(
        "---\ntitle: Tides\ndescription: Why the sea rises.\ntype: claim\ntags: [sea, moon]\n"
        "aliases: Ebb and flow, Flood\nuser: ada\nskill: sailing\npublished: false\ncreated: 2024-05-01\n"
        "updated: 2024-06-02 10:00\nsource: Newton\n---\n"
        "The moon pulls.\n"
    )

    assert (read.title, read.description, read.type) == ("Tides", "Why the sea rises.", NoteType.CLAIM)
    assert (read.tags, read.aliases) == (("sea", "moon"), ("Ebb and flow", "Flood"))
    assert (read.scope, read.published) == (Scope("ada", "sailing", ""), False)
    assert (read.created, read.updated) == ("2024-05-01", "2024-06-02T10:00:00")
    assert read.metadata["source"] == "Newton"
    assert read.text[slice(*read.described)] == "Why the sea rises."
    assert read.text[read.body_start :] == "The moon pulls.\n"


def test_what_a_note_does_not_say_is_taken_from_it(note: Callable[[str], Note]) -> None:
    read = note("# Harbours\n\n" + "A harbour shelters ships. " * 20 + "\n")

    assert read.title == "Harbours"
    assert read.description.startswith("A harbour shelters ships.")
    assert len(read.description) <= LONGEST_DESCRIPTION
    assert read.described[0] == read.described[1]
    assert (read.type, read.published) == (NoteType.CONCEPT, True)
    assert (read.created, read.updated) == ("", "")
    assert read.modified.startswith("20")


@pytest.mark.parametrize(
    "front",
    [
        "description: 'Quoted: text'\n",
        'description: "Quoted: text"\n',
        "description: >\n  Quoted: text\n",
        "title: x\ndescription: Quoted: text\ntags: [a]\n",
    ],
)
def test_a_description_is_found_where_it_stands(note: Callable[[str], Note], front: str) -> None:
    read = note(f"---\n{front}---\nBody.\n")

    assert (read.description, read.text[slice(*read.described)]) == ("Quoted: text", "Quoted: text")


def test_links_have_their_types_fragments_and_sentences(note: Callable[[str], Note]) -> None:
    read = note(
        '---\nup: [[Home]]\nrelevant:\n  - "[[Ebb]] -- says when the water falls"\n---\n'
        "The moon moves the sea. Because of [[Tide#Spring tides|spring tides]] ships wait. Nothing else.\n\n"
        "- parent:: [[Sea]]\n- ![[chart.png]]\n- [[Bare]]\n\n[neap](../notes/Neap%20tide.md#when-it-is)\n"
    )
    links = {link.target: link for link in read.links}

    assert {target: link.relation for target, link in links.items()} == {
        "Home": "up",
        "Ebb": "relevant",
        "Tide": "",
        "Sea": "parent",
        "chart.png": "embeds",
        "Bare": "",
        "../notes/Neap tide.md": "",
    }
    assert links["Tide"].fragment == "Spring tides"
    assert links["../notes/Neap tide.md"].fragment == "when-it-is"
    assert links["Tide"].context == "Because of spring tides ships wait."
    assert links["Ebb"].context == "Ebb -- says when the water falls"
    assert links["Bare"].context == links["Home"].context == ""
    for link in read.links:
        assert link.target.split("/")[-1].replace(" ", "%20") in read.text[link.start : link.end].replace(" ", "%20")


def test_comments_make_no_description_and_no_context(note: Callable[[str], Note]) -> None:
    text = (
        "%% Secret remark. %%\n\n<!-- secret -->\n\nThe moon %%secret [[Sun]]%% moves the [[Sea]] twice.\n\n"
        "%%\nsecret\n\nlast\n%%\n\n`%%shown%%`\n"
    )
    read = note(text)
    (document,) = documents(Folder("", (read,), frozenset(), ()))

    assert read.description == "The moon moves the Sea twice."
    assert {link.target: link.context for link in read.links} == {"Sun": "", "Sea": "The moon moves the Sea twice."}
    assert read.text == text
    assert len(document.text) == len(text)
    assert "secret" not in document.text.casefold()
    assert "%%shown%%" in document.text


def test_code_holds_neither_links_nor_tags(note: Callable[[str], Note]) -> None:
    read = note(
        "---\ntags: sea\n---\nA #tide is no#tag, nor is [x](y#z), `[[Tide]]`.\n\n```\n[[Sea]] #code\n```\n\n[[Moon]]\n"
    )

    assert [link.target for link in read.links] == ["y", "Moon"]
    assert [link.target for link in read.in_code] == ["Tide", "Sea"]
    assert read.tags == ("sea", "tide")


def test_properties_of_logseq_are_fields(vault: Read) -> None:
    (read,) = vault(
        {"pages/science___tides.md": "alias:: Ebb, Flood\ntags:: sea, [[moon]]\n\n- The [[Moon]] pulls.\n"}
    ).notes

    assert (read.title, read.aliases, read.tags) == ("science/tides", ("Ebb", "Flood"), ("sea", "moon"))


def test_empty_notes_are_notes(vault: Read) -> None:
    read = vault({"Empty.md": "", "Blank.md": " \n\n", "Front.md": "---\ntags: [x]\n---\n"})

    assert [(note.key, note.title) for note in read.notes] == [
        ("Blank.md", "Blank"),
        ("Empty.md", "Empty"),
        ("Front.md", "Front"),
    ]
    assert read.skipped == ()


@pytest.mark.slow
def test_a_note_of_five_megabytes_is_read_with_all_its_links(vault: Read) -> None:
    sentence = "The tide of the [[Moon {}]] comes in twice a day and fills the pools along the rocky shore once more. "
    text = "".join(sentence.format(number) + "\n\n" * (number % 5 == 4) for number in range(52_000))

    (read,) = vault({"Large.md": text}).notes

    assert len(read.text) > 5_000_000
    assert len(read.links) == 52_000
    assert read.links[-1].context.startswith("The tide of the Moon 51999 comes in")


def test_patterns_choose_the_notes(write: Callable[[Mapping[str, str | bytes]], Path]) -> None:
    folder = write(
        {"a.md": "A", "daily/b.md": "B", "daily/old/c.md": "C", "templates/t.md": "T", ".obsidian/x.md": "X"}
    )

    def keys(include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> list[str]:
        return [note.key for note in read_folder(folder, include=include, exclude=exclude).notes]

    assert keys() == ["a.md", "daily/b.md", "daily/old/c.md", "templates/t.md"]
    assert keys(exclude=("templates",)) == ["a.md", "daily/b.md", "daily/old/c.md"]
    assert keys(include=("daily/**",), exclude=("daily/old/*.md",)) == ["daily/b.md"]
    assert keys(include=("*.md",)) == ["a.md"]


def test_a_file_that_cannot_be_read_is_skipped_and_named(vault: Read) -> None:
    root = Path(vault({"good.md": "Good.", "bad.md": b"\xff\xfe\xff", "worse.md": "---\na: [\n---\nx\n"}).root)
    (root / os.fsdecode(b"a\xff.md")).write_text("The moon raises the tides.")

    read = read_folder(root)

    assert [note.key for note in read.notes] == ["good.md", "worse.md"]
    assert "has a name that isn't UTF-8" in [one.reason for one in read.skipped]
    assert "bad.md" in [Path(one.source).name for one in read.skipped]
    assert len(read.skipped) == 2
    assert "line 2" in read.notes[1].warnings[0]
    assert read.notes[1].text[read.notes[1].body_start :] == "x\n"


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (plain("- [ ] see [[Tide|the tide]] and **more**"), "see the tide and more"),
        (plain("[[Tide#Neap]] and [x](y.md)"), "Tide and x"),
        (plain("## A heading"), "A heading"),
        (plain("> quoted `code`"), "quoted code"),
        (shortened("One two. Three four five six.", 15), "One two."),
        (shortened("one two three four", 10), "one two…"),
        (shortened("short", 10), "short"),
    ],
)
def test_text_is_shown_as_a_reader_sees_it_and_cut_after_a_sentence_or_a_word(shown: str, expected: str) -> None:
    assert shown == expected
