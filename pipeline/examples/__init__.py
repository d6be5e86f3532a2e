"""The example that ``hoprank quickstart`` ingests: the archive of some invented islands, and questions about it."""

from __future__ import annotations

import json
from pathlib import Path

_HERE = Path(__file__).parent


def example_corpus() -> Path:
    """Return the folder of the example's documents, fit to be ingested; their keys are relative to it."""
    return _HERE / "corpus"


def example_queryset() -> Path:
    """Return the folder of the example's ``queries.jsonl`` and ``qrels.tsv``; its documents are the example corpus."""
    return _HERE / "queryset"


def example_questions() -> tuple[str, ...]:
    """Return a few of the queryset's questions to show first; none is answered by one document alone."""
    return tuple((_HERE / "questions.txt").read_text(encoding="utf-8").splitlines())


def example_answers() -> dict[str, str]:
    """Return the known answer to each question of the queryset, by the question's text, for people to compare with."""
    lines = (example_queryset() / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {query["query"]: query["answer"] for query in map(json.loads, lines)}
