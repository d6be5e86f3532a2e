"""Slots: the places of corpora and graphs in the full-text indexes that all of them share.

Lucene keeps its statistics by field. A full-text index over the properties ``hoprank_0_text``, ``hoprank_0_title`` up
to ``hoprank_63_text`` therefore holds 64 corpora whose rankings don't affect each other: a corpus writes into the
fields of its slot and asks these alone, and its scores are those of an index of its own. So data makes no index: each
time that one is made the server forgets the plans of all its queries.

Each analyser has its indexes; the next is made ahead of need. The slot of what was dropped keeps the statistics of the
deleted texts until Lucene merges them away, so it is given again only after its index was rebuilt, which happens in the
background once most of its slots are retired.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

from pipeline.db.client import Client
from pipeline.db.indexes import check_analyzer, drop_indexes, ensure_declared, ensure_indexes
from pipeline.errors import Superseded
from pipeline.ids import digest

SLOT_SCHEMA = ("constrain_catalog_id", "constrain_texts_label")
"""Schema queries that slots need."""

SLOTS = 64
"""Slots of an index: 640 fields. An index over 4 fields and one over 640 take the same time to write to and to ask."""

_AHEAD = 8  # free slots of an analyser below which its next index is made; chosen by hand
_MOST_RETIRED = 48  # of the slots of an index that is rebuilt: three quarters; chosen by hand

OWN = "hoprank_"
"""Beginning of the properties that full-text indexes hold: copies of others."""

CHUNK_FIELDS = ("text", "title", "heading", "folded", "filterable")
NODE_FIELDS = ("id", "labels", "name", "title", "description", "text", "index_words")
_FIELDS = tuple(dict.fromkeys((*CHUNK_FIELDS, *NODE_FIELDS)))
_ASKED = re.compile(rf"\b({'|'.join(_FIELDS)}):")


@dataclass(frozen=True, slots=True)
class TextSlot:
    """Slot ``number`` of the full-text indexes over the nodes with the label ``texts``."""

    texts: str
    number: int

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self | None:
        """Return the slot that the node of a corpus or graph names, or None: it gets one before its first text."""
        return cls(properties["texts"], properties["slot"]) if "slot" in properties else None

    def field(self, name: str) -> str:
        """Return the property by which the index holds the property ``name``."""
        return f"{OWN}{self.number}_{name}"

    def pairs(self, names: tuple[str, ...]) -> list[list[str]]:
        """Return properties with the fields that they are copied to: the parameter ``copies`` of a query."""
        return [[name, self.field(name)] for name in names]

    def asked(self, query: str) -> str:
        """Return a Lucene query whose fields, such as ``text:``, are this slot's; words hold no colon."""
        return _ASKED.sub(lambda match: f"{self.field(match[1])}:", query)


def take_slot(client: Client, owner: str, analyzer: str) -> TextSlot:
    """Return the slot of a corpus or graph, by id; it gets one of the analyser's if it has none.

    Raises ConfigurationError if the server lacks the analyser, Superseded if the owner was dropped.
    """
    ensure_declared(client, SLOT_SCHEMA)
    while True:
        rows = client.write("take_slot", owner=owner, analyzer=analyzer)
        if not rows:
            raise Superseded("The corpus or graph was dropped meanwhile.", "Make it anew.")
        row = rows[0]
        if row["slot"] is not None:
            break
        _make_index(client, analyzer, 1)
    if row["free"] < _AHEAD:
        client.in_background(f"texts of {analyzer}", partial(_make_index, client, analyzer, _AHEAD))
    return TextSlot(row["texts"], row["slot"])


def retire_slot(client: Client, owner: str) -> None:
    """Give up the slot of a corpus or graph, by id, that has no texts any more; rebuild its index if it is time."""
    for row in client.write("retire_slot", owner=owner):
        if row["retired"] >= _MOST_RETIRED:
            client.in_background(f"rebuild {row['texts']}", partial(rebuild_index, client, row["texts"]))


def _make_index(client: Client, analyzer: str, least: int) -> None:
    """Make an index of this analyser unless there are at least ``least`` free slots by now."""
    check_analyzer(client, analyzer)
    with client.locking("lock_texts"):
        pools = [row for row in client.read("texts") if row["analyzer"] == analyzer]
        if sum(len(row["free"]) for row in pools) >= least:
            return
        # The name holds the analyser: an index that a crash left without its record serves the same analyser then.
        texts = f"HopRankTexts_{digest(analyzer)[:8]}_{len(pools) + 1}"
        index = _index(texts, 0)
        ensure_indexes(client, {index: _creating(client, texts, index, analyzer)})
        client.write("add_texts", texts=texts, index=index, analyzer=analyzer, slots=list(range(SLOTS)))


def rebuild_index(client: Client, texts: str) -> None:
    """Build an index again from the texts that there are, and give its retired slots again.

    Searches use the old one until the new one is complete.
    """
    with client.locking("lock_texts"):
        (pool,) = [row for row in client.read("texts") if row["texts"] == texts]
        if len(pool["retired"]) < _MOST_RETIRED:  # somebody else was quicker
            return
        rebuilt = int(pool["index"].rpartition("_")[2]) + 1
        index = _index(texts, rebuilt)
        drop_indexes(client, [index])  # what a crash left: it may hold texts that were deleted since
        ensure_indexes(client, {index: _creating(client, texts, index, pool["analyzer"])})
        client.write("replace_texts_index", texts=texts, index=index, retired=pool["retired"])
    drop_indexes(client, [_index(texts, before) for before in range(rebuilt)])


def _index(texts: str, rebuilt: int) -> str:
    return f"{texts.lower()}_{rebuilt}"


def _creating(client: Client, texts: str, index: str, analyzer: str) -> Callable[[], None]:
    fields = [TextSlot(texts, number).field(name) for number in range(SLOTS) for name in _FIELDS]
    # A property of its own, for Neo4j makes no second index over the same properties.
    names = {"texts": texts, "index": index, "fields": "|".join([*fields, index])}
    return partial(client.schema, "create_texts_index", names, analyzer=analyzer)
