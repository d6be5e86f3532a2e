"""Chains over tools with output schemas: how many of the right ones come first, and what each step says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pipeline.domains.tools.build import texts_of, tool_graph
from pipeline.domains.tools.catalogue import Catalogue, Tool
from pipeline.domains.tools.chains.plan import Chain
from pipeline.domains.tools.queries import ToolSearch
from pipeline.domains.tools.settings import ToolSettings
from pipeline.embedding.embedder import Embedder
from pipeline.settings import load_settings

from .sixty import SIXTY, TEN, THIRTY, THIRTY_MORE, Expected, whole


def search_of(catalogue: Catalogue, embedder: Embedder) -> ToolSearch:
    """Return the search of a catalogue as its build writes it, without a server."""
    settings = load_settings({}).section(ToolSettings)
    texts = texts_of(catalogue)
    vectors = dict(zip(texts, embedder.encode(list(texts.values())), strict=True))
    nodes, edges = tool_graph(catalogue, np.array([vectors[tool.id] for tool in catalogue.tools]), settings)
    embedded = [replace(one, embedding=vectors[one.id].tolist()) if one.id in vectors else one for one in nodes]
    return ToolSearch(embedded, lambda kind: [edge for edge in edges if edge.type == kind], embedder, settings)


@pytest.fixture(scope="module")
def sixty(embedder: Embedder) -> ToolSearch:
    return search_of(SIXTY, embedder)


def names(chains: Sequence[Chain]) -> list[str]:
    return [" ".join(step.name for step in chain.steps) for chain in chains]


def wrong(search: ToolSearch, expected: Sequence[Expected]) -> list[tuple[Expected, list[str]]]:
    """Return the chains that don't come first, each with those that come instead."""
    asked = [
        (one, names(search.chains(one.task) if one.task else search.chains_between(one.start, one.goal)))
        for one in expected
    ]
    return [(one, found) for one, found in asked if found[:1] != [one.tools]]


def test_of_thirty_chains_over_sixty_tools_the_right_one_comes_first(sixty: ToolSearch) -> None:
    assert len(SIXTY.tools) == 60
    missed = wrong(sixty, THIRTY)
    assert len(missed) <= len(THIRTY) - 27, missed


def test_the_right_one_comes_first_among_tools_that_nobody_looked_at(embedder: Embedder) -> None:
    missed = wrong(search_of(THIRTY_MORE, embedder), TEN)
    assert len(missed) <= len(TEN) - 9, missed


def test_what_is_given_is_bound_wherever_it_fits_and_before_any_output(sixty: ToolSearch) -> None:
    best = sixty.chains_between("parcel_id", "booking_number")[0]

    assert [step.given for step in best.steps] == [("parcel_id",), (), (), ("parcel_id",)]
    assert not any(binding.input == "parcel_id" for step in best.steps for binding in step.bindings)
    assert [step.missing for step in best.steps] == [(), (), (), ()]


@pytest.mark.parametrize("one", [one for one in THIRTY if not one.task], ids=lambda one: f"{one.start}-{one.goal}")
def test_a_confidence_is_the_product_of_what_binds_the_steps(sixty: ToolSearch, one: Expected) -> None:
    for chain in sixty.chains_between(one.start, one.goal):
        product = 1.0
        for binding in (binding for step in chain.steps for binding in step.bindings):
            product *= binding.confidence
        assert chain.confidence == pytest.approx(product)


@pytest.mark.parametrize("one", THIRTY, ids=lambda one: one.task or f"{one.start}-{one.goal}")
def test_no_chain_is_listed_twice(sixty: ToolSearch, one: Expected) -> None:
    chains = sixty.chains(one.task) if one.task else sixty.chains_between(one.start, one.goal)
    sets = [frozenset(chain.tools) for chain in chains]

    assert len(set(sets)) == len(sets)


def test_an_object_matches_as_a_whole_and_is_not_missing_if_its_parts_are_filled(sixty: ToolSearch) -> None:
    found = sixty.chains_between("address", "depot_id")[0]
    forecast = sixty.chains_between("address", "rain_mm")[0]

    assert [(one.input, one.confidence) for one in found.steps[1].bindings] == [("position", 1.0)]
    assert {one.input for one in forecast.steps[1].bindings} == {"place.lat", "place.lon"}
    assert forecast.steps[1].missing == ()


def test_what_a_task_identifies_by_a_value_is_looked_up_nowhere(sixty: ToolSearch) -> None:
    assert names(sixty.chains("List the jobs of pipeline 4711."))[0] == "list_jobs"


def small(embedder: Embedder, **tools: tuple[Any, Any]) -> ToolSearch:
    """Return the search of a few tools with these inputs and outputs."""
    made = [Tool(f"x/{name}", name, "x", input=whole(own[0]), output=whole(own[1])) for name, own in tools.items()]
    return search_of(Catalogue(tools=made), embedder)


def test_a_prerequisite_counts_in_the_confidence(embedder: Embedder) -> None:
    search = small(
        embedder,
        measure_plot=({"plot_code": "string"}, {"plot_area": "integer"}),
        value_plot=({"plot_code": "string", "plot_area": "number"}, {"market_value": "number"}),
        list_owners=({"city": "string"}, {"owners": ["string"]}),
        print_map=({"scale": "string"}, {"map_url": "uri"}),
        call_tram=({"line": "string"}, {"minutes": "integer"}),
    )

    (chain, *_) = search.chains_between("plot_code", "market_value")

    assert names([chain]) == ["measure_plot value_plot"]
    assert [step.given for step in chain.steps] == [("plot_code",), ("plot_code",)]
    assert chain.confidence == pytest.approx(chain.steps[1].bindings[0].confidence)
    assert 0.7 < chain.confidence <= 0.8  # an integer is a number


def test_an_input_of_many_levels_is_bound_by_its_parts(embedder: Embedder) -> None:
    search = small(
        embedder,
        find_warehouse=({"article_number": "string"}, {"warehouse": {"gate": {"gate_code": "string"}}}),
        send_truck=({"tour": {"stop": {"gate_code": "string"}, "driver_name": "string"}}, {"tour_ticket": "string"}),
    )

    (chain, *_) = search.chains_between("article_number", "tour_ticket")

    assert [(one.input, one.output) for one in chain.steps[1].bindings] == [
        ("tour.stop.gate_code", "warehouse.gate.gate_code")
    ]
    assert chain.steps[1].missing == ("tour.driver_name",)


def test_a_thing_is_given_by_its_identifier(embedder: Embedder) -> None:
    search = small(
        embedder,
        find_vessel=({"call_sign": "string"}, {"vessel_id": "string"}),
        vessel_cargo=({"vessel": "string"}, {"containers": ["string"]}),
    )

    (chain, *_) = search.chains_between("call_sign", "containers")

    assert names([chain]) == ["find_vessel vessel_cargo"]
    assert chain.confidence > 0.7


def test_a_tool_that_changes_something_is_no_prerequisite_if_another_reads(embedder: Embedder) -> None:
    search = small(
        embedder,
        add_badge=({"employee_id": "string"}, {"badge_id": "string"}),
        list_badges=({"employee_id": "string"}, {"badges": [{"badge_id": "string"}]}),
        badge_rooms=({"badge_id": "string"}, {"rooms": ["string"]}),
    )

    assert names(search.chains_between("employee_id", "rooms"))[0] == "list_badges badge_rooms"


def test_an_output_that_echoes_an_input_is_no_goal(embedder: Embedder) -> None:
    search = small(
        embedder,
        rename_crate=({"crate_id": "string", "shelf_code": "string"}, {"crate_id": "string"}),
        search_crates=({"shelf_code": "string"}, {"crates": [{"crate_id": "string"}]}),
    )

    assert names(search.chains_between("shelf_code", "crate_id"))[0] == "search_crates"
