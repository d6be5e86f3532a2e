"""Generated documents, and questions that name two of their names: as many documents a name, however many there are."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_CENTRES = 500
_DOCUMENTS_A_NAME = 0.95
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def write_documents(path: Path, documents: int, embedded: int, dimension: int) -> None:
    """Write a .jsonl file of documents; the first ``embedded`` of them bring no vector of their own."""
    with path.open("w", encoding="utf-8") as file:
        for row in _rows(documents, embedded, dimension):
            file.write(json.dumps(row) + "\n")


def _rows(documents: int, embedded: int, dimension: int) -> Iterator[dict[str, Any]]:
    chance, numbers = random.Random(1), np.random.default_rng(1)  # noqa: S311 - the same documents every time
    names, words = _vocabulary(documents, chance)
    centres = numbers.normal(size=(_CENTRES, dimension))
    for place in range(documents):
        sentences = [f"{chance.choice(names)} saw {' '.join(chance.choices(words, k=12))}." for _ in range(5)]
        row: dict[str, Any] = {"id": str(place), "title": chance.choice(names)}
        if place < embedded:
            yield {**row, "text": " ".join(sentences)}
        else:
            vector = centres[place % _CENTRES] + numbers.normal(size=dimension)
            yield {**row, "chunks": [{"text": " ".join(sentences), "embedding": vector.round(3).tolist()}]}


def generated_questions(documents: int, number: int) -> Iterator[str]:
    """Yield questions about so many documents, the same every time."""
    chance = random.Random(1)  # noqa: S311 - the names that the documents have
    names, words = _vocabulary(documents, chance)
    for _ in range(number):
        one, other = chance.choices(names, k=2)
        yield f"What did {one} see that {other} saw too, {' '.join(chance.choices(words, k=3))}?"


def _vocabulary(documents: int, chance: random.Random) -> tuple[list[str], list[str]]:
    names = [_name(chance) for _ in range(max(100, round(documents / _DOCUMENTS_A_NAME)))]
    words = ["".join(chance.choices(_SYLLABLES, k=3)) for _ in range(max(1000, documents // 10))]
    return names, words


def _name(chance: random.Random) -> str:
    return " ".join("".join(chance.choices(_SYLLABLES, k=3)).capitalize() for _ in range(2))
