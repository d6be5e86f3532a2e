"""A corpus that was made before words stood beside its texts is searched as before; its next ingest brings them."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from pipeline import HopRank
from pipeline.cli.views.summary import stats_table
from pipeline.db.catalogue import get_corpus
from pipeline.db.corpus import open_corpus
from pipeline.db.lease import lease
from pipeline.errors import Busy
from pipeline.flows import maintain
from pipeline.progress import Progress
from pipeline.text.index_words import FOLDING

Cypher = Callable[..., list[Any]]
TEXTS = {
    "thai": "บนแหลมเหนือมีประภาคารเก่า",
    "soft": "The Kup\u00adfer\u00adhafen",
    "plain": "The harbour office sells maps.",
}


@pytest.fixture
def old(hoprank: HopRank, tmp_path: Path, cypher: Cypher) -> Iterator[tuple[str, Path]]:
    """A corpus as it was before: no words beside texts, no field for them in its index, no number of their rules."""
    file, name = tmp_path / "texts.jsonl", f"test-{uuid.uuid4().hex[:12]}"
    file.write_text("".join(json.dumps({"id": id_, "text": text}) + "\n" for id_, text in TEXTS.items()))
    hoprank.ingest(file, corpus=name)
    corpus = get_corpus(hoprank.client, name)
    cypher(f"MATCH (c:{corpus.label}) REMOVE c.folded")
    cypher("MATCH (c:HopRankCorpus {id: $id}) REMOVE c.folding", id=corpus.id)
    cypher(f"DROP INDEX {corpus.label}")
    cypher(
        f"CREATE FULLTEXT INDEX {corpus.label} FOR (n:{corpus.label}) ON EACH [n.title, n.heading, n.text]"
        " OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}"
    )
    cypher("CALL db.awaitIndex($name)", name=corpus.label)
    yield name, file
    maintain.drop(hoprank.client, name)
    assert not cypher("SHOW INDEXES YIELD name WHERE name STARTS WITH $label RETURN name", label=corpus.label)


def found(hoprank: HopRank, name: str, **options: Any) -> dict[str, list[str]]:
    asked = ("ประภาคาร", "Kupferhafen", "harbour")
    results = {text: hoprank.search(text, corpus=name, **options).items for text in asked}
    return {text: [item.metadata["document"] for item in items] for text, items in results.items()}


AFTER = {"ประภาคาร": ["thai"], "Kupferhafen": ["soft"], "harbour": ["plain"]}


def shown(hoprank: HopRank, name: str) -> str:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(stats_table(maintain.stats(hoprank.client, name)))
    return console.export_text()


@pytest.mark.slow
@pytest.mark.parametrize("way", ["ingest", "sync", "migrate", "relink"])
def test_it_is_searched_as_before_and_brought_up_to_date(
    hoprank: HopRank, old: tuple[str, Path], cypher: Cypher, way: str
) -> None:
    name, file = old
    assert found(hoprank, name, leg="fulltext") == {"ประภาคาร": [], "Kupferhafen": [], "harbour": ["plain"]}
    assert found(hoprank, name)["harbour"][0] == "plain"
    assert "earlier version" in shown(hoprank, name)
    hoprank.sync(file, corpus=name, dry_run=True)
    assert get_corpus(hoprank.client, name).folding == 0
    with lease(open_corpus(hoprank.client, name)), pytest.raises(Busy):
        hoprank.ingest(file, corpus=name)
    generation = get_corpus(hoprank.client, name).generation

    match way:
        case "ingest":
            hoprank.ingest(file, corpus=name)
        case "sync":
            hoprank.sync(file, corpus=name)
        case "migrate":
            maintain.migrate(hoprank.client, hoprank.settings, name, progress=Progress())
        case "relink":
            maintain.relink(hoprank.client, hoprank.embedder, hoprank.settings, name, progress=Progress())

    after = get_corpus(hoprank.client, name)
    assert (after.folding, after.generation) == (FOLDING, generation)
    assert found(hoprank, name, leg="fulltext") == AFTER
    assert found(hoprank, name, leg="fulltext", filters={"document": {"$ne": "x"}}) == AFTER
    assert {text: documents[0] for text, documents in found(hoprank, name).items()} == {
        text: documents[0] for text, documents in AFTER.items()
    }
    assert "earlier version" not in shown(hoprank, name)
    rows = cypher("SHOW INDEXES YIELD name WHERE name STARTS WITH $label RETURN name", label=after.label)
    assert [row["name"] for row in rows] == [f"{after.label}_text"]
    hoprank.ingest(file.with_name("texts.jsonl"), corpus=name)
    assert get_corpus(hoprank.client, name) == after
