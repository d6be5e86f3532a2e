"""A small library that the tests of retrieval only read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline import HopRank

LIBRARY = {
    "ada": (
        "Ada Lovelace",
        "Ada Lovelace met Charles Babbage at a party in 1833 and later wrote notes on his machine.",
    ),
    "babbage": (
        "Charles Babbage",
        "Charles Babbage designed the Analytical Engine, a machine that was never finished.",
    ),
    "engine": (
        "Analytical Engine",
        "The Analytical Engine had a mill and a store, and took its orders from punched cards.",
    ),
    "jacquard": ("Jacquard loom", "The loom of Joseph Jacquard wove patterns from punched cards at Lyon."),
    "lyon": ("Lyon", "Lyon stands where the Rhone meets the Saone, and is known for its silk."),
    "somerville": ("Mary Somerville", "Mary Somerville taught mathematics to Ada Lovelace and wrote on the moon."),
    "moon": ("Moon", "The moon raises the tides of the sea twice a day."),
    "tides": ("Tide gauge", "A tide gauge writes the height of the sea on a drum of paper."),
    "bread": ("Bread", "Bread is baked from flour, water, salt and yeast in a hot oven."),
    "garden": ("Garden", "Roses in a garden want sun, water and a good pruning in the spring."),
    "chess": ("Chess", "Chess is played on a board of sixty-four squares by two players."),
    "long": (
        "Long walk",
        "".join(f"# Stage {stage}\n\n{'The path goes on over the hills. ' * 40}\n\n" for stage in "AB"),
    ),
}


@pytest.fixture(scope="session")
def library(hoprank: HopRank, new_corpus: Callable[[], Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a corpus with the twelve documents above."""
    path: Path = tmp_path_factory.mktemp("library") / "library.jsonl"
    rows = [{"id": key, "title": title, "text": text} for key, (title, text) in LIBRARY.items()]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    with new_corpus() as name:
        hoprank.ingest(path, corpus=name)
        yield name
