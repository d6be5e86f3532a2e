"""Which document a hyperlink means."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.ingest.links.entity_links import LinkResolver
from pipeline.records import WrittenLink

VAULT = LinkResolver(
    {
        "index.md": "Home",
        "notes/ada.md": "Ada Lovelace",
        "notes/deep/ada.md": "Another Ada",
        "notes/deep/engine.md": "The Engine",
        "people/charles.md": "Charles Babbage",
        "people/engine.html": "Steam engine",
        "a b/c#d.md": "Odd Name",
    }
)


@pytest.mark.parametrize(
    ("target", "source", "expected"),
    [
        ("notes/ada.md", "index.md", "notes/ada.md"),
        ("./notes/ada.md", "index.md", "notes/ada.md"),
        ("ada.md", "notes/deep/engine.md", "notes/deep/ada.md"),
        ("../ada.md", "notes/deep/engine.md", "notes/ada.md"),
        ("../../people/charles.md", "notes/deep/engine.md", "people/charles.md"),
        ("/people/charles.md", "notes/ada.md", "people/charles.md"),
        ("notes/ada", "index.md", "notes/ada.md"),
        ("Charles Babbage", "index.md", "people/charles.md"),
        ("charles", "notes/ada.md", "people/charles.md"),
        ("CHARLES BABBAGE", "index.md", "people/charles.md"),
        ("engine", "notes/ada.md", "notes/deep/engine.md"),
        ("engine", "people/charles.md", "people/engine.html"),
        ("ada", "people/charles.md", "notes/ada.md"),
        ("ada", "notes/ada.md", None),
        ("ada.md", "notes/ada.md", None),
        ("a b/c#d.md", "index.md", "a b/c#d.md"),
        ("nowhere.md", "index.md", None),
        ("../../../etc/passwd", "index.md", None),
        ("", "index.md", None),
        ("...", "index.md", None),
        ("/", "index.md", None),
    ],
)
def test_a_target_means_a_path_a_name_or_a_title(target: str, source: str, expected: str | None) -> None:
    assert VAULT.resolve(target, source) == expected


@pytest.mark.parametrize(
    "target", ["caf\u00e9/m\u00fc.md", "cafe\u0301/mu\u0308.md", "caf\u00e9/mu\u0308", "/cafe\u0301/m\u00fc"]
)
@pytest.mark.parametrize("key", ["caf\u00e9/m\u00fc.md", "cafe\u0301/mu\u0308.md"])
def test_normal_forms_of_a_path_are_the_same_path(key: str, target: str) -> None:
    resolver = LinkResolver({key: "", "other/mu.md": ""})

    assert resolver.resolve(target, "a.md") == key
    assert resolver.resolve("mu\u0308.md", key.replace("m", "n")) == key


def test_targets_are_counted_by_document() -> None:
    targets = ["notes/ada.md", "people/charles.md", "Ada Lovelace", "elsewhere", "index.md"]

    links = dict(VAULT.resolve_all([WrittenLink(target) for target in targets], "index.md"))

    assert {key: [link.target for link in resolved] for key, resolved in links.items()} == {
        "notes/ada.md": ["notes/ada.md", "Ada Lovelace"],
        "people/charles.md": ["people/charles.md"],
    }


def test_documents_without_a_title_or_a_letter_in_it_are_no_catch_all() -> None:
    resolver = LinkResolver({"1": "", "2": "!!!", "3": "???"})

    assert resolver.resolve("...", "1") is None
    assert resolver.resolve("2", "1") == "2"


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_target_in_any_document_has_an_answer(target: str, source: str) -> None:
    assert VAULT.resolve(target, source) in {None, *"index.md notes/ada.md notes/deep/ada.md".split()} | {
        "notes/deep/engine.md",
        "people/charles.md",
        "people/engine.html",
        "a b/c#d.md",
    }


@pytest.mark.parametrize("key", ["/", ".", "..", "//", "a/"])
def test_a_key_that_names_no_file_is_found_by_its_title(key: str) -> None:
    """As the ids of a .jsonl file may be."""
    assert LinkResolver({key: "Lighthouses"}).resolve("Lighthouses", "b.md") == key
