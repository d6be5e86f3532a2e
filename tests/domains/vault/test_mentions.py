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


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"graph.md": "", "graph theory.md": "", "a.md": "graph theory of a graph"}, ["graph theory", "graph"]),
        (
            {"agent-cognition.md": "", "a.md": "On agent cognition and agent\ncognition."},
            ["agent cognition", "agent\ncognition"],
        ),
        ({"graphs.md": "", "a.md": "---\ndescription: about graphs\n---\nx"}, []),
        ({"graph.md": "A graph.", "graph theory.md": "On graph theory."}, []),  # its own name, and one within that
        ({"x/plan.md": "", "y/plan.md": "", "a.md": "the plan"}, []),
        ({"cafe.md": "", "a.md": "a cafe\u0301"}, []),
        ({"a.txt": "x"}, []),
        *(
            ({"Café Łódź.md": "", "a.md": f"İİ: {text}, 😀"}, [text])
            for text in ("Café Łódź", "CAFÉ ŁÓDŹ", "Cafe\u0301 Ło\u0301dz\u0301")
        ),
        *(
            ({"x.md": f"---\ntitle: {title}\n---\n", "a.md": f"On {text}, seen."}, [text])
            for title, text in (
                ("Kupferhafen", "Kup\u00adfer\u00adhafen"),
                ("Kup\u00adferhafen", "kupferhafen"),
                ("A fishery", "a \ufb01shery"),
                ("北の灯台", "北の灯台"),
            )
        ),
    ],
)
def test_a_name_is_found_as_it_is_written_and_means_one_note(vault: Vault, files: Files, expected: list[str]) -> None:
    assert [text for _, text, _ in found(vault(files))] == expected


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


def test_both_directions_of_a_note_are_found(vault: Vault) -> None:
    folder = vault({"apples.md": "like pears", "pears.md": "unlike plums", "plums.md": "and apples"})

    assert found(folder, "pears.md") == [("apples.md", "pears", "pears.md"), ("pears.md", "plums", "plums.md")]


@pytest.mark.parametrize(
    ("text", "every", "after"),
    [
        ("big apples, pears, pears, Big Apples", False, "[[Big Apples|big apples]], [[pears]], pears, Big Apples"),
        ("pears, [[pears]], Pears\r\n\r\npears", True, "[[pears]], [[pears]], [[pears|Pears]]\r\n\r\n[[pears]]"),
        ('---\nup: "[[pears]]"\n---\npears', False, '---\nup: "[[pears]]"\n---\n[[pears]]'),
        ("big\napples", False, "[[Big Apples|big apples]]"),
        ("| x |\n| - |\n| Pears |\n", False, "| x |\n| - |\n| [[pears\\|Pears]] |\n"),
    ],
)
def test_the_first_or_every_mention_becomes_a_link(vault: Vault, text: str, every: bool, after: str) -> None:
    files: dict[str, str | bytes] = {"pears.md": "", "Big Apples.md": "", "a.md": text.encode()}

    assert written(vault, files, every=every) == after
    assert written(vault, {}, every=every) == after


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
