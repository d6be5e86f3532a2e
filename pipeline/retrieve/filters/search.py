"""Candidates among the chunks that match a filter: found inside the indexes as far as the corpus declares its fields.

What the indexes don't evaluate is compared with the values that come with each candidate: an index is read further and
further until enough of them match. If few do, the corpus is scanned once, and few matches are scored one by one.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.db.indexes import cosine_of
from pipeline.db.vectors import packed
from pipeline.retrieve.candidates import CandidateLimits, Candidates, explore, fuse_hybrid
from pipeline.retrieve.filters.matches import EXACT_UNDER, Matches
from pipeline.retrieve.filters.plan import Plan
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.question import fulltext_query
from pipeline.retrieve.reader import CorpusReader

_SURPLUS = 4
"""Candidates fetched at first in proportion to those wanted, if the index doesn't evaluate the whole filter. Chosen by
hand; not measured."""

_GROWTH = 4  # by which more are fetched if these were too few; chosen by hand, not measured

FETCHED_AT_MOST = 10_000
"""Maximum hits read from an index before the corpus is scanned for the matches. Chosen by hand; not measured."""

_SIDES = ("first", "second", "third")
_SEARCHES = {1: "filtered_vector_1", 2: "filtered_vector_2", 3: "filtered_vector_3"}

_Row = Mapping[str, Any]
_Scores = dict[str, float]


def filtered_vector_search(_reader: CorpusReader, matches: Matches, vector: Sequence[float], limit: int) -> Ranked:
    """Return the ``limit`` matches nearest to a vector; scores are cosines."""
    if not matches.total:
        return Ranked(Leg.VECTOR, {})
    found = _nearest(matches, packed(vector), limit)
    return ranked(Leg.VECTOR, {id_: cosine_of(score) for id_, score in found.items()}).first(limit)


def _nearest(matches: Matches, vector: Any, limit: int) -> _Scores:
    plan, corpus = matches.plan, matches.corpus
    if matches.ids is None:
        if plan.boxes is not None and (found := _nearest_in_boxes(matches, vector, limit)) is not None:
            return found
        if plan.boxes is None and plan.terms:
            found = _nearest_of_terms(matches, plan.terms, vector, limit)
            if found is not None:
                return found

        def fetch(ask: int) -> _Row:
            return corpus.read_visible("filtered_vector_0", vector=vector, limit=ask, fields=plan.fields)

        if (found := _overfetched(matches, fetch, limit)) is not None:
            return found
    ids = list(matches.ids or ())
    return _scores(corpus.read_visible("vector_of_ids", ids=ids, vector=vector, limit=limit))


def _nearest_in_boxes(matches: Matches, vector: Any, limit: int) -> _Scores | None:
    """Return the matches nearest to a vector by searches in the plan's boxes; None if these can't tell."""
    plan = matches.plan

    def fetch(ask: int) -> _Row:
        return _searched(matches, vector, ask)

    found = _overfetched(matches, fetch, limit, exact=plan.boxes_exact)
    if found is None or not matches.lists:
        return found
    # Lists of several values have no key.
    listed = _nearest_of_terms(matches, f"+({plan.several}) +({plan.terms})", vector, limit)
    return None if listed is None else {**found, **listed}


def _searched(matches: Matches, vector: Any, limit: int, text: str = "") -> _Row:
    """Return the row of a search in the plan's boxes, and of a Lucene query beside it."""
    plan = matches.plan
    boxes = plan.boxes or ()
    sides = {name: side.property for name, side in zip(_SIDES, boxes[0], strict=False)}
    bounds = [[bound for side in box for bound in (side.first, side.after)] for box in boxes]
    fields = () if plan.boxes_exact else plan.fields
    return matches.corpus.read_visible(
        _SEARCHES[len(sides)], None, sides, boxes=bounds, vector=vector, text=text, limit=limit, fields=fields
    )


def _nearest_of_terms(matches: Matches, text: str, vector: Any, limit: int) -> _Scores | None:
    """Return the matches nearest to a vector among few that the full-text index admits; None if these are many."""
    plan = matches.plan
    row = matches.corpus.read_visible(
        "vector_of_terms",
        text=text,
        vector=vector,
        limit=limit if plan.exact else EXACT_UNDER,
        most=EXACT_UNDER,
        fields=() if plan.exact else plan.fields,
    )
    _check(matches, row)
    return _passing(matches, row, exact=plan.exact) if row["complete"] else None


def filtered_fulltext_search(_reader: CorpusReader, matches: Matches, question: str, limit: int) -> Ranked:
    """Return the ``limit`` matches whose words match a question's best; scores are Lucene's."""
    text = fulltext_query(question)
    if not (text and matches.total) or matches.admitted == 0:
        return Ranked(Leg.FULLTEXT, {})
    plan, corpus, asked = matches.plan, matches.corpus, _with_terms(text, matches.plan)
    fields = () if plan.exact else plan.fields

    def fetch(ask: int) -> _Row:
        return corpus.read_visible("filtered_fulltext", text=asked, limit=ask, fields=fields)

    found = _overfetched(matches, fetch, limit, exact=plan.exact)
    if found is None:
        found = _scores(corpus.read_visible("fulltext_of_ids", text=text, ids=list(matches.ids or ()), limit=limit))
    return ranked(Leg.FULLTEXT, found).first(limit)


def _with_terms(text: str, plan: Plan) -> str:
    # A boost of 0 leaves the scores to the question.
    return f"+({text}) +({plan.terms})^0" if plan.terms else text


def _both_at_once(matches: Matches, question: str, vector: Sequence[float], limit: int) -> tuple[Ranked, Ranked] | None:
    """Return the matches by vector and by full text in one round trip; None if the indexes don't tell all in one."""
    plan, text = matches.plan, fulltext_query(question)
    exact = plan.exact and matches.in_boxes and matches.ids is None
    if not (exact and text and len(vector) and matches.total):
        return None
    row = _searched(matches, packed(vector), limit, _with_terms(text, plan))
    _check(matches, row)
    if row["words"] is None:
        return None
    near = ranked(Leg.VECTOR, {id_: cosine_of(score) for id_, score in _scores(row).items()}).first(limit)
    return near, ranked(Leg.FULLTEXT, dict(row["words"])).first(limit)


def _overfetched(matches: Matches, fetch: Callable[[int], _Row], limit: int, *, exact: bool = False) -> _Scores | None:
    """Fetch more and more hits of an index until ``limit`` of them match, or it has no more.

    None if the matches are few, and a scan has found their ids.
    """
    ask = limit if exact else limit * _SURPLUS
    while True:
        if ask > FETCHED_AT_MOST and matches.scan().ids is not None:
            return None
        row = fetch(ask)
        _check(matches, row)
        found = row["found"]
        kept = _passing(matches, row, exact=exact)
        if exact or len(kept) >= limit or len(found) < ask or ask >= matches.total:
            return kept
        share = len(kept) / len(found)
        ask = min(max(ask * _GROWTH, math.ceil(limit / share) if share else 0), matches.total)


def _passing(matches: Matches, row: _Row, *, exact: bool) -> _Scores:
    return {id_: score for id_, score, values in row["found"] if exact or matches.admits(values)}


def _scores(row: _Row) -> _Scores:
    return {id_: score for id_, score, _ in row["found"]}


def _check(matches: Matches, row: _Row) -> None:
    if row["generation"] != matches.generation:
        raise matches.corpus.superseded()


def _one_by_one(
    reader: CorpusReader, matches: Matches, question: str, vector: Sequence[float], limit: int
) -> tuple[Ranked, Ranked]:
    near = filtered_vector_search(reader, matches, vector, limit) if len(vector) else Ranked(Leg.VECTOR, {})
    return near, filtered_fulltext_search(reader, matches, question, limit)


def explore_filtered(
    reader: CorpusReader, matches: Matches, question: str, vector: Sequence[float], limits: CandidateLimits
) -> Candidates:
    """Find candidates, names and their expansion among matches; no other chunk is in any of them."""
    both = _both_at_once(matches, question, vector, limits.candidates)
    near, matching = both or _one_by_one(reader, matches, question, vector, limits.candidates)
    hybrid = fuse_hybrid(near, matching)
    around = explore(reader, question, vector, limits, hybrid.ids[: limits.seeds], matches.plan.listed)
    if around.generation != matches.generation:
        raise reader.corpus.superseded()
    around = replace(around, vector=near, fulltext=matching, hybrid=hybrid)
    if matches.in_boxes:
        return around
    only = {name.only_chunk for name in around.names if name.only_chunk is not None}
    admitted = matches.keep({*around.neighbourhood.chunk_ids, *only})
    return replace(
        around,
        names=tuple(name for name in around.names if name.only_chunk is None or name.only_chunk in admitted),
        neighbourhood=around.neighbourhood.filtered(admitted),
    )
