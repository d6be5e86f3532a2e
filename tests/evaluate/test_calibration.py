"""Calibration: what each threshold would do, against the links that ingestion makes, and what is suggested."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pipeline import HopRank
from pipeline.cli.app import app
from pipeline.cli.views.calibration import check_plot, plot_calibration
from pipeline.errors import ConfigurationError, CorpusError
from pipeline.evaluate.calibration import Level, levels_of, suggest
from pipeline.ingest.links.similar import SimilarPair, similar_pairs

LINKS = [
    SimilarPair(source, target, score, mutual=True, linked=True)
    for source, target, score in ((0, 1, 0.9), (1, 2, 0.8), (3, 4, 0.7), (2, 3, 0.5))
]


RIVERS = ("Severn", "Wye", "Thames", "Tyne", "Trent", "Tees")


@pytest.fixture(scope="module")
def rivers(hoprank: HopRank, shared_corpus_name: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a corpus of passages that are much alike."""
    path: Path = tmp_path_factory.mktemp("rivers") / "rivers.jsonl"
    rows = [{"id": name, "text": f"The {name} rises in the hills and flows into the sea."} for name in RIVERS]
    path.write_text("\n".join(map(json.dumps, rows)))
    hoprank.ingest(path, corpus=shared_corpus_name)
    return shared_corpus_name


def level(threshold: float, largest: float, degree: float = 1.0) -> Level:
    return Level(threshold, 10, degree, 0.5, 3, largest, 0.1)


def at(levels: list[Level], threshold: float) -> Level:
    return next(one for one in levels if one.threshold == threshold)


def test_links_groups_and_hubs_are_counted_at_each_threshold() -> None:
    levels = list(levels_of(LINKS, 6))

    assert [one.threshold for one in levels] == [hundredths / 100 for hundredths in range(95, 29, -1)]
    assert at(levels, 0.95) == Level(0.95, 0, 0.0, 0.0, 0, 0.0, 0.0)
    assert at(levels, 0.9) == Level(0.9, 1, 2 / 6, 2 / 6, 1, 2 / 6, 1 / 2)
    assert at(levels, 0.75) == Level(0.75, 2, 4 / 6, 3 / 6, 1, 3 / 6, 2 / 4)
    assert at(levels, 0.7) == Level(0.7, 3, 1.0, 5 / 6, 2, 3 / 6, 2 / 6)
    assert at(levels, 0.3) == Level(0.3, 4, 8 / 6, 5 / 6, 1, 5 / 6, 2 / 8)


@given(st.integers(0, 2**32), st.integers(2, 30), st.integers(1, 4))
def test_a_level_says_what_ingestion_at_that_threshold_would_link(seed: int, chunks: int, hub_cap: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(chunks, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    made = {
        threshold: [
            near
            for near in similar_pairs(vectors, top_k=5, threshold=threshold, degree_limit=hub_cap, exact_up_to=100)
            if near.linked
        ]
        for threshold in (0.3, 0.6, 0.9)
    }

    levels = list(levels_of(made[0.3], chunks))

    for threshold, links in made.items():
        assert at(levels, threshold).links == len(links)
        assert (
            at(levels, threshold).linked == len({end for link in links for end in (link.source, link.target)}) / chunks
        )


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11), st.integers(30, 95)), max_size=30))
def test_components_are_networkx_s(rows: list[tuple[int, int, int]]) -> None:
    links = [SimilarPair(source, target, score / 100, mutual=True, linked=True) for source, target, score in rows]

    for level in levels_of(links, 12):
        theirs = nx.Graph((link.source, link.target) for link in links if link.score >= level.threshold)
        sizes = [len(found) for found in nx.connected_components(theirs) if len(found) > 1]
        assert level.components == len(sizes)
        assert level.largest == (max(sizes, default=1) / 12 if level.links else 0)


@pytest.mark.parametrize(
    ("largest", "chance", "suggested", "says"),
    [
        ((0.1, 0.4, 0.6), 0.2, 0.6, "At 0.50 one component would hold 60%"),
        ((0.1, 0.2, 0.3), 0.2, 0.5, "No lower one was tried"),
        ((0.1, 0.2, 0.3), 0.55, 0.6, "unrelated pairs reaches 0.55"),
        ((0.1, 0.2, 0.3), 0.99, 0.7, "unrelated pairs reaches 0.99"),
        ((0.8, 0.9, 1.0), 0.2, 0.7, "near copies"),
    ],
)
def test_the_suggestion_links_much_without_linking_everything(
    largest: tuple[float, ...], chance: float, suggested: float, says: str
) -> None:
    levels = [level(threshold, share) for threshold, share in zip((0.7, 0.6, 0.5), largest, strict=True)]

    threshold, reason = suggest(levels, chance)

    assert threshold == suggested
    assert says in reason


def test_a_corpus_is_calibrated_by_its_own_links(
    hoprank: HopRank, rivers: str, tmp_path: Path, cypher: Callable[..., Any]
) -> None:
    found = hoprank.calibrate(rivers)

    present = found.at(found.present)
    rows = cypher(
        "MATCH (c:HopRankChunk)-[r:SIMILAR]->() WHERE $label IN labels(c) RETURN count(r) AS links",
        label=hoprank.retriever(rivers).corpus.label,
    )
    assert present.links == rows[0]["links"]
    assert found.corpus == rivers
    assert found.reason
    assert json.loads(json.dumps(found.to_json()))["chunks"] == found.chunks
    assert 0 < found.chance < 1
    assert [one.links for one in found.levels] == sorted(one.links for one in found.levels)


@pytest.mark.slow
def test_it_is_drawn_as_png_and_svg(hoprank: HopRank, rivers: str, tmp_path: Path) -> None:
    found = hoprank.calibrate(rivers)

    for suffix, begins in ((".png", b"\x89PNG"), (".svg", b"<?xml")):
        path = tmp_path / f"picture{suffix}"
        check_plot(path)
        plot_calibration(found, path)
        assert path.read_bytes().startswith(begins)


def test_what_can_not_be_drawn_is_said_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigurationError, match=r"neither \.png nor \.svg"):
        check_plot(tmp_path / "picture.pdf")
    with pytest.raises(ConfigurationError, match="there is no folder"):
        check_plot(tmp_path / "nowhere" / "picture.png")

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ConfigurationError, match=r"\.\[plot\]"):
        check_plot(tmp_path / "picture.png")


def test_a_corpus_of_one_chunk_is_refused(hoprank: HopRank, corpus_name: str, jsonl: Callable[..., Path]) -> None:
    hoprank.ingest(jsonl([{"id": "a", "text": "The only one."}]), corpus=corpus_name)

    with pytest.raises(CorpusError, match="has 1 chunks"):
        hoprank.calibrate(corpus_name)


def test_the_command_shows_a_table_and_a_reason(
    hoprank: HopRank, rivers: str, server_environment: dict[str, str], tmp_path: Path
) -> None:
    picture = tmp_path / "picture.svg"
    arguments = ["calibrate", "--corpus", rivers]

    shown = CliRunner().invoke(app, [*arguments, "--plot", str(picture)], env=server_environment)
    as_json = CliRunner().invoke(app, [*arguments, "--json"], env=server_environment)

    assert shown.exit_code == 0
    assert "suggested" in shown.stdout
    assert "link.similar_threshold=" in shown.stdout
    assert picture.is_file()
    assert len(json.loads(as_json.stdout)["levels"]) == 66
