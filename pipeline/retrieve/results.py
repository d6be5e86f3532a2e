"""The result of a search, in the shape that neo4j-graphrag's users know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    # numpy comes with the records, and every command imports the package that exports these classes.
    from pipeline.records import Hit


@dataclass(frozen=True, slots=True)
class RetrieverResultItem:
    """A hit: its passage, its source, and the reasons for its rank.

    ``metadata`` holds id, document, title, heading, path, ordinal, start and end (characters), line_start and line_end,
    rank, score, relevance (0 to 1, None if it can't be told; :mod:`pipeline.retrieve.scoring.relevance`), the
    document's own metadata as ``document_metadata``, the chunk's own as ``chunk_metadata``, and ``legs``: the rank,
    score and share of each leg that found it. With an explanation asked for it has ``evidence`` too, the path that
    lifted the hit, from node to node, ``features``, what each adds to the score, and ``reasons``, what speaks for the
    hit: the question's ``names`` and ``words`` in it, and its ``meaning``, beyond what chance brings. With excerpts
    asked for it has ``excerpt``, the sentences that answer best.
    """

    content: str
    metadata: Mapping[str, Any]

    @classmethod
    def of(cls, hit: Hit) -> Self:
        """Return a hit in plain JSON values."""
        values = {name: getattr(hit, name) for name in _PLAIN}
        values["document_metadata"], values["chunk_metadata"] = dict(hit.document_metadata), dict(hit.chunk_metadata)
        # Not by asdict, which takes ten times as long for the five legs of each hit.
        values["legs"] = {
            leg: {"rank": place.rank, "score": place.score, "share": place.share} for leg, place in hit.legs.items()
        }
        if hit.evidence is not None and hit.features is not None:
            values["evidence"] = [asdict(step) for step in hit.evidence]
            values["features"] = dict(hit.features)
        if hit.excerpt is not None:
            values["excerpt"] = hit.excerpt
        if hit.reasons is not None:
            names, words, meaning = hit.reasons.names, hit.reasons.words, hit.reasons.meaning
            values["reasons"] = {"names": list(names), "words": list(words), "meaning": meaning}
        return cls(hit.text, values)


_PLAIN = (
    *("id", "document", "title", "heading", "path", "ordinal"),
    *("start", "end", "line_start", "line_end", "rank", "score", "relevance"),
)
"""The fields of a hit that its metadata holds as they are."""


@dataclass(frozen=True, slots=True)
class RetrieverResult:
    """The hits, best first; ``metadata`` says what the question's names were and which engine walked.

    Its ``relevance`` is that of the most relevant hit, 0 without any, None if it can't be told. The list ``warnings``
    says that a question was used in part alone, or that the corpus seems to know nothing about it.

    ``hits`` are the items as typed records. ``query_vector`` is the question's embedding, empty if the leg
    needs none. Neither is part of the JSON.
    """

    items: tuple[RetrieverResultItem, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    hits: tuple[Hit, ...] = field(default=(), repr=False, compare=False)
    query_vector: Sequence[float] = field(default=(), repr=False, compare=False)

    def above(self, least: float) -> Self:
        """Return the result without the hits of a relevance below ``least``; ranks and metadata stay."""
        kept = [hit.relevance is None or hit.relevance >= least for hit in self.hits]
        items, hits = tuple(compress(self.items, kept)), tuple(compress(self.hits, kept))
        return self if all(kept) else replace(self, items=items, hits=hits)

    def warned(self, warnings: Sequence[str]) -> Self:
        """Return the result with warnings in its metadata; with none, the metadata has no such field."""
        return replace(self, metadata={**self.metadata, "warnings": list(warnings)}) if warnings else self

    def to_json(self) -> dict[str, Any]:
        """Return the items and the metadata as plain JSON values."""
        return {"items": [asdict(item) for item in self.items], "metadata": deepcopy(dict(self.metadata))}


def unknown(metadata: Mapping[str, Any], known: float) -> list[str]:
    """Return a sentence that says that nothing seems to be known of a question, if its best hit is below ``known``."""
    if not 0 < (metadata["relevance"] or 0) < known:
        return []
    corpus = f"The corpus {metadata['corpus']} seems" if "corpus" in metadata else "These projects seem"
    admitted = ", as far as the filter admits it" if "filter" in metadata else ""
    best = f"the best passage has a relevance of {metadata['relevance']:.2f}"
    return [f"{corpus} to know nothing about this{admitted}: {best}."]
