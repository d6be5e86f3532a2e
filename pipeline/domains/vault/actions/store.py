"""Store single notes of a vault in its corpus, decided while nobody else writes to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pipeline.domains.vault.stored import OpenVault, StoredNote, read_graph
from pipeline.flows.ingest import ingest_decided
from pipeline.records import Document

_Result = TypeVar("_Result")

Decide = Callable[[Mapping[str, StoredNote]], tuple[Sequence[Document], _Result]]
"""A function from the notes that the vault has, by key, to the documents to store and a result for the caller."""

_WAIT_SECONDS = 30.0
"""Actions of several agents wait for each other at least this long: each takes about a second."""


def store_notes(vault: OpenVault, decide: Decide[_Result]) -> _Result:
    """Store the documents that ``decide`` returns, and return its result.

    The vault's other notes stay, and a missing vault is made.

    ``decide`` sees the notes that are there when the documents are written, whatever other agents and syncs do: its
    checks hold. Raises what it raises, and then writes nothing; FingerprintError, Busy, ServerLost.
    """
    hoprank = vault.hoprank
    _, result = ingest_decided(
        hoprank.client,
        hoprank.embedder,
        hoprank.settings,
        lambda corpus: decide(read_graph(corpus).notes),
        vault.name,
        wait=max(hoprank.settings.ingest.wait, _WAIT_SECONDS),
    )
    return result
