"""Check the parts of an exported corpus, whatever its format, before anything is written of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from pipeline.edges import EdgeKind
from pipeline.errors import SourceError
from pipeline.files import Guard, Line
from pipeline.files.validated import validated
from pipeline.ingest.sources.metadata import flat
from pipeline.records import METADATA
from pipeline.transfer.formats import Part

GUARD = Guard(fix="Give what `hoprank corpus export` wrote as jsonl or parquet.")
"""Refuses what no export holds."""

_Count = Annotated[int, Field(ge=0, le=2**63 - 1)]  # Neo4j has no greater whole number
_Number = Annotated[float, Field(allow_inf_nan=False)]

_Place = Annotated[tuple[str, _Count], Field(strict=False)]
"""A document's key and a chunk's ordinal; JSON has lists for tuples."""


class _Value(BaseModel, strict=True, extra="forbid"):
    pass


class _Corpus(_Value, extra="allow"):
    format: int
    schema_version: int = Field(alias="schema")
    name: str
    fingerprint: str
    dimension: Annotated[int, Field(ge=1, le=4096)]
    chunker: str
    extractor: str
    analyzer: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    edges: dict[str, _Count]
    documents: _Count = 0
    chunks: _Count = 0
    entities: _Count = 0
    embeddings: bool = False
    links: dict[str, bool | int | _Number | str] = Field(default_factory=dict)


class _WithMetadata(_Value):
    @model_validator(mode="before")
    @classmethod
    def _apart(cls, value: Any) -> Any:
        """Check the metadata, whose names are any, and return the rest."""
        if not isinstance(value, dict):
            return value
        metadata = {name: field for name, field in value.items() if name.startswith(METADATA)}
        if flat(metadata) != metadata:
            raise ValueError("more than metadata of texts, numbers, true, false, or lists of one of them")
        return {name: field for name, field in value.items() if name not in metadata}


class _Document(_WithMetadata):
    key: str
    title: str
    path: str | None = None
    modified: str | None = None
    original: str | None = None
    hash: str = ""
    text_hash: str | None = None


class _Chunk(_WithMetadata):
    document: str
    ordinal: _Count
    text: str
    title: str
    heading: str
    start: _Count
    end: _Count
    line_start: _Count
    line_end: _Count
    tokens: _Count
    links: list[str]
    link_relations: list[str] | None = None
    link_contexts: list[str] | None = None
    embedded: str
    embedding: list[_Number] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_aligned(self) -> Self:
        for values in (self.link_relations, self.link_contexts):
            if values is not None and len(values) != len(self.links):
                raise ValueError("as many relations and contexts as links")
        return self


class _Entity(_Value):
    key: str
    name: str


class _Counts(_Value):
    kind: Literal["casing", "aliases", "spellings"]
    shard: _Count
    counts: dict[str, dict[str, _Count]]


class _Edge(_Value):
    kind: Annotated[str, AfterValidator(EdgeKind)]
    source: _Place
    target: str | _Place
    score: _Number | None = None
    mutual: bool | None = None
    count: _Count | None = None
    position: _Count | None = None
    about: bool | None = None
    relations: list[str] | None = None
    context: str | None = None


_EDGES = {kind.value: f"edges {kind}" for kind in EdgeKind}

_PARTS: Mapping[str, type[_Value]] = {
    "corpus": _Corpus,
    "document": _Document,
    "chunk": _Chunk,
    "entity": _Entity,
    "counts": _Counts,
    "edge": _Edge,
}


def checked(path: Path, found: Iterable[tuple[str, Any, Line]]) -> Iterator[Part]:
    """Yield the parts of the export at ``path``: each is a kind, its value, and the line or row that holds it.

    Raises SourceError naming the line or row that is no part of a corpus, and if parts are missing.
    """
    counts: Counter[str] = Counter()
    head: dict[str, Any] = {}
    at = ""
    for kind, value, line in found:
        if kind not in _PARTS:
            raise line.fault("is no part of a corpus")
        validated(_PARTS[kind], value, line.place, GUARD)
        if kind == "corpus":
            if head:
                raise line.fault("begins another corpus")
            head = value
        counts[value["kind"] if kind == "edge" else kind] += 1
        at = f", after line {line.number}" if line.unit == "line" else ""
        yield Part(kind, value)
    for kind, name in {"document": "documents", "chunk": "chunks", "entity": "entities", **_EDGES}.items():
        size = (head.get("edges", {}) if kind in _EDGES else head).get(kind if kind in _EDGES else name, counts[kind])
        if counts[kind] != size:
            raise SourceError(f"{path} ends early{at}: of {size:,} {name} it has {counts[kind]:,}.", "Export it again.")
