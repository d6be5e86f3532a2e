"""The chunks that match a filter: found once for each filter, and kept until the corpus changes."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from pipeline.db.corpus import CorpusHandle
from pipeline.records import METADATA
from pipeline.retrieve.filters.conditions import Mask, Value, as_test, matching_rows
from pipeline.retrieve.filters.parse import CHUNK_FIELDS, DOCUMENT_FIELDS, Condition, Filter
from pipeline.retrieve.fusion import Ranked
from pipeline.retrieve.lru import Recent

EXACT_UNDER = 5_000
"""Number of matches below which they are scored one by one; for more, an index is read further than wanted."""

_REMEMBERED = 32  # filters whose matches are kept, and columns; chosen by hand, not measured


class _Column(NamedTuple):
    """The values of a field, each with the place of its document or chunk; those without a value are left out."""

    values: list[tuple[int, Value]]
    of_chunk: bool


@dataclass(frozen=True, slots=True)
class Matches:
    """The chunks of a generation that match a filter, by id, out of ``total``; and their documents, by key.

    ``unknown`` are the fields of the filter that no chunk of the corpus has.
    """

    generation: int
    ids: frozenset[str]
    documents: frozenset[str]
    total: int
    unknown: tuple[str, ...] = ()

    def __contains__(self, id_: object) -> bool:
        return id_ in self.ids

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def exact(self) -> bool:
        """Return whether the matches are few enough to be scored one by one."""
        return len(self.ids) < EXACT_UNDER

    def keep(self, ranking: Ranked) -> Ranked:
        """Return a ranking restricted to the matches."""
        return Ranked(ranking.leg, {id_: score for id_, score in ranking.scores.items() if id_ in self.ids})


class FilterMatcher:
    """Matches the chunks of one corpus with filters. Thread-safe."""

    def __init__(self, corpus: CorpusHandle) -> None:
        self._corpus = corpus
        self._lock = threading.Lock()
        self._catalog: _Catalog | None = None
        self._known: Recent[str, Matches] = Recent(_REMEMBERED)

    def match(self, filter_: Filter) -> Matches:
        """Return the chunks of the visible generation that match a filter; a new generation is read at first use.

        Raises Superseded if another generation is published meanwhile.
        """
        corpus = self._corpus.at(self._corpus.read_visible("corpus_size")["generation"])
        # Not the filter itself: as keys 1 and true are equal.
        key = repr(filter_)
        with self._lock:
            if self._catalog is None or self._catalog.generation != corpus.generation:
                self._catalog = _Catalog(corpus)
                self._known.clear()
            if (matches := self._known.get(key)) is None:
                matches = self._catalog.matches(filter_)
                corpus.check_visible()
            return self._known.use(key, matches)


class _Catalog:
    """The chunks of one generation, and their fields, read column by column when a filter needs them."""

    def __init__(self, corpus: CorpusHandle) -> None:
        self.generation = corpus.generation
        self._corpus = corpus
        rows = corpus.read("chunks_by_document")
        self._documents = {row["document"]: place for place, row in enumerate(rows)}
        self._places = {id_: place for place, id_ in enumerate(chain.from_iterable(row["ids"] for row in rows))}
        self._document_of = np.repeat(np.arange(len(rows)), [len(row["ids"]) for row in rows])
        self._columns: Recent[str, _Column] = Recent(_REMEMBERED)

    def matches(self, filter_: Filter) -> Matches:
        ids, keys = list(self._places), list(self._documents)
        unknown: dict[str, None] = {}

        def holds(condition: Condition) -> Mask:
            column = self._column(condition.field)
            if not column.values:
                unknown[condition.field] = None
            mask: Mask = np.zeros(len(ids if column.of_chunk else keys), dtype=np.bool_)
            test = as_test(condition)
            mask[[place for place, value in column.values if test(value)]] = True
            return mask if column.of_chunk else mask[self._document_of]

        places = np.flatnonzero(matching_rows(filter_, holds, len(ids)))
        return Matches(
            self.generation,
            frozenset(ids[place] for place in places.tolist()),
            frozenset(keys[place] for place in np.unique(self._document_of[places]).tolist()),
            len(ids),
            tuple(unknown),
        )

    def _column(self, field: str) -> _Column:
        if field in self._columns:
            return self._columns.use(field, self._columns[field])
        if field in CHUNK_FIELDS:
            column = _Column(self._values("chunk_values", field, self._places), of_chunk=True)
        elif field in DOCUMENT_FIELDS:
            # Filters and hits call the key of a document ``document``.
            named = "key" if field == "document" else field
            column = _Column(self._values("document_values", named, self._documents), of_chunk=False)
        else:
            column = self._metadata(METADATA + field.removeprefix(METADATA))
        return self._columns.use(field, column)

    def _values(self, query: str, property_: str, places: Mapping[str, int]) -> list[tuple[int, Value]]:
        rows = self._corpus.stream(query, property=property_)
        return [(places[row["key"]], row["value"]) for row in rows if row["key"] in places]

    def _metadata(self, property_: str) -> _Column:
        """Return the column of a property of the metadata: a chunk's own value takes precedence over its document's."""
        own: dict[int, Value] = {}
        given: dict[int, Value] = {}
        for row in self._corpus.stream("metadata_values", property=property_):
            values, places = (own, self._places) if row["of_chunk"] else (given, self._documents)
            if row["key"] in places:
                values[places[row["key"]]] = row["value"]
        if not own:
            return _Column(list(given.items()), of_chunk=False)
        inherited = ((place, given[of]) for place, of in enumerate(self._document_of.tolist()) if of in given)
        return _Column(list({**dict(inherited), **own}.items()), of_chunk=True)
