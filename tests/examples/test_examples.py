"""The example corpus and its questions hold together: formats, sizes, links, judgements."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import docx
import pypdf
import pytest
import yaml

from pipeline.evaluate.datasets import check_documents, read_dataset
from pipeline.examples import example_corpus, example_queryset, example_questions
from pipeline.ingest.links.entity_links import LinkResolver
from pipeline.ingest.sources import read
from pipeline.records import Document

CORPUS = example_corpus()
FILES = sorted(path for path in CORPUS.rglob("*") if path.is_file())
TEXTS = [path for path in FILES if path.suffix in {".md", ".txt", ".rst", ".html", ".jsonl"}]
QUERIES = [json.loads(line) for line in (example_queryset() / "queries.jsonl").read_text("utf-8").splitlines()]
HYPERLINK = re.compile(r"\]\(([^)]+)\)|`[^`<]+<([^>]+)>`_|href=\"([^\"]+)\"")
WIKILINK = re.compile(r"\[\[([^\]|]+)(?:\|[^\]]+)?\]\]")


def key_of(path: Path) -> str:
    return path.relative_to(CORPUS).as_posix()


def records() -> list[dict[str, object]]:
    return [json.loads(line) for line in (CORPUS / "catalogue.jsonl").read_text("utf-8").splitlines()]


def document_keys() -> set[str]:
    return {key_of(path) for path in FILES if path.suffix != ".jsonl"} | {str(record["id"]) for record in records()}


def judged() -> dict[str, list[str]]:
    lines = (example_queryset() / "qrels.tsv").read_text("utf-8").splitlines()
    assert lines[0] == "query_id\tdoc_id\trelevance"
    relevant: dict[str, list[str]] = {}
    for line in lines[1:]:
        query_id, key, relevance = line.split("\t")
        assert relevance == "1"
        relevant.setdefault(query_id, []).append(key)
    return relevant


def links() -> Iterator[tuple[Path, str]]:
    for path in TEXTS:
        if path.suffix in {".md", ".rst", ".html"}:
            for groups in HYPERLINK.findall(path.read_text("utf-8")):
                yield path, "".join(groups)


def test_every_format_is_there() -> None:
    formats = Counter(path.suffix for path in FILES)

    assert formats == {".md": 45, ".txt": 9, ".rst": 5, ".html": 4, ".docx": 2, ".pdf": 2, ".jsonl": 1}
    assert len(records()) == 10
    assert len(document_keys()) == 77


@pytest.mark.parametrize("path", FILES, ids=key_of)
def test_files_are_small(path: Path) -> None:
    assert 0 < path.stat().st_size < 100_000


@pytest.mark.parametrize("path", TEXTS, ids=key_of)
def test_texts_are_tidy_utf8(path: Path) -> None:
    text = path.read_bytes().decode("utf-8")

    assert text.endswith("\n")
    assert not text.startswith("\ufeff")
    assert "\r" not in text
    assert not re.search(r"[ \t]$", text, re.MULTILINE)


@pytest.mark.parametrize("path", [path for path in TEXTS if path.suffix != ".jsonl"], ids=key_of)
def test_texts_are_of_a_readable_length(path: Path) -> None:
    assert 80 <= len(path.read_text("utf-8").split()) <= 600


def test_front_matter_is_yaml_with_a_title() -> None:
    fronts = [
        yaml.safe_load(text.split("---\n")[1])
        for text in (path.read_text("utf-8") for path in TEXTS)
        if text.startswith("---\n")
    ]

    assert len(fronts) >= 15
    assert all(front["title"] for front in fronts)


def test_names_of_files_are_unique_so_that_wikilinks_are_clear() -> None:
    assert [stem for stem, count in Counter(path.stem for path in FILES).items() if count > 1] == []


def test_hyperlinks_resolve_inside_the_corpus() -> None:
    found = list(links())

    assert len(found) >= 50
    assert [(key_of(path), target) for path, target in found if not (path.parent / target).is_file()] == []
    assert all((path.parent / target).resolve().is_relative_to(CORPUS.resolve()) for path, target in found)


def test_wikilinks_name_a_file() -> None:
    stems = {path.stem for path in FILES}
    targets = [target for path in TEXTS for target in WIKILINK.findall(path.read_text("utf-8"))]

    assert len(targets) >= 25
    assert [target for target in targets if target not in stems] == []


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".pdf"], ids=key_of)
def test_pdfs_hold_text_on_two_pages(path: Path) -> None:
    with path.open("rb") as file:
        reader = pypdf.PdfReader(file)

        assert reader.metadata is not None
        assert reader.metadata.title
        assert [len(page.extract_text()) > 500 for page in reader.pages] == [True, True]


@pytest.mark.parametrize("path", [path for path in FILES if path.suffix == ".docx"], ids=key_of)
def test_word_files_hold_headings_and_a_table(path: Path) -> None:
    document = docx.Document(str(path))
    styles = [paragraph.style.name for paragraph in document.paragraphs if paragraph.style is not None]

    assert document.core_properties.title
    assert styles.count("Heading 1") >= 4
    assert len(document.tables) == 1


def test_ingestion_reads_every_document_and_links_them() -> None:
    documents = [document for document in read([str(CORPUS)]) if isinstance(document, Document)]
    resolver = LinkResolver({document.key: document.title for document in documents})
    unresolved = [
        (document.key, link.target)
        for document in documents
        for link in document.links
        if resolver.resolve(link.target, document.key) is None
    ]

    assert {document.key for document in documents} == document_keys()
    assert all(document.text and document.title for document in documents)
    assert unresolved == []


def test_records_have_ids_titles_and_metadata() -> None:
    assert len({record["id"] for record in records()}) == len(records())
    assert all(record["title"] and record["text"] and isinstance(record["metadata"], dict) for record in records())


def test_the_queryset_is_one_that_evaluate_reads() -> None:
    queryset = read_dataset(example_queryset())

    check_documents(queryset, document_keys())
    assert len(queryset.queries) == len(QUERIES)
    assert queryset.unjudged == ()


def test_every_judgement_names_a_document_once_and_a_question() -> None:
    relevant = judged()

    assert sorted(relevant) == sorted(query["id"] for query in QUERIES)
    for keys in relevant.values():
        assert len(set(keys)) == len(keys)
        assert set(keys) <= document_keys()


def test_most_questions_take_two_or_three_documents() -> None:
    sizes = Counter(len(keys) for keys in judged().values())

    assert sizes == {3: 15, 2: 24, 1: 4}


def test_questions_are_of_the_known_types_and_have_answers() -> None:
    assert {query["type"] for query in QUERIES} == {"bridge", "comparison", "bridge_comparison", "single"}
    assert all(set(query) == {"id", "query", "type", "answer"} and query["answer"] for query in QUERIES)
    assert len({query["query"] for query in QUERIES}) == len(QUERIES)
    assert all((query["type"] == "single") == (len(judged()[query["id"]]) == 1) for query in QUERIES)


def test_the_questions_to_show_are_of_the_queryset_and_take_several_documents() -> None:
    by_text = {query["query"]: query["id"] for query in QUERIES}

    assert [len(judged()[by_text[question]]) for question in example_questions()] == [2, 2, 3, 3]
