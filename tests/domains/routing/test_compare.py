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


def test_a_project_that_was_not_searched_is_missing() -> None:
    assert failed(("kiln", "a"), searched=("kiln", "loom")) == FailedQuery(
        "1", "all", Failure.MISSING_PROJECT, "ledger was not searched, but kiln, loom", "shop LEARNS_FROM ledger"
    )


def test_an_answer_of_a_project_without_a_common_domain_comes_from_a_wrong_domain() -> None:
    found = failed(("kiln", "a"), RIGHT)

    assert found
    assert (found.category, found.mend) == (Failure.WRONG_DOMAIN, "shop LEARNS_FROM ledger")
    assert found.evidence == "the first expected document has rank 2, 1 at the ceiling; ahead of it: 1 of kiln"


@pytest.mark.parametrize("first", ["quay", "oven"])
def test_other_documents_of_the_same_domain_or_of_none_are_noise(first: str) -> None:
    found = failed((first, "a"), (first, "b"), RIGHT)

    assert found
    assert found.category is Failure.NOISE
    assert found.evidence.endswith(f"2 of {first}")


def test_documents_of_three_other_projects_are_scattered() -> None:
    found = failed(("quay", "a"), ("kiln", "a"), ("loom", "a"), RIGHT)

    assert found
    assert found.category is Failure.SCATTERED


def test_a_document_that_the_ceiling_does_not_find_is_a_matter_of_ranking() -> None:
    ceiling = Answer(tuple(("ledger", str(at)) for at in range(10)), ("ledger",))

    found = failure_of(QUERY, "all", Answer((RIGHT,), ("ledger",)), ceiling, PROJECTS)

    assert found
    assert (found.category, found.mend) == (Failure.RANKING, "")


def test_no_document_at_all_is_told() -> None:
    found = failed(("quay", "a"))

    assert found
    assert found.evidence.startswith("no expected document was found, 1 at the ceiling")


def test_no_edge_is_named_if_no_project_asks() -> None:
    found = failed(("quay", "a"), RIGHT, query=RoutingQuery("1", "?", "", QUERY.projects, QUERY.documents))

    assert found
    assert found.mend == ""
