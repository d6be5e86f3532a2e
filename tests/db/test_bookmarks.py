"""Bookmarks: what a process leaves for the next one, and what each query of a routed client carries."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import neo4j
import pytest

from pipeline import HopRank
from pipeline.db.bookmarks import Bookmarks, bookmark_file, is_routed
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.errors import ServerLost

SENT = re.compile(r"C: (RUN|BEGIN) (.*)$")


@pytest.mark.parametrize("uri", ["neo4j://a", "neo4j+s://a", "neo4j+ssc://a:1"])
def test_a_cluster_has_a_file_for_each_database(uri: str, tmp_path: Path) -> None:
    files = {bookmark_file(tmp_path, Address(uri, "neo4j", "", database)) for database in ("a", "b")}

    assert is_routed(uri)
    assert len(files - {None}) == 2
    assert bookmark_file(tmp_path, Address(uri.replace("neo4j", "bolt"), "neo4j", "", "a")) is None


def test_a_process_replaces_what_it_began_with_and_leaves_what_others_wrote(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "kept"
    first = Bookmarks(file)
    first.manager.update_bookmarks([], ["one"])
    first.keep()
    early, late = Bookmarks(file), Bookmarks(file)
    assert set(early.manager.get_bookmarks()) == {"one"}

    for bookmarks, seen in ((early, "two"), (late, "three")):
        bookmarks.manager.update_bookmarks(["one"], [seen])
        bookmarks.keep()

    assert set(json.loads(file.read_text())) == {"two", "three"}
    Bookmarks(file).forget()
    assert not Bookmarks(file).manager.get_bookmarks()


@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"[1, null]", b"\xff", b"[" * 100_000])
def test_a_file_that_is_damaged_is_empty(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_bytes(content)

    assert not Bookmarks(file).manager.get_bookmarks()


def test_a_home_that_cannot_be_written_keeps_none(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    bookmarks = Bookmarks(tmp_path / "file" / "kept")
    bookmarks.manager.update_bookmarks([], ["one"])

    bookmarks.keep()


@pytest.fixture
def routed(address: Address) -> Address:
    """The server as a cluster of one: it answers the driver's question for its members with itself."""
    return replace(address, uri=address.uri.replace("bolt", "neo4j", 1))


@pytest.fixture
def sent(caplog: pytest.LogCaptureFixture) -> Callable[[], list[tuple[bool, bool]]]:
    """Return, for what the driver has sent since the last call, whether it was a read and whether it had bookmarks."""
    caplog.set_level(logging.DEBUG, "neo4j.io")

    def read() -> list[tuple[bool, bool]]:
        found = [match[2] for record in caplog.records if (match := SENT.search(record.getMessage()))]
        caplog.clear()
        # A query in a transaction has an empty last map: its BEGIN has the mode.
        return [("'mode': 'r'" in text, "'bookmarks': [" in text) for text in found if not text.endswith(" {}")]

    return read


def test_reads_go_to_readers_and_each_sees_what_was_written(
    routed: Address, sent: Callable[[], list[tuple[bool, bool]]], tmp_path: Path
) -> None:
    with Client(routed, bookmark_file=tmp_path / "kept") as client:
        client.write("prepare_jobs")
        assert sent()[-1] == (False, False)
        client.read("corpora")
        list(client.stream("corpora"))
        assert sent() == [(True, True)] * 2
        client.write_together(lambda open_one: open_one.run("corpora"))
        with client.locking("lock_texts"):
            pass
        client.schema("drop_index", {"index": "none"})
        assert sent() == [(False, True)] * 3
        assert client.has_gds

    with Client(routed, bookmark_file=tmp_path / "kept") as following:
        sent()
        following.read("corpora")
        assert sent() == [(True, True)]


def test_a_single_server_is_sent_no_bookmarks(address: Address, sent: Callable[[], list[tuple[bool, bool]]]) -> None:
    with Client(address) as client:
        client.write("prepare_jobs")
        client.read("corpora")

    assert sent() == [(False, False), (True, False)]


def test_bookmarks_that_the_server_does_not_know_are_told_once_and_forgotten(routed: Address, tmp_path: Path) -> None:
    file = tmp_path / "kept"
    file.write_text('["FB:garbage"]')
    with Client(routed, bookmark_file=file) as client:
        with pytest.raises(ServerLost, match="doesn't know what was written last"):
            client.read("corpora")

        assert isinstance(client.read("corpora"), list)
    assert "garbage" not in (file.read_text() if file.exists() else "")


@pytest.mark.slow
def test_a_corpus_is_written_and_read_over_a_routing_address(
    routed: Address, hoprank: HopRank, corpus_name: str, cypher: Callable[..., list[neo4j.Record]]
) -> None:
    with Client(routed) as client:
        over = HopRank(client, hoprank.embedder, hoprank.settings)
        for number in range(3):
            over.add([{"id": f"d{number}", "text": f"The tide number {number} comes."}], corpus_name)
            found = over.search(f"tide number {number}", corpus=corpus_name, top_k=10).items
            assert len(found) == number + 1
        over.replace([{"id": "d0", "text": "The ebb goes."}], corpus_name)
        assert [item.metadata["document"] for item in over.search("ebb", corpus=corpus_name).items] == ["d0"]
