"""Generated documents, and questions that name two of their names: as many documents a name, however many there are."""

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

TENANTS = 100
"""Values of the documents' metadata ``tenant``, each of which admits 1% of them."""

_CENTRES = 500
_SPREAD = 0.75  # of vectors around their centre: all around one are near enough to be linked
_ROWS = 10_000  # of a row group
_DOCUMENTS_A_NAME = 0.95
_SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu".split()


def write_documents(path: Path, documents: int, embedded: int, dimension: int, *, changed: bool = False) -> None:
    """Write a Parquet table of documents; the first ``embedded`` of them bring no vector of their own.

    Of ``changed`` documents one in a hundred has another text.
    """
    texts = [(name, pa.string()) for name in ("id", "title", "text")]
    schema = pa.schema([*texts, ("tenant", pa.int64()), ("embedding", pa.list_(pa.float32()))])
    rows = _rows(documents, embedded, dimension, changed=changed)
    with pq.ParquetWriter(path, schema) as writer:
        while group := list(islice(rows, _ROWS)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema))


def _rows(documents: int, embedded: int, dimension: int, *, changed: bool) -> Iterator[dict[str, Any]]:
    chance, numbers = random.Random(1), np.random.default_rng(1)  # noqa: S311 - the same documents every time
    names, words = _vocabulary(documents, chance)
    centres = numbers.normal(size=(_CENTRES, dimension))
    for place in range(documents):
        sentences = [f"{chance.choice(names)} saw {' '.join(chance.choices(words, k=12))}." for _ in range(5)]
        title, vector = chance.choice(names), centres[place % _CENTRES] + _SPREAD * numbers.normal(size=dimension)
        if changed and place % 100 == 0:
            sentences.pop()
        yield {
            "id": str(place),
            "title": title,
            "text": " ".join(sentences),
            "tenant": place % TENANTS,
            "embedding": None if place < embedded else vector.astype(np.float32),
        }


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
