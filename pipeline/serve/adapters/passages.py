"""Passages: the hits of a search as frameworks take them, with flat metadata."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from pipeline.records import METADATA
from pipeline.retrieve.results import RetrieverResult

_OWN = "document_metadata"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with its score and its metadata, which is the caller's own to change.

    The metadata is that of :class:`pipeline.RetrieverResultItem` with the document's own fields beside the others. A
    field of the document that has the name of another is ``metadata.NAME``, as in filters.
    """

    content: str
    metadata: dict[str, Any]
    score: float


def passages_of(result: RetrieverResult) -> list[Passage]:
    """Return the hits of a search as passages, best first."""
    return [Passage(item.content, _flat(item.metadata), item.metadata["score"]) for item in result.items]


def _flat(metadata: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: value for name, value in metadata.items() if name != _OWN}
    own = {(f"{METADATA}{name}" if name in fields else name): value for name, value in metadata[_OWN].items()}
    return deepcopy({**own, **fields})
