"""A check finds what is broken in a vault, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pipeline.domains.vault.check import AmbiguousLink, BrokenLink, DuplicateTitle, MissingPlace, check
from pipeline.domains.vault.cli import app
from pipeline.domains.vault.note import Folder

Files = Mapping[str, str | bytes]
Vault = Callable[[Files], Folder]

TARGET = (
    "---\ntitle: Target\n---\n# Target\n\n## Set-up, first!\n\nText. ^para-1\n\n### What's *new* in C++ & co\n\n"
    "- item one ^item\n- item two ^Two\n\nfirst\n^own\nsecond\n\n    ## Indented code\n\n"
    "| a | b |\n| - | - |\n| 1 | 2 |\n\n^table\n\n"
    "```\n## In code\n^incode\n```\n\n## Set-up, first!\n\n- ## In a list\n\n> quoted ^quote\n\n## With id ^head\n\n"
    "Über straße\n-----------\n\n<a name='spot'></a>\n\n## See [[Other|the other]]\n\n## 🎉\n"
)


def test_a_broken_link_has_its_line_and_the_nearest_name(vault: Vault) -> None:
    folder = vault(
        {"Graph theory.md": "x", "a.md": b"---\r\ntitle: A\r\n---\r\n\r\n[[Graf theory#x|y]] [z](no/way.md)"}
    )

    assert check(folder).broken == [
        BrokenLink("a.md", 5, "Graf theory", "Graph theory"),
        BrokenLink("a.md", 5, "no/way.md", None),
    ]


def test_a_link_in_code_is_reported_apart(vault: Vault) -> None:
    findings = check(vault({"a.md": "`[[nowhere]]`\n\n```\n[[nowhere else]]\n```\n\n`[[a]]`\n"}))

    assert findings.broken == []
    assert [(link.line, link.target) for link in findings.broken_in_code] == [(1, "nowhere"), (4, "nowhere else")]
    assert not findings


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        (
            {"a.md": '---\nup: "[[gone]]"\nsee: [[[b]], [[lost]]]\n---\n![[missing]] ![[b]]', "b.md": "b"},
            [(2, "gone"), (3, "lost"), (5, "missing")],
        ),
        ({"a.md": "![[plan.png]] [p](files/plan.png)", "files/plan.png": b"\x89PNG"}, []),
    ],
)
def test_front_matter_and_embeds_have_links_too(vault: Vault, files: Files, broken: list[tuple[int, str]]) -> None:
    assert [(link.line, link.target) for link in check(vault(files)).broken] == broken


def test_an_ambiguous_link_names_all_notes(vault: Vault) -> None:
    findings = check(vault({"x/n.md": "# One", "y/n.md": "# Two", "y/z/n.md": "# Three", "a.md": "[[n]] [[x/n]]"}))

    assert findings.ambiguous == [AmbiguousLink("a.md", 1, "n", "x/n.md", ("y/n.md", "y/z/n.md"))]
    assert findings


@pytest.mark.parametrize(
    "link",
    [
        "[[t#Set-up, first!]]",
        "[[t#set up  FIRST]]",
        "[[t#Target#What's new in C++ & co]]",
        "[[t#What's new in C++ & co|shown]]",
        "[[t#Target#Set-up, first#What's new in C++ co]]",
        "[[t#in a list]]",
        "[[t#With id]]",
        "[[t#Über Straße]]",
        "[[t#See the other]]",
        "[[t#🎉]]",
        "[[t#^para-1]]",
        "[[t^para-1]]",
        "[[t#Set-up, first!#^PARA-1]]",
        "[[t#^item]]",
        "[[t#^two]]",
        "[[t#^own]]",
        "[[t#^table]]",
        "[[t#^quote]]",
        "[[t#^head]]",
        "![[t#^item]]",
        "[x](t.md#set-up-first)",
        "[x](t.md#set-up-first-1)",
        "[x](t.md#whats-new-in-c--co)",
        "[x](t.md#%C3%BCber-stra%C3%9Fe)",
        "[x](t.md#Set-up,%20first!)",
        "[x](t.md#^item)",
        "[x](t.md#spot)",
    ],
)
def test_a_place_that_is_there_is_found(vault: Vault, link: str) -> None:
    findings = check(vault({"t.md": TARGET, "Other.md": "", "a.md": link}))

    assert (findings.broken, findings.missing_headings, findings.missing_blocks) == ([], [], [])


@pytest.mark.parametrize(
    ("link", "fragment"),
    [
        ("[[t#Nowhere]]", "Nowhere"),
        ("[[t#In code]]", "In code"),
        ("[[t#Indented code]]", "Indented code"),
        ("[[t#🎈]]", "🎈"),
        ("[[t#What's new in C++ & co#Set-up, first!]]", "What's new in C++ & co#Set-up, first!"),
        ("[[t#set-up-first-1]]", "set-up-first-1"),
        ("[x](t.md#set-up-first-2)", "set-up-first-2"),
        ("[x](t.md#target-2)", "target-2"),
        *((f"[[t#^{block}]]", f"^{block}") for block in ("none", "incode", "para")),
    ],
)
def test_a_missing_heading_or_block_is_reported(vault: Vault, link: str, fragment: str) -> None:
    findings = check(vault({"t.md": TARGET, "Other.md": "", "a.md": f"\n{link}"}))

    missing = [MissingPlace("a.md", 2, "t.md", fragment)]
    assert (findings.missing_headings, findings.missing_blocks) == (([], missing) if "^" in fragment else (missing, []))
    assert findings


def test_places_in_the_same_note_count(vault: Vault) -> None:
    findings = check(vault({"a.md": "# Top\n\n[[#Top]] [[#Gone]] [[#^gone]] [x](#top) [y](#gone)"}))

    assert [place.fragment for place in findings.missing_headings] == ["Gone", "gone"]
    assert [place.fragment for place in findings.missing_blocks] == ["^gone"]


def test_a_link_to_oneself_doesnt_save_an_orphan(vault: Vault) -> None:
    folder = vault({"a.md": "[[b]]", "b.md": "[[a]]", "alone.md": "[[alone]] [[nowhere]]", "empty.md": ""})

    assert check(folder).orphans == ["alone.md", "empty.md"]


def test_titles_and_aliases_are_compared_without_case_and_spacing(vault: Vault) -> None:
    folder = vault(
        {
            "a.md": "---\ntitle: Graph  Theory\n---\nx",
            "b.md": "---\naliases: [graph-theory]\n---\n# B",
            "c.md": "# Graph algorithms",
            "sub/c.md": "# Other",
        }
    )

    findings = check(folder)

    assert findings.duplicate_titles == [DuplicateTitle("graph theory", ("a.md", "b.md"))]
    assert findings


def test_skipped_files_are_listed(vault: Vault) -> None:
    findings = check(vault({"a.md": "x", "bad.md": b"\xff\xfe\xff", "worse.md": "---\na: [\n---\nx"}))

    assert [Path(skipped.source).name for skipped in findings.skipped] == ["bad.md"]
    assert [(warned.source, "front matter" in warned.warning) for warned in findings.warnings] == [("worse.md", True)]
    assert not findings


def test_only_some_notes_are_checked_but_all_can_be_linked(vault: Vault) -> None:
    folder = vault({"a.md": "[[b]] [[x]]", "b.md": "[[y]]"})

    assert [link.target for link in check(folder, only={"a.md"}).broken] == ["x"]
    assert (check(folder, only={"b.md"}).notes, check(folder, only={"b.md"}).orphans) == (1, [])


def run(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "100"})
    return result.exit_code, result.stdout


def test_the_command_prints_findings_and_is_strict_on_request(vault: Vault) -> None:
    root = vault({"a.md": "[[b\x1b[31m]]\n\n[[gone]]", "b.md": "# T", "c.md": "# T", "d/e.md": "[[c]]"}).root

    code, shown = run("check", root)

    assert code == 0
    assert "a.md:3: gone" in shown
    assert "\x1b" not in shown
    assert run("check", root, "--strict")[0] == 1
    assert run("check", root, "--strict", "--include", "b.md", "--exclude", "c.md")[0] == 1
    assert run("check", root, "--strict", "--include", "d")[0] == 0
    assert run("check", root, "--strict", "--exclude", "a.md", "--exclude", "b.md", "--exclude", "c.md")[0] == 0
    assert [link["line"] for link in json.loads(run("check", root, "--json")[1])["broken"]] == [3]
