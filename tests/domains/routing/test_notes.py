"""LEARNS_FROM: the projects of notes, and what their sentences propose."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from pipeline.domains.routing.learn.notes import read_sources
from pipeline.domains.routing.schema import Project
from pipeline.errors import SourceError
from tests.domains.routing.detected import OTHERS, detected, write


def noted(tmp_path: Path, *sentences: str) -> dict[str, float]:
    """The confidence that the sentences of a note of ``patina`` give to LEARNS_FROM, by project."""
    note = tmp_path / "notes" / "session.md"
    write(tmp_path / "notes", {"session.md": "---\nproject: patina\n---\n" + "\n\n".join(sentences)})
    found = detected(tmp_path / "patina", {}, [note])
    return {target: one.confidence for (kind, target), one in found.items() if kind == "learns_from"}


@pytest.mark.parametrize(
    ("sentence", "target"),
    [
        ("I looked at dojo for this.", "dojo"),
        ("The event loop is borrowed from SDL.", "SDL"),
        ("World storage works as dojo does it.", "dojo"),
        ("We keep a registry, inspired by the dojo crate.", "dojo"),
        ("See how `flask` handles blueprints.", "pallets/flask"),
        ("The session is modelled on Flask.", "pallets/flask"),
        ("Adapters ported from psf/requests.", "psf/requests"),
        ("We follow dojo's approach to models.", "dojo"),
        ("That is dojo's usual approach to models.", "dojo"),
        ("Looked into tree-sitter for the grammar.", "tree-sitter"),
        ("How requests handles redirects is what we need.", "psf/requests"),
    ],
)
def test_a_sentence_about_learning_proposes_learns_from(tmp_path: Path, sentence: str, target: str) -> None:
    found = noted(tmp_path, sentence)

    assert list(found) == [target]
    assert found[target] >= 0.45


@pytest.mark.parametrize(
    "sentence",
    [
        "She drank from a flask of water.",
        "The requests that failed were sent again.",
        "We looked at requests that failed.",
        "Looked at the requests in the log.",
        "It took three requests per second.",
        "He borrowed a flask from the lab.",
        "```\nlooked at dojo\n```",
        "Requests should be signed.",
        "flask, requests and more",
        "The judo dojos were borrowed from nobody.",
        "Borrowed from dojo-extras, from my-SDL and from sdl2.",
    ],
)
def test_an_ordinary_word_is_no_mention(tmp_path: Path, sentence: str) -> None:
    assert noted(tmp_path, sentence) == {}


def test_a_bare_mention_counts_less_and_several_count_more_within_a_bound(tmp_path: Path) -> None:
    bare = noted(tmp_path, "Tests of SDL ran.")
    more = noted(tmp_path, "Tests of SDL ran.", "SDL has a window.", "The window of SDL opens.")
    many = noted(tmp_path, *(f"Run {number} of SDL." for number in range(40)))
    learnt = noted(tmp_path, "The window is borrowed from SDL.")

    assert bare["SDL"] < more["SDL"] <= many["SDL"] == 0.5 < learnt["SDL"]


@pytest.mark.parametrize(
    "sentence",
    [
        "We did not look at `dojo`.",
        "Nothing was taken from `dojo`.",
        "No code was copied from `dojo`.",
        "None of it is borrowed from `dojo`.",
        "We studied the sources instead of `dojo`.",
    ],
)
def test_a_denied_sentence_is_a_bare_mention(tmp_path: Path, sentence: str) -> None:
    assert noted(tmp_path, sentence)["dojo"] < 0.3


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("# Day\n\nFirst.\nI looked at dojo for\nthis. Then slept.\n", "7: I looked at dojo for this."),
        ("# Not today\nBorrowed from `dojo`.\n## Day\n", "5: Borrowed from `dojo`."),  # without the heading
    ],
)
def test_the_sentence_is_the_evidence_with_its_line(tmp_path: Path, text: str, evidence: str) -> None:
    note = write(tmp_path / "n", {"a.md": f"---\nproject: patina\n---\n{text}"}) / "a.md"

    assert detected(tmp_path / "p", {}, [note])["learns_from", "dojo"].evidence == (f"{note}:{evidence}",)


def test_a_log_without_full_stops_is_read_in_linear_time(tmp_path: Path) -> None:
    log = write(tmp_path, {"a.log": "we looked at `dojo` and " * 4_000})

    start = time.process_time()
    found = detected(tmp_path / "p", {}, [log / "a.log"], default="patina")

    # Searching the whole sentence at each mention took two minutes.
    assert time.process_time() - start < 20
    assert found["learns_from", "dojo"].confidence >= 0.45


@pytest.mark.parametrize(
    ("front", "project"),
    [
        ("date: 2024-13-45\nproject: dojo", "dojo"),
        ("x: " + "[" * 5_000, "SDL"),
        ("project: " + chr(7), "SDL"),
        ("\n".join([f"a0: &a0 [{'x,' * 50}]", *(f"a{n}: &a{n} [{f'*a{n - 1},' * 50}]" for n in range(1, 9))]), "SDL"),
    ],
)
def test_front_matter_that_can_t_be_read_costs_neither_the_note_nor_its_project(
    tmp_path: Path, front: str, project: str
) -> None:
    write(tmp_path, {"a.md": f"---\n{front}\n---\nA day."})

    (note,) = read_sources([tmp_path], OTHERS, "SDL").notes

    assert (note.project, note.line, note.text) == (project, front.count("\n") + 4, "A day.")


def test_an_empty_note_stops_no_other_and_half_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "", "b.md": "A day.", "c.jsonl": '\n{"text": "x\\ud800"}\n"no object"\n'})

    notes = read_sources([tmp_path], OTHERS, "SDL").notes

    assert [(note.line, note.text) for note in notes] == [(1, ""), (1, "A day."), (2, "x\ufffd")]


def test_a_weak_verb_does_not_make_a_name_of_a_word_that_the_notes_use_as_one(tmp_path: Path) -> None:
    usual = ["A flask broke.", "The flask is full.", "Each flask of acid."]

    assert noted(tmp_path, "Looked at flask.") != {}
    assert noted(tmp_path, "Looked at flask.", *usual) == {}
    assert noted(tmp_path, "Looked at `flask`.", *usual) != {}


def test_a_note_belongs_to_the_project_of_its_field_folder_or_default(tmp_path: Path) -> None:
    projects = [Project("patina", path=str(tmp_path / "code")), Project("acme/shop")]
    lines = [{"project": "shop", "text": "a"}, {"cwd": str(tmp_path / "code" / "src"), "text": "b"}, {"text": "c"}]
    write(
        tmp_path,
        {
            "code/layer/session.md": "d",
            "notes/shop/day.txt": "e",
            "notes/other.md": "f",
            "notes/all.jsonl": "\n".join(map(json.dumps, lines)),
        },
    )

    sources = read_sources([tmp_path / "code" / "layer", tmp_path / "notes"], projects)
    defaulted = read_sources([tmp_path / "notes" / "other.md"], projects, "patina")

    assert {note.text: note.project for note in sources.notes} == {
        "a": "acme/shop",
        "b": "patina",
        "d": "patina",
        "e": "acme/shop",
    }
    assert {Path(path).name for path in sources.unassigned} == {"all.jsonl", "other.md"}
    assert [note.project for note in defaulted.notes] == ["patina"]


def test_notes_of_a_folder_that_cannot_be_read_are_left_out_and_named(tmp_path: Path) -> None:
    write(tmp_path, {"broken.jsonl": '{"text": "a"}\n{\n{"text": "b"}', "good.md": "A day."})
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")

    sources = read_sources([tmp_path], OTHERS, "dojo")

    assert [note.text for note in sources.notes] == ["a", "b", "A day."]
    assert [(Path(one.source).name, one.reason.split(":")[0]) for one in sources.skipped] == [
        ("broken.jsonl, line 2", "isn't JSON"),
        ("latin.md", "isn't valid UTF-8 (at byte 3)"),
    ]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "nowhere doesn't exist"),
        ("broken.jsonl", "line 2 isn't JSON"),
        ("latin.md", "isn't valid UTF-8"),
    ],
)
def test_notes_that_cannot_be_read_are_named(tmp_path: Path, name: str, said: str) -> None:
    write(tmp_path, {"broken.jsonl": '{"text": "a"}\n{'})
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")

    with pytest.raises(SourceError, match=said):
        read_sources([tmp_path / name], OTHERS, "dojo")
