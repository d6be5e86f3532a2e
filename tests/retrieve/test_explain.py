"""What a hit shows: its place, every leg's share in it, and the path that led there."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import neo4j
import pytest

from pipeline import HopRank, RetrieverResultItem
from pipeline.db.catalogue import get_corpus
from pipeline.evaluate.datasets import read_dataset
from pipeline.examples import example_corpus, example_queryset
from pipeline.retrieve.legs import Leg
from tests.conftest import LIBRARY

Cypher = Callable[..., list[neo4j.Record]]

QUESTIONS = (
    "Who taught the woman that met Charles Babbage?",
    "Which loom had punched cards like the Analytical Engine?",
    "how is bread baked",
    "What raises the tides?",
    "1833",
)


def hits(hoprank: HopRank, corpus: str, question: str, **options: Any) -> list[Mapping[str, Any]]:
    found = hoprank.search(question, corpus=corpus, top_k=20, explain=True, **options)
    return [item.metadata for item in found.items]


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("leg", list(Leg))
def test_the_legs_shares_of_a_score_sum_to_one(hoprank: HopRank, library: str, leg: Leg, question: str) -> None:
    for hit in hits(hoprank, library, question, leg=leg):
        shares = [found["share"] for found in hit["legs"].values()]
        assert sum(shares) == pytest.approx(1)
        assert all(
            0 <= share <= 1 and found["rank"] >= 1 for share, found in zip(shares, hit["legs"].values(), strict=True)
        )


def test_a_share_follows_from_weight_rank_and_k(hoprank: HopRank, library: str) -> None:
    retrieve = hoprank.settings.retrieve
    weights = {"hybrid": 1.0, "scorer": retrieve.fuse_scorer}

    for hit in hits(hoprank, library, "Who met Charles Babbage?"):
        terms = {
            leg: weights[leg] / (retrieve.fuse_k + found["rank"])
            for leg, found in hit["legs"].items()
            if leg in weights
        }
        assert hit["score"] == pytest.approx(sum(terms.values()))
        assert {leg: found["share"] for leg, found in hit["legs"].items()} == pytest.approx(
            {leg: terms.get(leg, 0.0) / hit["score"] for leg in hit["legs"]}
        )


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("leg", [Leg.GRAPH, Leg.HOPS, Leg.WHOLE])
def test_a_path_begins_at_a_seed_ends_at_the_hit_and_is_in_the_graph(
    hoprank: HopRank, library: str, cypher: Cypher, leg: Leg, question: str
) -> None:
    for hit in hits(hoprank, library, question, leg=leg):
        first, *others = hit["evidence"]
        assert first["by"] == ""
        if first["kind"] == "Seed":
            assert not others
            continue
        assert first["kind"] in ("Entity", "Chunk")
        assert (others[-1]["kind"], others[-1]["name"]) == ("Chunk", hit["title"])
        steps = [first, *others]
        names, ids = ([step[field] for step in steps] for field in ("name", "id"))
        assert ids[-1] == hit["id"]
        assert cypher(path_query(steps), names=names, ids=ids)


def path_query(steps: list[Mapping[str, str]]) -> str:
    """Ask for a path of nodes of these kinds, names and ids; an entity may go by its key."""
    ends = [f"({f'n{place}'}:HopRank{step['kind']})" for place, step in enumerate(steps)]
    pattern = ends[0] + "".join(f"-[:{step['by']}]-{end}" for step, end in zip(steps[1:], ends[1:], strict=True))
    named = " AND ".join(
        f"$names[{place}] IN [n{place}.name, n{place}.title, n{place}.key]" for place in range(len(steps))
    )
    identified = " AND ".join(f"n{place}.id = $ids[{place}]" for place in range(len(steps)))
    return f"MATCH {pattern} WHERE {identified} AND {named} RETURN 1 LIMIT 1"


def test_a_hit_by_a_name_in_the_question_shows_the_name(hoprank: HopRank, library: str) -> None:
    by_document = {hit["document"]: hit for hit in hits(hoprank, library, "Who was Mary Somerville to Ada Lovelace?")}

    steps = by_document["somerville"]["evidence"]
    assert (steps[0]["kind"], steps[0]["name"].casefold()) in {
        ("Entity", "mary somerville"),
        ("Entity", "ada lovelace"),
    }
    assert steps[-1] == {
        "kind": "Chunk",
        "name": "Mary Somerville",
        "by": "MENTIONS",
        "id": by_document["somerville"]["id"],
        "sentence": LIBRARY["somerville"][1],
    }


@pytest.mark.slow
def test_a_hit_that_the_graph_lifted_shows_the_path_from_a_name(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.ingest(example_corpus(), corpus=corpus_name)
    lifted = []
    for query in read_dataset(example_queryset()).queries:
        found = hoprank.search(query.text, corpus=corpus_name, explain=True)
        hits = [item.metadata for item in found.items] if found.metadata["names"] else []
        lifted += [hit for hit in hits if hit["rank"] < hit["legs"].get("hybrid", {"rank": 101})["rank"]]

    others = [hit for hit in lifted if hit["evidence"][0]["kind"] != "Entity"]
    assert len(lifted) > 200
    # The passage on the Notes on a Falling Barometer is linked to nothing: its hits say where the walk came from.
    assert len(others) < 0.03 * len(lifted)
    assert all(hit["evidence"][0]["kind"] == "Chunk" or "lifted" in hit["evidence"][0]["name"] for hit in others)


@pytest.mark.slow
def test_a_hit_cites_where_it_is_from(hoprank: HopRank, corpus_name: str, tmp_path: Path) -> None:
    long = "".join(f"## Part {part}\n\n{'A sentence on the sea and its tides. ' * 40}\n\n" for part in "AB")
    path = tmp_path / "sea.md"
    path.write_text(f"---\nyear: 1901\ntags: [sea, tide]\n---\n# The Sea\n\n{long}", encoding="utf-8")
    hoprank.ingest(path, corpus=corpus_name)
    lines = path.read_text(encoding="utf-8").split("\n")
    corpus = get_corpus(hoprank.client, corpus_name)

    found = hoprank.search("Part B on the tides", corpus=corpus_name)

    assert len(found.items) == corpus.chunks > 1
    assert {item.metadata["heading"] for item in found.items} >= {"Part B"}
    for item in found.items:
        meta = item.metadata
        assert (meta["document"], meta["title"], meta["path"]) == ("sea.md", "The Sea", str(path))
        assert meta["document_metadata"] == {"year": 1901, "tags": ["sea", "tide"]}
        assert item.content in "\n".join(lines[meta["line_start"] - 1 : meta["line_end"]])
        assert meta["end"] - meta["start"] == len(item.content)


def test_the_items_say_what_the_typed_hits_say(hoprank: HopRank, library: str) -> None:
    found = hoprank.search("Who met Charles Babbage?", corpus=library, explain=True)

    assert [RetrieverResultItem.of(hit) for hit in found.hits] == list(found.items)
    for hit, item in zip(found.hits, found.items, strict=True):
        assert item.metadata["legs"] == {leg: asdict(place) for leg, place in hit.legs.items()}
        assert item.metadata["evidence"] == [asdict(step) for step in hit.evidence or ()]
    assert found.to_json().keys() == {"items", "metadata"}


def test_changing_what_was_given_changes_no_later_answer(hoprank: HopRank, library: str) -> None:
    first = hoprank.search("Who met Ada?", corpus=library)
    before = json.dumps(first.to_json())
    assert all("evidence" not in item.metadata and item.metadata["legs"] for item in first.items), "not asked for"
    for item in first.items:
        item.metadata["document_metadata"]["new"] = 1
        item.metadata["legs"].clear()

    assert json.dumps(hoprank.search("Who met Ada?", corpus=library).to_json()) == before


@pytest.mark.parametrize("leg", list(Leg))
def test_features_are_explained_where_the_scorer_is_fused(hoprank: HopRank, library: str, leg: Leg) -> None:
    found = hoprank.search("Who met Charles Babbage?", corpus=library, leg=leg, explain=True)

    assert ("graph_share" in found.metadata) is (leg is Leg.WHOLE)
    assert any(item.metadata["features"] for item in found.items) is (leg is Leg.WHOLE)
