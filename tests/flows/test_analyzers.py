"""Full-text analysers that the server's Java can't run, and a database that has stopped."""

from __future__ import annotations

import logging
from pathlib import Path

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.catalogue import get_corpus
from pipeline.db.client import Client
from pipeline.db.connect import connect
from pipeline.db.embedded import Address, ServerOptions, stop
from pipeline.db.indexes import runs_analyzer
from pipeline.errors import ConfigurationError, DatabaseStopped
from pipeline.settings import load_settings

THAI = [
    {"id": "a.md", "text": "ท่าเรือของเมืองอยู่ทางทิศใต้ มีเรือหาปลาจำนวนมากจอดอยู่ที่นั่นทุกวัน"},
    {"id": "b.md", "text": "เรือข้ามฟากออกทุกครึ่งชั่วโมงจากท่าเรือด้านเหนือของแม่น้ำในตอนเช้า"},
]


def test_an_analyser_that_java_lacks_the_tables_for_is_replaced(hoprank: HopRank, corpus_name: str) -> None:
    hoprank.add(THAI, corpus_name)

    usable = runs_analyzer(hoprank.client, "thai")
    assert get_corpus(hoprank.client, corpus_name).analyzer == ("thai" if usable else "standard")
    assert hoprank.search("เรือข้ามฟาก", corpus=corpus_name).items[0].metadata["document"] == "b.md"


def test_each_analyser_is_tried_once_and_those_of_pure_java_never(client: Client) -> None:
    assert runs_analyzer(client, "english")
    assert runs_analyzer(client, "german")
    assert runs_analyzer(client, "german")
    assert client.tried_analyzers["german"]
    assert "english" not in client.tried_analyzers


def test_an_analyser_that_was_chosen_and_can_not_run_is_refused(hoprank: HopRank, corpus_name: str) -> None:
    if runs_analyzer(hoprank.client, "thai"):
        return  # a whole JDK, as that of Neo4j's image
    chosen = HopRank(hoprank.client, hoprank.embedder, load_settings({"fulltext": {"analyzer": "thai"}}))
    with pytest.raises(ConfigurationError, match="can't run the full-text analyser 'thai'"):
        chosen.add(THAI, corpus_name)


@pytest.mark.slow
def test_a_database_that_has_stopped_is_named_and_started_again(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("NEO4J_URI", "NEO4J_PASSWORD", "NEO4J_USERNAME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "jars").symlink_to(jars)
    settings = load_settings({"home": tmp_path, "server": {"heap_mb": 512, "page_cache_mb": 64}})
    try:
        with connect(settings) as client:
            stop_database(client.address)
            with pytest.raises(DatabaseStopped, match="stopped after an error of its own"):
                client.read("corpora")
        with caplog.at_level(logging.WARNING), connect(settings) as client:
            assert client.read("corpora") == []
        assert "started again" in caplog.text
    finally:
        stop(ServerOptions.of(settings))


def stop_database(address: Address) -> None:
    """Write a text through an analyser that fails."""
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        driver.execute_query(
            "CREATE FULLTEXT INDEX panics FOR (n:Panics) ON EACH [n.text]"
            " OPTIONS {indexConfig: {`fulltext.analyzer`: 'thai'}}"
        )
        driver.execute_query("CALL db.awaitIndex('panics', 60)")
        with pytest.raises(neo4j.exceptions.DatabaseError):
            driver.execute_query("CREATE (:Panics {text: 'เรือข้ามฟาก'})")
