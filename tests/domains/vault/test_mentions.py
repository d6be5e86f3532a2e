"""Names without links are found where a reader would see one, and become links that lead to their notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.domains.vault.check import check
from pipeline.domains.vault.cli import app
from pipeline.domains.vault.edits import Conflict
from pipeline.domains.vault.mentions import mentions, write_mentions
from pipeline.domains.vault.note import Folder
from pipeline.domains.vault.sources import read_folder

Files = Mapping[str, str | bytes]
Vault = Callable[[Files], Folder]


def found(folder: Folder, key: str | None = None) -> list[tuple[str, str, str]]:
    return [(mention.note, mention.text, mention.target) for mention in mentions(folder, key)]


def written(vault: Vault, files: Files, *, every: bool = False, key: str = "a.md") -> str:
    folder = vault(files)
    assert write_mentions(folder, mentions(folder), every=every).conflicts == ()
    return Path(folder.root, key).read_bytes().decode()


def test_titles_file_names_and_aliases_are_found(vault: Vault) -> None:
    folder = vault(
        {
            "kg.md": "---\naliases: [semantic net]\n---\n# Knowledge Graph\n",
            "a.md": b"---\r\ntitle: A note\r\n---\r\n\r\nSome knowledge graph,\r\na Semantic  net or semantic net.",
        }
    )

    (first, second) = mentions(folder)

    assert (first.text, first.target, first.line) == ("knowledge graph", "kg.md", 5)
    assert (second.text, second.target, second.line) == ("semantic net", "kg.md", 6)
    assert first.context == "Some knowledge graph,"
    assert folder.notes[0].text[first.start : first.end] == "knowledge graph"


def test_the_longest_name_counts(vault: Vault) -> None:
    folder = vault({"graph.md": "", "graph theory.md": "", "a.md": "graph theory of a graph"})

    assert found(folder) == [("a.md", "graph theory", "graph theory.md"), ("a.md", "graph", "graph.md")]


def test_dashes_in_a_file_name_are_spaces_in_text(vault: Vault) -> None:
    folder = vault({"agent-cognition.md": "", "a.md": "On agent cognition and agent\ncognition."})

    assert [text for _, text, _ in found(folder)] == ["agent cognition", "agent\ncognition"]


@pytest.mark.parametrize(
    "text",
    [
        "# About graphs",
        "About graphs\n---",
        "- ## graphs in a list",
        "`graphs` and ``x graphs``",
        "```\ngraphs\n```",
        "[[graphs]] ![[graphs]]",
        "[[other|about graphs]]",
        "[graphs](https://example.org) [about\ngraphs](https://example.org)",
        "[x](graphs.md) ![graphs](x.png) [x](<graphs and more>)",
        "[text][graphs]\n\n[graphs]: https://example.org/graphs",
        "https://example.org/graphs www.graphs.org me@graphs.org",
        "See <a href='graphs'>graphs</a>",
        "[about\ngraphs][r]\n\n[r]: other.md",
        "<div>\ngraphs\n</div>",
        "<!-- graphs -->",
        "#graphs and #x/graphs",
        "$graphs$ and %%graphs%% and {{graphs}}",
        "graphs:: a property",
        "paragraphs, graphsx, sub-graphs, graphs-based, a/graphs, graphs.py, graphs_",
        "[^graphs]",
        "Text ^graphs",
    ],
)
def test_what_is_no_running_text_has_no_mentions(vault: Vault, text: str) -> None:
    assert found(vault({"graphs.md": "", "other.md": "# Another", "a.md": text})) == []


@pytest.mark.parametrize(
    "text",
    [
        "Graphs.",
        "(graphs)",
        "**graphs**",
        "“graphs”",
        "graphs' nodes",
        "> quoted graphs",
        "- item graphs",
        "| graphs | b |\n| - | - |\n| 1 | 2 |",
        "costs $5 of graphs and $6",
        "x < y, graphs > z",
    ],
)
def test_running_text_has_them(vault: Vault, text: str) -> None:
    assert len(found(vault({"graphs.md": "", "a.md": text}))) == 1


def test_front_matter_has_no_mentions(vault: Vault) -> None:
    assert found(vault({"graphs.md": "", "a.md": "---\ndescription: about graphs\n---\nx"})) == []


def test_a_note_doesnt_mention_itself_nor_notes_within_its_own_name(vault: Vault) -> None:
    folder = vault({"graph.md": "A graph.", "graph theory.md": "On graph theory."})

    assert found(folder) == []


def test_names_of_several_notes_are_left_out(vault: Vault) -> None:
    assert found(vault({"x/plan.md": "", "y/plan.md": "", "a.md": "the plan"})) == []


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("RAG", "a rag, Rag and RAG", ["RAG"]),
        ("k8s", "k8s K8S", ["k8s"]),
        ("rag", "rag", []),
        ("12", "12", []),
        ("the who", "the who", []),
        ("The Who", "the who, The Who", ["The Who"]),
        ("Once", "Once there was", []),
        ("IT", "IT does it. It", ["IT"]),
        ("2024-01-15", "on 2024-01-15", ["2024-01-15"]),
    ],
)
def test_short_names_and_function_words_need_their_own_case(
    vault: Vault, name: str, text: str, expected: list[str]
) -> None:
    assert [found for _, found, _ in found(vault({f"{name}.md": "", "a.md": text}))] == expected


@pytest.mark.parametrize("text", ["Café Łódź", "CAFÉ ŁÓDŹ", "Cafe\u0301 Ło\u0301dz\u0301"])
def test_letters_beyond_ascii_are_compared_without_case_and_form(vault: Vault, text: str) -> None:
    assert found(vault({"Café Łódź.md": "", "a.md": f"İİ: {text}, 😀"})) == [("a.md", text, "Café Łódź.md")]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Kupferhafen", "Kup\u00adfer\u00adhafen"),
        ("Kup\u00adferhafen", "kupferhafen"),
        ("A fishery", "a \ufb01shery"),
        ("北の灯台", "北の灯台"),
    ],
)
def test_a_name_is_found_in_another_form_and_listed_as_written(vault: Vault, title: str, text: str) -> None:
    files = {"x.md": f"---\ntitle: {title}\n---\n", "a.md": f"On {text}, seen."}

    assert [one for _, one, _ in found(vault(files))] == [text]


def test_a_combining_accent_makes_another_word(vault: Vault) -> None:
    assert found(vault({"cafe.md": "", "a.md": "a cafe\u0301"})) == []


def test_both_directions_of_a_note_are_found(vault: Vault) -> None:
    folder = vault({"apples.md": "like pears", "pears.md": "unlike plums", "plums.md": "and apples"})

    assert found(folder, "pears.md") == [("apples.md", "pears", "pears.md"), ("pears.md", "plums", "plums.md")]


def test_a_vault_without_names_has_no_mentions(vault: Vault) -> None:
    assert found(vault({"a.txt": "x"})) == []


def test_the_first_mention_becomes_a_link(vault: Vault) -> None:
    files = {"pears.md": "", "Big Apples.md": "", "a.md": "big apples, pears, pears, Big Apples"}

    assert written(vault, files) == "[[Big Apples|big apples]], [[pears]], pears, Big Apples"
    assert written(vault, {}) == "[[Big Apples|big apples]], [[pears]], pears, Big Apples"


def test_every_mention_becomes_a_link(vault: Vault) -> None:
    files = {"pears.md": "", "a.md": "pears, [[pears]], Pears\r\n\r\npears"}

    assert written(vault, files, every=True) == "[[pears]], [[pears]], [[pears|Pears]]\r\n\r\n[[pears]]"


def test_a_link_in_front_matter_doesnt_count_as_one_in_the_text(vault: Vault) -> None:
    files = {"pears.md": "", "a.md": '---\nup: "[[pears]]"\n---\npears'}

    assert written(vault, files).endswith("\n[[pears]]")


def test_a_mention_over_two_lines_becomes_a_link_on_one(vault: Vault) -> None:
    assert written(vault, {"Big Apples.md": "", "a.md": "big\napples"}) == "[[Big Apples|big apples]]"


def test_a_mention_in_a_table_escapes_its_bar(vault: Vault) -> None:
    files = {"pears.md": "", "a.md": "| x |\n| - |\n| Pears |\n"}

    assert written(vault, files) == "| x |\n| - |\n| [[pears\\|Pears]] |\n"
    assert found(vault({})) == []


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"x/n.md": "# Large pears", "y/n.md": "# Other"}, "[[x/n|large pears]]"),
        ({"n.md": "# Large pears", "y/n.md": "# Other"}, "[[/n|large pears]]"),
        ({"a#b.md": "# Large pears"}, "[[Large pears|large pears]]"),
        ({"x___y.md": "# Large pears"}, "[[y|large pears]]"),
    ],
)
def test_a_link_leads_to_its_note_alone(vault: Vault, files: Files, expected: str) -> None:
    assert written(vault, {**files, "a.md": "large pears"}) == expected
    findings = check(vault({}))
    assert (findings.broken, findings.ambiguous) == ([], [])


def test_a_change_by_hand_is_a_conflict(vault: Vault) -> None:
    folder = vault({"pears.md": "", "a.md": "pears", "b.md": "pears"})
    listed = mentions(folder)
    Path(folder.root, "a.md").write_text("more pears")

    done = write_mentions(folder, listed)

    assert (done.changed, done.edits) == (("b.md",), 1)
    assert done.conflicts == (Conflict("a.md", "has changed since it was read"),)
    assert Path(folder.root, "a.md").read_text() == "more pears"


def test_the_command_lists_and_writes(vault: Vault) -> None:
    root = vault({"pears.md": "", "a.md": "some pears", "b.md": "[[a]]"}).root

    listed = CliRunner().invoke(app, ["mentions", root, "--note", "Pears", "--json"])
    shown = CliRunner().invoke(app, ["mentions", root])
    wrote = CliRunner().invoke(app, ["mentions", root, "--write", "--json"])
    after = CliRunner().invoke(app, ["mentions", root])

    assert [mention["target"] for mention in json.loads(listed.stdout)] == ["pears.md"]
    assert "a.md:1" in shown.stdout
    assert json.loads(wrote.stdout) == {"changed": ["a.md"], "edits": 1, "conflicts": []}
    assert (after.exit_code, after.stdout) == (0, "")
    assert Path(root, "a.md").read_text() == "some [[pears]]"
    assert read_folder(Path(root)).notes[0].links[0].target == "pears"
