"""Passages: the hits of a search as frameworks take them, with flat metadata."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pipeline.records import METADATA
from pipeline.retrieve.results import RetrieverResult

_OWN = ("document_metadata", "chunk_metadata")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with its score and its metadata, which is the caller's own to change.

    The metadata is that of :class:`pipeline.RetrieverResultItem` with the fields of the document's metadata and of the
    chunk's beside the others. As in filters, one that has the name of another is ``metadata.NAME``, and the chunk's own
    value takes precedence over the document's.
    """

    content: str
    metadata: dict[str, Any]
    score: float


def passages_of(result: RetrieverResult) -> list[Passage]:
    """Return the hits of a search as passages, best first."""
    return [Passage(item.content, _flat(item.metadata), item.metadata["score"]) for item in result.items]


def _flat(metadata: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in metadata.items() if name not in _OWN}
    given = {name: value for kind in _OWN for name, value in metadata[kind].items()}
    own = {(f"{METADATA}{name}" if name in fields else name): value for name, value in given.items()}
    return deepcopy({**own, **fields})
