"""One truth: after any edits and syncs the graph, vectors too, is that of one fresh ingest of what is there now."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import neo4j
import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from pipeline import HopRank
from pipeline.db.catalogue import find_corpus, get_corpus
from pipeline.db.client import Client
from pipeline.db.embedded import Address
from pipeline.embedding.sentence_transformer import SentenceTransformerEmbedder
from pipeline.flows.maintain import drop
from pipeline.records import Precision, Vector
from tests.graph_dump import Dump

EXAMPLES = int(os.environ.get("HOPRANK_TEST_EXAMPLES", "3"))
STEPS = int(os.environ.get("HOPRANK_TEST_STEPS", "10"))
"""More of both for a long run: 200 and 25 take most of an hour."""

NAMES = ("ada", "babbage", "old town/turin", "engine", "notes/ada", "São Paulo")
TITLES = (
    "Ada Lovelace",
    "Charles Babbage",
    "Turin (city)",
    "The Engine",
    "How to read a river",
    "São Paulo",
    "Engine",
    "TEC",
    "Turin (engine)",
    "",
)
SENTENCES = (
    "Ada Lovelace met Charles Babbage in Turin.",
    "The Engine was never built. Engine parts lay about.",
    "an engine, an engine and one more engine stood there.",
    "Rivers are read by how to read a river.",
    "SAO PAULO and Sao Paulo are the same as São Paulo.",
    "See [the engine](../engine.md) or [ada](ada.md), and [[Charles Babbage]] or [[turin]].",
    "babbage said so in 1833, and Babbage's notes too.",
    "## Early life\n\nIn the early life of Ada Lovelace, Early Life mattered.",
    "## See also\n\nTurin, Engine, River.",
    "Babbage was there. Never was Turin so cold.",
    "the river of turin. The River rose.",
    "The Turin Engine Club (TEC) met. TEC, or the Turin Engine Club, had TECs.",
    "Turin early cures (TEC) and turin early cure helped. Tec was cured.",
    "Ada B. Lovelace, also known as Augusta King, met Ada Lovelace.",
    "Augusta King and A. B. C. Babbage, also known as Charles Babbage, ran --dry-run on old_town.",
    "O'Neill-Smith met Dr. Lovelace; Never trust Rivers.",
)
BODIES = st.tuples(st.sampled_from(TITLES), st.lists(st.sampled_from(SENTENCES), min_size=0, max_size=5))


CORPUS = "one-truth"


@pytest.fixture(scope="module")
def small(hoprank: HopRank) -> HopRank:
    """With limits so low that a few documents reach them: short chunks, few neighbours, a low cap on hubs."""
    link = hoprank.settings.link.model_copy(
        update={"similar_top_k": 3, "similar_threshold": 0.3, "similar_hub_cap": 4, "title_shared_by": 2}
    )
    chunk = hoprank.settings.chunk.model_copy(update={"max_tokens": 24, "overlap": 4})
    settings = hoprank.settings.model_copy(update={"link": link, "chunk": chunk})
    return HopRank(hoprank.client, SentenceTransformerEmbedder(precision=Precision.BFLOAT16), settings)


@pytest.fixture(scope="module")
def elsewhere(small: HopRank, plain_address: Address) -> Iterator[HopRank]:
    """The same on a server of its own, where no vector is reused."""
    with Client(plain_address) as client:
        yield HopRank(client, small.embedder, small.settings)


def vectors_of(client: Client) -> dict[tuple[str, int], Vector]:
    address = client.address
    chunk = "MATCH (c:HopRankChunk {corpus: $id}) RETURN c.document AS document, c.ordinal AS ordinal, c.embedding AS v"
    with neo4j.GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        rows = driver.execute_query(chunk, id=get_corpus(client, CORPUS).id).records
    return {(row["document"], row["ordinal"]): np.array(row["v"], dtype=np.float32) for row in rows}


@dataclass(frozen=True)
class Seen:
    """The eyes of the test; in a class of its own, for a function that is a class's attribute is its method."""

    graph_by: Callable[[Client, str], Dump]


class Edits(RuleBasedStateMachine):
    """A folder that is edited, and a corpus that is synced with it."""

    hoprank: ClassVar[HopRank]
    elsewhere: ClassVar[HopRank]
    seen: ClassVar[Seen]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="one-truth-"))
        self.edited = False

    @initialize(bodies=st.lists(BODIES, min_size=2, max_size=4))
    def begin(self, bodies: list[tuple[str, list[str]]]) -> None:
        for name, body in zip(NAMES, bodies, strict=False):
            self.write(name, body)
        self.sync()

    @rule(name=st.sampled_from(NAMES), body=BODIES)
    def write(self, name: str, body: tuple[str, list[str]]) -> None:
        title, sentences = body
        path = self.folder / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n\n".join([f"# {title}" if title else "Untitled.", *sentences]), encoding="utf-8")
        self.edited = True

    @precondition(lambda self: len(self.files()) > 1)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.files())).unlink()
        self.edited = True

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, name: str) -> None:
        target = self.folder / f"{name}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        data.draw(st.sampled_from(self.files())).rename(target)
        self.edited = True

    @rule(data=st.data(), sentence=st.sampled_from(SENTENCES))
    def insert(self, data: st.DataObject, sentence: str) -> None:
        """Put a sentence in front, so that all behind it moves."""
        path = data.draw(st.sampled_from(self.files()))
        title, _, rest = path.read_text(encoding="utf-8").partition("\n\n")
        path.write_text(f"{title}\n\n{sentence}\n\n{rest}", encoding="utf-8")
        self.edited = True

    @precondition(lambda self: self.edited)
    @rule()
    def sync(self) -> None:
        self.hoprank.sync(self.folder, corpus=CORPUS)
        self.elsewhere.ingest(self.folder, corpus=CORPUS)
        clients = self.hoprank.client, self.elsewhere.client
        synced, fresh = (self.seen.graph_by(client, CORPUS) for client in clients)
        kept, embedded = (vectors_of(client) for client in clients)
        drop(self.elsewhere.client, CORPUS)
        assert differences(synced, fresh) == {}
        assert kept.keys() == embedded.keys()
        assert all(np.abs(vector - embedded[place]).max() < 1e-6 for place, vector in kept.items())
        self.edited = False

    def teardown(self) -> None:
        shutil.rmtree(self.folder)
        for one in (self.hoprank, self.elsewhere):
            if find_corpus(one.client, CORPUS):
                drop(one.client, CORPUS)

    def files(self) -> list[Path]:
        return sorted(self.folder.rglob("*.md"))


def differences(synced: Dump, fresh: Dump) -> dict[str, tuple[set[Any], set[Any]]]:
    """What only the one, and only the other, graph has."""
    kinds = synced.keys() | fresh.keys()
    apart = {kind: (synced[kind] - fresh[kind], fresh[kind] - synced[kind]) for kind in kinds}
    return {kind: sides for kind, sides in apart.items() if any(sides)}


@pytest.mark.slow
def test_any_edits_and_syncs_leave_the_graph_of_one_fresh_ingest(
    small: HopRank, elsewhere: HopRank, graph_by: Callable[[Client, str], Dump]
) -> None:
    Edits.hoprank, Edits.elsewhere, Edits.seen = small, elsewhere, Seen(graph_by)
    run_state_machine_as_test(
        Edits,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
        ),
    )
