"""What of the input is new, and how it is taken in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SourceError
from pipeline.ids import digest
from pipeline.ingest.chunking.chunk import batched
from pipeline.ingest.update.changes import Changes, detect_changes, document_hash
from pipeline.ingest.update.stored import StoredDocument
from pipeline.progress import Progress
from pipeline.records import Block, BlockKind, Document, Link, Skipped, Warned

DOCUMENT = Document(
    key="a.md",
    title="A",
    text="# A\n\nSee [b](b.md).",
    blocks=(Block(BlockKind.HEADING, 0, 3, 1), Block(BlockKind.PARAGRAPH, 5, 19)),
    links=(Link("b.md", 9, 18),),
    metadata={"year": 2020, "tags": ["x", "y"]},
    path="notes/a.md",
)

CHANGES: dict[str, Callable[[Document], Document]] = {
    "text": lambda one: replace(one, text=one.text + "!"),
    "title": lambda one: replace(one, title="B"),
    "link": lambda one: replace(one, links=(Link("c.md", 9, 18),)),
    "no link": lambda one: replace(one, links=()),
    "metadata": lambda one: replace(one, metadata={**one.metadata, "year": 2021}),
    "kind of metadata": lambda one: replace(one, metadata={**one.metadata, "year": "2020"}),
    "metadata that look alike": lambda one: replace(one, metadata={"year=2020;tags": ["x", "y"]}),
    "lines": lambda one: replace(one, line_offset=3),
    "a heading that became a paragraph": lambda one: replace(
        one, blocks=(Block(BlockKind.PARAGRAPH, 0, 3), *one.blocks[1:])
    ),
    "the level of a heading": lambda one: replace(one, blocks=(Block(BlockKind.HEADING, 0, 3, 2), *one.blocks[1:])),
}


def stored(document: Document) -> StoredDocument:
    return StoredDocument(document.title, document_hash(document), digest(document.text), document.path)


def detect(
    source: Iterable[Document | Skipped], before: Mapping[str, StoredDocument]
) -> tuple[Changes, list[Document]]:
    with detect_changes(source, before, Progress()) as changes:
        return changes, list(changes.documents)


def test_documents_are_sorted_into_unchanged_and_changed() -> None:
    same, other, new, moved = (replace(DOCUMENT, key=key) for key in ("same", "other", "new", "moved"))
    before = {
        "same": stored(same),
        "other": replace(stored(other), hash="another"),
        "moved": stored(moved),
        "unread": stored(other),
    }

    changes, documents = detect([same, other, Skipped("c.bin", "is binary"), new, replace(moved, path="x")], before)

    assert documents == [other, new]
    assert (changes.unchanged, changes.changed) == (2, ["other", "new"])
    assert changes.moved == {"moved": "x"}
    assert changes.missing == ("unread",)
    assert changes.skipped == [Skipped("c.bin", "is binary")]
    assert changes.empty == []


def test_a_document_keeps_the_decomposed_key_that_it_was_stored_by() -> None:
    old, new = "cafe\u0301.md", "caf\u00e9.md"

    changes, documents = detect([replace(DOCUMENT, key=new)], {old: stored(DOCUMENT)})
    both, added = detect([replace(DOCUMENT, key=old), replace(DOCUMENT, key=new)], {old: stored(DOCUMENT)})

    assert (changes.unchanged, changes.missing, documents) == (1, (), [])
    assert (both.unchanged, [document.key for document in added]) == (1, [new])


def test_warnings_are_collected_from_unchanged_documents_too_and_change_none() -> None:
    warned = replace(DOCUMENT, warnings=("has a page without text",))

    changes, documents = detect([warned, replace(warned, key="b.md", path="")], {"a.md": stored(DOCUMENT)})

    assert changes.warnings == [Warned(place, "has a page without text") for place in ("notes/a.md", "b.md")]
    assert [document.key for document in documents] == ["b.md"]


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_documents_without_text_are_named_and_kept(text: str) -> None:
    blank = replace(DOCUMENT, text=text, blocks=(), links=())

    changes, documents = detect([blank], {})
    again, nothing = detect([blank], {"a.md": stored(blank)})

    assert (changes.empty, documents) == (["a.md"], [blank])
    assert (again.empty, again.unchanged, nothing) == (["a.md"], 1, [])
    assert not again


def test_what_reading_raises_is_raised_before_anything_is_known() -> None:
    def source() -> Iterator[Document]:
        yield DOCUMENT
        raise SourceError("b.md is locked.", "Close it.")

    with pytest.raises(SourceError, match="locked"):
        detect(source(), {})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_any_change_that_the_graph_would_hold_is_noticed(change: Callable[[Document], Document]) -> None:
    assert document_hash(change(DOCUMENT)) != document_hash(DOCUMENT)


def test_the_order_of_metadata_is_no_change() -> None:
    turned = replace(DOCUMENT, metadata=dict(reversed(list(DOCUMENT.metadata.items()))))

    assert document_hash(turned) == document_hash(DOCUMENT)


def test_where_a_document_is_kept_from_is_no_part_of_another() -> None:
    assert document_hash(replace(DOCUMENT, title="x", path="y")) != document_hash(
        replace(DOCUMENT, title="xy", path="")
    )


@given(st.lists(st.integers(0, 400_000), max_size=30))
def test_batches_keep_the_order_and_are_bounded(sizes: list[int]) -> None:
    documents = [Document(str(place), "", "x" * size) for place, size in enumerate(sizes)]
    batches = list(batched(documents, 512, 1_000_000))

    assert [one for batch in batches for one in batch] == documents
    assert all(batches)
    assert all(sum(len(one.text) for one in batch[:-1]) < 1_000_000 for batch in batches)


def test_many_small_documents_are_several_batches() -> None:
    sizes = [len(batch) for batch in batched((Document(str(number), "", "x") for number in range(1500)), 512, 10**6)]

    assert sizes == [512, 512, 476]


@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_that_takes_the_key_of_one_in_another_folder_is_named(tmp_path: Path, is_there: bool) -> None:
    first = tmp_path / "alpha" / "README.md"
    first.parent.mkdir()
    if is_there:
        first.write_text("Alpha holds bronze bells.")
    stored = {"README.md": StoredDocument("Alpha", "hash", digest("Alpha holds bronze bells."), str(first))}
    second = Document("README.md", "Beta", "Beta stores sailcloth.", path=str(tmp_path / "beta" / "README.md"))
    with detect_changes([second], stored, Progress()) as changes:
        assert changes.changed == ["README.md"]

    warning = Warned(second.path, f"replaces {first}: both are README.md in the corpus")
    assert changes.warnings == ([warning] if is_there else [])
