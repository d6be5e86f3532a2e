"""The chunks that match a filter: told by the indexes of the corpus, or by the values of those that are asked about."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from pipeline.db.client import batches
from pipeline.db.corpus import CorpusHandle
from pipeline.db.filterable import term_of_any, term_of_several
from pipeline.retrieve.filters.conditions import as_row_test
from pipeline.retrieve.filters.parse import Filter, metadata_field
from pipeline.retrieve.filters.plan import Plan, make_plan
from pipeline.retrieve.lru import Recent

EXACT_UNDER = 5_000
"""Number of matches below which they are scored one by one; for more, an index is read further than wanted."""

SCANNED_FIRST = 10_000
"""Chunks up to which values are read before anything is searched. Chosen by hand: this takes 0.1 s."""

_COUNTED = 1_000  # matches in the full-text index that are counted, in about a millisecond
_REMEMBERED = 16  # filters whose matches are kept, of which each is at most EXACT_UNDER ids; chosen by hand
_ASKED = 5_000  # ids of a query; chosen by hand

_UNPUBLISHED = {"generation": 0, "chunks": 0, "known": (), "matching": 0, "admitted": 0}
"""The facts of a corpus that was never published, whose indexes may be missing."""


class Scanned(NamedTuple):
    """The outcome of a scan: the ids, None if there are ``EXACT_UNDER`` or more; and their number, None if unknown."""

    ids: frozenset[str] | None
    number: int | None


class Matches:
    """The chunks of a generation that match a filter, out of ``total``. Thread-safe.

    ``plan`` says what the corpus's indexes evaluate of the filter. ``lists`` tells whether any chunk has a list of
    several values in a field of the plan's boxes, ``among`` how many chunks a scan reads at most. ``unknown`` are the
    fields of the filter that no chunk has.
    """

    def __init__(self, corpus: CorpusHandle, plan: Plan, total: int, admitted: int | None = None) -> None:
        self.corpus = corpus
        self.plan = plan
        self.total = total
        self.among = total
        self.lists = True
        self.unknown: tuple[str, ...] = ()
        self._admitted = admitted
        self._scanned: Scanned | None = None
        self._lock = threading.Lock()
        self._test = as_row_test(plan.filter)

    @property
    def generation(self) -> int:
        """The generation of the corpus."""
        return self.corpus.generation

    @property
    def ids(self) -> frozenset[str] | None:
        """The ids of all matches, once a scan has found that they are few; else None."""
        return self._scanned.ids if self._scanned else None

    @property
    def is_scanned(self) -> bool:
        """Return whether a scan has told whether the matches are few."""
        return self._scanned is not None

    @property
    def admitted(self) -> int | None:
        """The number of matches, None if it isn't known without counting more than a search needs."""
        return self._scanned.number if self._scanned else self._admitted

    @property
    def in_boxes(self) -> bool:
        """Return whether the chunks in the plan's boxes are those that match."""
        return self.plan.boxes_exact and not self.lists

    @property
    def documents(self) -> frozenset[str]:
        """The keys of the documents of all matches, read now; as many are in memory."""
        return frozenset(document for _, document in self._scan())

    def count(self) -> int:
        """Return the number of matches, which are read for it if it isn't known."""
        admitted = self.admitted
        return sum(1 for _ in self._scan()) if admitted is None else admitted

    def keep(self, ids: Iterable[str]) -> frozenset[str]:
        """Return those of some chunks that match, by id; raises Superseded if another generation is visible by now."""
        if self.ids is not None:
            return self.ids.intersection(ids)
        boxes, fields = self.plan.listed, self.plan.fields
        kept: set[str] = set()
        for part in batches(dict.fromkeys(ids), _ASKED):
            row = self.corpus.read_visible("values_of_chunks", ids=part, boxes=boxes, fields=fields)
            kept.update(id_ for id_, values in row["found"] if self.admits(values))
        return frozenset(kept)

    def admits(self, values: Sequence[Any]) -> bool:
        """Return whether the filter admits a chunk with these values of the plan's fields."""
        return self._test(dict(zip(self.plan.names, values, strict=True)))

    def scan(self) -> Scanned:
        """Read the values of all chunks, or of those that the indexes admit, once; not to the end if many match.

        Raises Superseded if another generation is visible by now.
        """
        with self._lock:
            if self._scanned is None:
                ids: list[str] = []
                count = 0
                whole = True
                for id_, _ in self._scan():
                    count += 1
                    if count < EXACT_UNDER:
                        ids.append(id_)
                    elif self.total > SCANNED_FIRST:
                        whole = False
                        break
                few = frozenset(ids) if count < EXACT_UNDER else None
                self._scanned = Scanned(few, count if whole else None)
            return self._scanned

    def _scan(self) -> Iterator[tuple[str, str]]:
        """Yield the ids of all matches as they arrive, each with the key of its document."""
        terms, fields = self.plan.terms, self.plan.fields
        if terms and self.total:
            rows = self.corpus.stream("scan_terms", text=terms, fields=fields)
        else:
            rows = self.corpus.stream("scan_values", fields=fields)
        for row in rows:
            if self.admits(row["values"]):
                yield row["id"], row["document"]
        self.corpus.check_visible()


class FilterMatcher:
    """Matches the chunks of one corpus with filters. Thread-safe."""

    def __init__(self, corpus: CorpusHandle) -> None:
        self._corpus = corpus
        self._lock = threading.Lock()
        self._known: Recent[str, Matches] = Recent(_REMEMBERED)
        self._fields: Recent[tuple[int, str], bool] = Recent(4 * _REMEMBERED)

    def match(self, filter_: Filter) -> Matches:
        """Return the chunks that match a filter; those of small corpora are read now.

        What is known of a filter isn't asked for again, and may be of an earlier generation than the visible one. Who
        searches by it compares the generations, and calls :meth:`forget` if they differ.
        Raises Superseded if another generation is published meanwhile.
        """
        # Not the filter itself: as keys 1 and true are equal.
        key = repr(filter_)
        with self._lock:
            known = self._known.get(key)
        matches = self._read(make_plan(filter_, self._corpus.record.filterable)) if known is None else known
        with self._lock:
            # The first one's is kept if threads ask at once, so that one of them scans; and the newest.
            kept = self._known.get(key)
            matches = kept if kept is not None and kept.generation >= matches.generation else matches
            self._known.use(key, matches)
        if not matches.plan.exact and matches.among <= SCANNED_FIRST:
            matches.scan()
        return matches

    def forget(self) -> None:
        """Drop what is known of filters."""
        with self._lock:
            self._known.clear()

    def _read(self, plan: Plan) -> Matches:
        places = {field: place for place, field in enumerate(plan.declared)}
        named = {name: places[field] for name in plan.names if (field := metadata_field(name)) in places}
        terms = [term_of_any(place) for place in named.values()]
        terms += [term_of_several(place) for place in named.values()]
        facts = self._corpus.read_visible(
            "filter_facts",
            _UNPUBLISHED,
            text=plan.terms,
            terms=[f"filterable:{term}" for term in terms],
            limit=_COUNTED,
        )
        corpus = self._corpus.at(facts["generation"])
        counted = facts["admitted"] if plan.exact and facts["matching"] < _COUNTED else None
        matches = Matches(corpus, plan, facts["chunks"], counted)
        if plan.terms and facts["matching"] < _COUNTED:
            matches.among = facts["matching"]
        known = list(facts["known"]) or [0] * len(terms)
        matches.lists = any(known[len(named) :])
        of_indexes = {name for name, has in zip(named, known, strict=False) if not has}
        matches.unknown = tuple(
            name for name in plan.names if (name in of_indexes if name in named else not self._has(corpus, name, plan))
        )
        return matches

    def _has(self, corpus: CorpusHandle, name: str, plan: Plan) -> bool:
        """Return whether any chunk or document of the generation has a field."""
        key = corpus.generation, name
        with self._lock:
            if key in self._fields:
                return self._fields.use(key, self._fields[key])
        own, inherited = plan.fields[plan.names.index(name)]
        found = bool(corpus.read("has_field", own=own, inherited=inherited)[0]["known"])
        with self._lock:
            return self._fields.use(key, found)
