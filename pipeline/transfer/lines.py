"""Read a corpus that was exported as JSON Lines; each line is checked before anything is written of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from pipeline.errors import SourceError
from pipeline.ingest.sources.metadata import flat
from pipeline.records import EdgeKind
from pipeline.transfer.portable import Part

_LARGEST = 2**63 - 1
"""Neo4j's largest whole number."""


def _encodable(text: str) -> str:
    # JSON can spell half a surrogate pair, which Neo4j can't hold.
    text.encode("utf-8")
    return text


_Text = Annotated[str, AfterValidator(_encodable)]
_Count = Annotated[int, Field(ge=0, le=_LARGEST)]
_Number = Annotated[float, Field(allow_inf_nan=False)]

_Place = Annotated[tuple[_Text, _Count], Field(strict=False)]
"""A document's key and a chunk's ordinal; JSON has lists for tuples."""


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Corpus(_Line):
    model_config = ConfigDict(strict=True, extra="allow")

    format: int
    schema_version: int = Field(alias="schema")
    name: _Text
    fingerprint: _Text
    dimension: Annotated[int, Field(ge=1, le=4096)]
    chunker: _Text
    extractor: _Text
    analyzer: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    edges: dict[_Text, _Count]
    documents: _Count = 0
    chunks: _Count = 0
    entities: _Count = 0
    embeddings: bool = False
    links: dict[_Text, bool | int | _Number | _Text] = Field(default_factory=dict)


class _Document(_Line):
    model_config = ConfigDict(strict=True, extra="allow")

    key: _Text
    title: _Text
    path: _Text | None = None
    modified: _Text | None = None
    original: _Text | None = None
    hash: _Text = ""
    text_hash: _Text | None = None

    @model_validator(mode="after")
    def _has_metadata_only(self) -> Self:
        extra = self.model_extra or {}
        if flat(extra) != extra or not all(name.startswith("metadata.") for name in extra):
            raise ValueError("more than metadata of texts, numbers, true, false, or lists of one of them")
        return self


class _Chunk(_Line):
    document: _Text
    ordinal: _Count
    text: _Text
    title: _Text
    heading: _Text
    start: _Count
    end: _Count
    line_start: _Count
    line_end: _Count
    tokens: _Count
    links: list[_Text]
    link_relations: list[_Text] | None = None
    link_contexts: list[_Text] | None = None
    embedded: _Text
    embedding: list[_Number] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_aligned(self) -> Self:
        for values in (self.link_relations, self.link_contexts):
            if values is not None and len(values) != len(self.links):
                raise ValueError("as many relations and contexts as links")
        return self


class _Entity(_Line):
    key: _Text
    name: _Text


class _Counts(_Line):
    kind: Literal["casing", "aliases", "spellings"]
    shard: _Count
    counts: dict[_Text, dict[_Text, _Count]]


class _Edge(_Line):
    kind: Annotated[str, AfterValidator(EdgeKind)]
    source: _Place
    target: _Text | _Place
    score: _Number | None = None
    mutual: bool | None = None
    count: _Count | None = None
    position: _Count | None = None
    about: bool | None = None
    relations: list[_Text] | None = None
    context: _Text | None = None


_LINES: Mapping[str, type[_Line]] = {
    "corpus": _Corpus,
    "document": _Document,
    "chunk": _Chunk,
    "entity": _Entity,
    "counts": _Counts,
    "edge": _Edge,
}


def read_lines(path: Path) -> Iterator[Part]:
    """Yield the parts that ``hoprank corpus export`` wrote to ``path``.

    Raises SourceError naming file and line if a line is no part of a corpus, if the file can't be read or if it is
    truncated.
    """
    counts = {"document": 0, "chunk": 0, "entity": 0}
    head: dict[str, int] = {}
    number = 0
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                part = _part(path, number, line)
                if part.kind == "corpus":
                    head = part.value
                elif part.kind in counts:
                    counts[part.kind] += 1
                yield part
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} can't be read: {error}.", "Give a file that corpus export wrote.") from error
    incomplete = [f"{kind}s" for kind, count in counts.items() if head.get(_plural(kind), count) != count]
    if incomplete:
        raise SourceError(f"{path} ends early, after line {number}: {incomplete[0]} are missing.", "Export it again.")


def _plural(kind: str) -> str:
    return "entities" if kind == "entity" else f"{kind}s"


def _part(path: Path, number: int, line: str) -> Part:
    try:
        ((kind, value),) = json.loads(line).items()
        _LINES[kind].model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"][:2])) or "it"
        raise _refused(path, number, f"{place}: {first['msg'][0].lower()}{first['msg'][1:]}") from error
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError) as error:
        raise _refused(path, number, "it is no part of a corpus") from error
    return Part(kind, value)


def _refused(path: Path, number: int, reason: str) -> SourceError:
    return SourceError(
        f"{path}, line {number} isn't a line of an export ({reason}).",
        "Give a file that `hoprank corpus export` wrote as jsonl.",
    )
