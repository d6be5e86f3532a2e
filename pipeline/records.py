"""Records that the steps exchange, all frozen: documents, chunks, entities, edges."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from pipeline.edges import EdgeKind

Vector: TypeAlias = npt.NDArray[np.float32]
"""An embedding, shape ``(dimension,)``, or a stack of them, ``(n, dimension)``; unit length."""


class Precision(StrEnum):
    """Arithmetic of an embedding model."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class Fingerprint(NamedTuple):
    """Identity of vectors: the ``model`` (name, revision of its weights, dimension), its pooling and the precision.

    Written ``name@revision/dimension/pooling/precision``. ``pooling`` and ``precision`` are empty for an embedder
    that names none.
    """

    model: str
    pooling: str = ""
    precision: str = ""

    @classmethod
    def of(cls, text: str) -> Fingerprint:
        """Return the fingerprint that ``str`` wrote."""
        name, dimension, *rest = [*text.split("/", 3), ""][:5]
        return cls(f"{name}/{dimension}", *rest[:2])

    def __str__(self) -> str:
        return "/".join(filter(None, self))

    def is_comparable(self, other: Fingerprint) -> bool:
        """Return whether cosines between vectors of both have a meaning: equal but for precision, and what is unknown.

        Vectors in bfloat16 have a cosine of 0.99 or more to those of the same texts in float32.
        """
        return self.model == other.model and ("" in (self.pooling, other.pooling) or self.pooling == other.pooling)


Scalar: TypeAlias = str | int | float | bool
Metadata: TypeAlias = Mapping[str, Scalar | list[str] | list[int] | list[float] | list[bool]]
"""Values that Neo4j can store as properties: scalars, and lists of scalars of the same type."""

METADATA = "metadata."
"""Prefix of the metadata among the properties of a node, and of a field of the metadata in a filter."""


def as_properties(metadata: Metadata) -> dict[str, Any]:
    """Return metadata as properties of a node."""
    return {f"{METADATA}{name}": value for name, value in metadata.items()}


def metadata_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata among the properties of a node: what its author gave it."""
    return {name.removeprefix(METADATA): value for name, value in properties.items() if name.startswith(METADATA)}


class BlockKind(StrEnum):
    """Kind of a block; code and tables are never cut if they fit into a chunk."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    CODE = "code"
    TABLE = "table"


_Record = TypeVar("_Record", bound=type)


def spooled(record: _Record) -> _Record:
    """Let the instances of a dataclass of two fields or more be pickled by its fields.

    What a frozen dataclass with slots does by itself asks for the fields of each instance, and takes three times as
    long: records of a large ingest go through temporary files a few times.
    """
    values = attrgetter(*(one.name for one in fields(record)))
    copyreg.pickle(record, lambda instance: (record, values(instance)))
    return record


@spooled
@dataclass(frozen=True, slots=True)
class Block:
    """A block ``text[start:end]`` of a document's text, in characters, end exclusive.

    ``level`` is 1 to 6 for headings, else 0. A block of another kind that has a level begins a section without a title.
    ``name`` is the title of a heading whose text isn't it, such as the name of a function above its signature.
    """

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    name: str = ""


@spooled
@dataclass(frozen=True, slots=True)
class Link:
    """A hyperlink or wikilink at ``text[start:end]``; ``target`` is as written, without its ``fragment``.

    ``relation`` is the type of a typed link, such as ``parent``, and ``context`` the sentence around the link; only the
    notes of a vault have them.
    """

    target: str
    start: int
    end: int
    fragment: str = ""
    relation: str = ""
    context: str = ""


class WrittenLink(NamedTuple):
    """A link of a chunk, not yet resolved: its target as written, its type and the sentence around it."""

    target: str
    relation: str = ""
    context: str = ""


@spooled
@dataclass(frozen=True, slots=True)
class SuppliedChunk:
    """A chunk ``text[start:end]`` that a document brings itself; ``embedding`` is empty if it brings none."""

    start: int
    end: int
    embedding: tuple[float, ...] = ()
    metadata: Metadata = field(default_factory=dict)


@spooled
@dataclass(frozen=True, slots=True)
class Document:
    """A document as read: plain text, and the offsets of its structure.

    ``key`` identifies it in its corpus: its path relative to the given root, or its .jsonl id. ``blocks`` are in order
    and don't overlap; text outside all blocks is white space or markup. ``line_offset`` is the number of lines of
    removed front matter, added to line numbers in ``text``. Front matter that is kept ends at ``body_start``; it makes
    no chunk, but for the span ``summary``, if it isn't empty. ``modified`` is the time of its file in ISO 8601, if that
    is to be known; a new time alone changes nothing. ``original`` is what to read the document from again, if that is
    in no file. ``page_starts`` holds the character offsets of a PDF's pages, else nothing. ``prechunked`` holds the
    chunks that the document brings; without them it is cut. ``apart``: its outermost sections are texts of their own,
    as messages of a mailbox are, and share no chunk. ``warnings`` say what of its file couldn't be read, each as
    the rest of a sentence that begins with its name: ``has a page without text``.
    """

    key: str
    title: str
    text: str
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    path: str = ""
    modified: str = ""
    original: str = ""
    line_offset: int = 0
    body_start: int = 0
    summary: tuple[int, int] = (0, 0)
    page_starts: tuple[int, ...] = ()
    prechunked: tuple[SuppliedChunk, ...] = ()
    apart: bool = False
    warnings: tuple[str, ...] = ()


@spooled
@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a document, the unit of embedding and search.

    ``text`` equals ``document.text[start:end]``. Lines are those of the source file, counted from 1, both inclusive.
    ``heading`` is the path of headings above the chunk, joined by `` > ``. ``ordinal`` counts from 0 within the
    document. ``tokens`` is 0 if they weren't counted. Only a chunk that its document brings has ``metadata``.
    """

    id: str
    document_key: str
    ordinal: int
    text: str
    title: str
    heading: str
    start: int
    end: int
    line_start: int
    line_end: int
    tokens: int
    metadata: Metadata = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that was left out, and the reason."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class Warned:
    """A source that was read, but not all of it, and what wasn't."""

    source: str
    warning: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A relationship and its local evidence, from which weights are computed at reading time.

    The evidence is numbers, texts, true and false, or lists of texts.
    """

    kind: EdgeKind
    source: str
    target: str
    evidence: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str]:
        """Identity of the edge within its corpus."""
        return self.kind, self.source, self.target


@dataclass(frozen=True, slots=True)
class Entity:
    """A name in a corpus; ``key`` is folded (see pipeline.text.names), ``name`` is its most frequent spelling."""

    id: str
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class LegRank:
    """The place that one leg gives a hit: its rank from 1, its raw score, and its share of the fused score (0 to 1)."""

    rank: int
    score: float
    share: float


@dataclass(frozen=True, slots=True)
class PathStep:
    """A node on the path to a hit: its kind, name and id, and the relationship type ``by`` which it is reached.

    The kind ``Seed`` stands for a search instead of a node, and has no id. ``sentence`` is that of a chunk which names
    the step before or after it; "" if none does.
    """

    kind: str
    name: str
    by: str
    id: str = ""
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Reasons:
    """Reasons for a hit: the question's names that it mentions, and the question's other words that it holds.

    ``meaning`` is how far its cosine is beyond what chance brings, in standard deviations; None if it has none.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    meaning: float | None


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk as a result shows it: the passage, where it is from, and how the legs rank it.

    ``document`` is its document's key; ``start`` and ``end`` are characters. As read from the graph a hit has no rank
    yet, which is 0. ``relevance`` is the probability that it is relevant, 0 to 1, None if it can't be told.
    ``evidence`` is the path that lifted it, ``features`` what each feature adds to its score, and ``reasons`` what
    speaks for it; all three are None unless an explanation was asked for. ``excerpt`` is the sentences that answer
    best, None unless they were.
    """

    id: str
    text: str
    document: str
    title: str
    heading: str
    path: str
    ordinal: int
    start: int
    end: int
    line_start: int
    line_end: int
    document_metadata: Metadata
    chunk_metadata: Metadata = field(default_factory=dict)
    rank: int = 0
    score: float = 0.0
    relevance: float | None = None
    legs: Mapping[str, LegRank] = field(default_factory=dict)
    evidence: tuple[PathStep, ...] | None = None
    features: Mapping[str, float] | None = None
    reasons: Reasons | None = None
    excerpt: str | None = None
