"""The categories of failures, each with its evidence and the edge that would have mended it."""

from __future__ import annotations

import pytest

from pipeline.domains.routing.compare import Answer, FailedQuery, Failure, failure_of
from pipeline.domains.routing.querysets import RoutingQuery
from pipeline.domains.routing.schema import Project

QUERY = RoutingQuery("1", "?", "shop", ("ledger",), frozenset({("ledger", "entries.md")}))
CEILING = Answer((("ledger", "entries.md"),), ("ledger",))
RIGHT = ("ledger", "entries.md")
DOMAINS = {"ledger": ("python",), "quay": ("python",), "kiln": ("rust",), "loom": ("rust",), "oven": ()}
PROJECTS = {id_: Project(id_, domains=domains) for id_, domains in DOMAINS.items()}


def failed(
    *ranking: tuple[str, str], searched: tuple[str, ...] = (), query: RoutingQuery = QUERY
) -> FailedQuery | None:
    return failure_of(query, "all", Answer(ranking, searched or tuple(DOMAINS)), CEILING, PROJECTS)


def test_an_answer_as_good_as_the_ceiling_is_no_failure() -> None:
    assert failed(RIGHT, ("kiln", "a")) is None


@pytest.mark.parametrize(
    ("ranking", "searched", "category", "evidence"),
    [
        ([("kiln", "a")], ("kiln", "loom"), Failure.MISSING_PROJECT, "ledger was not searched, but kiln, loom"),
        (
            [("kiln", "a"), RIGHT],
            (),
            Failure.WRONG_DOMAIN,
            "the first expected document has rank 2, 1 at the ceiling; ahead of it: 1 of kiln",
        ),
        *(
            (
                [(first, "a"), (first, "b"), RIGHT],
                (),
                Failure.NOISE,
                f"the first expected document has rank 3, 1 at the ceiling; ahead of it: 2 of {first}",
            )
            for first in ("quay", "oven")
        ),
        (
            [("quay", "a"), ("kiln", "a"), ("loom", "a"), RIGHT],
            (),
            Failure.SCATTERED,
            "the first expected document has rank 4, 1 at the ceiling; ahead of it: 1 of quay, 1 of kiln, 1 of loom",
        ),
        (
            [("quay", "a")],
            (),
            Failure.NOISE,
            "no expected document was found, 1 at the ceiling; ahead of it: 1 of quay",
        ),
    ],
)
def test_a_failure_has_a_category_its_evidence_and_the_edge_that_mends_it(
    ranking: list[tuple[str, str]], searched: tuple[str, ...], category: Failure, evidence: str
) -> None:
    nobody = RoutingQuery("1", "?", "", QUERY.projects, QUERY.documents)

    assert failed(*ranking, searched=searched) == FailedQuery("1", "all", category, evidence, "shop LEARNS_FROM ledger")
    assert failed(*ranking, searched=searched, query=nobody) == FailedQuery("1", "all", category, evidence, "")


def test_a_document_that_the_ceiling_does_not_find_is_a_matter_of_ranking() -> None:
    ceiling = Answer(tuple(("ledger", str(at)) for at in range(10)), ("ledger",))

    found = failure_of(QUERY, "all", Answer((RIGHT,), ("ledger",)), ceiling, PROJECTS)

    assert found
    assert (found.category, found.mend) == (Failure.RANKING, "")
