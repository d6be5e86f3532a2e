"""The example of ``hoprank quickstart``: an invented archive and questions about it."""

import json
from pathlib import Path

_HERE = Path(__file__).parent


def example_corpus() -> Path:
    """Return the folder of the example's documents, to ingest; the documents' keys are relative to it."""
    return _HERE / "corpus"


def example_queryset() -> Path:
    """Return the folder of ``queries.jsonl`` and ``qrels.tsv``; their documents are those of the example corpus."""
    return _HERE / "queryset"


def example_questions() -> tuple[str, ...]:
    """Return a few of the queryset's questions for a first demonstration; each needs several documents."""
    return tuple((_HERE / "questions.txt").read_text(encoding="utf-8").splitlines())


def example_answers() -> dict[str, str]:
    """Return the reference answer to each question of the queryset, by the question's text."""
    lines = (example_queryset() / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {query["query"]: query["answer"] for query in map(json.loads, lines)}
