"""The component for Haystack: rules, the quickstart's questions in a pipeline, its filters, its serialised form."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import yaml
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.utils import Secret

from pipeline import HopRank
from pipeline.db.embedded import Address
from pipeline.errors import FilterError, ServerUnreachable
from pipeline.serve.adapters.haystack import HopRankRetriever, translate
from pipeline.serve.adapters.passages import Passage
from tests.serve.adapters.conformance import RULES, Retrieve, Rule, errors_raised, filtered, from_many_threads
from tests.serve.adapters.quickstart import READ, TOP_K, answer

pytestmark = pytest.mark.slow

IN_HAYSTACK = {"$eq": "==", "$ne": "!=", "$gte": ">=", "$in": "in"}
TEMPLATE = (
    "Answer from these passages:\n{% for passage in documents %}{{ passage.content }}\n\n{% endfor %}"
    "Question: {{ question }}"
)
ALLOWED = ["pipeline.serve.adapters.haystack", "tests.serve.adapters.test_haystack"]


@component
class StandIn:
    """Answers from its prompt."""

    @component.output_types(replies=list[str])
    def run(self, prompt: str) -> dict[str, list[str]]:
        return {"replies": [answer(prompt)]}


def passages(documents: list[Document]) -> list[Passage]:
    return [Passage(found.content or "", found.meta, found.score or 0.0) for found in documents]


def native(filters: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The filters of the conformance suite as Haystack's."""
    if filters is None:
        return None
    ((field, condition),) = filters.items()
    ((operator, value),) = condition.items()
    return one(f"meta.{field}", IN_HAYSTACK[operator], value)


def one(field: str, operator: str, value: Any) -> dict[str, Any]:
    return {"field": field, "operator": operator, "value": value}


def several(operator: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    return {"operator": operator, "conditions": list(conditions)}


def adapted(hoprank: HopRank, corpus: str) -> Retrieve:
    retriever = HopRankRetriever(corpus, hoprank=hoprank)
    return lambda question, k, filters: passages(retriever.run(question, filters=native(filters), top_k=k)["documents"])


def awaited(hoprank: HopRank, corpus: str) -> Retrieve:
    retriever = HopRankRetriever(corpus, hoprank=hoprank)
    return lambda question, k, filters: passages(
        asyncio.run(retriever.run_async(question, filters=native(filters), top_k=k))["documents"]
    )


def piped(hoprank: HopRank, corpus: str) -> Retrieve:
    """In a pipeline, which wraps errors in its own."""
    pipeline = Pipeline()
    pipeline.add_component("retriever", HopRankRetriever(corpus, hoprank=hoprank))

    def retrieve(question: str, k: int, filters: Mapping[str, Any] | None) -> list[Passage]:
        inputs = {"query": question, "top_k": k, "filters": native(filters)}
        return passages(pipeline.run({"retriever": inputs})["retriever"]["documents"])

    return retrieve


@pytest.mark.parametrize("rule", RULES)
def test_it_conforms(hoprank: HopRank, conforming: str, rule: Rule) -> None:
    rule(hoprank, conforming, adapted(hoprank, conforming))


@pytest.mark.parametrize("rule", [filtered, errors_raised, from_many_threads])
@pytest.mark.parametrize("adapt", [awaited, piped])
def test_it_conforms_when_it_is_awaited_and_in_a_pipeline(
    hoprank: HopRank, conforming: str, rule: Rule, adapt: Any
) -> None:
    rule(hoprank, conforming, adapt(hoprank, conforming))


def answering(retriever: HopRankRetriever) -> Pipeline:
    """A pipeline as Haystack's tutorials build it, with what stands in for a model."""
    pipeline = Pipeline()
    pipeline.add_component("retriever", retriever)
    pipeline.add_component("prompt", PromptBuilder(TEMPLATE, required_variables="*"))
    pipeline.add_component("model", StandIn())
    pipeline.connect("retriever.documents", "prompt.documents")
    pipeline.connect("prompt", "model")
    return pipeline


def inputs(question: str) -> dict[str, Any]:
    return {"retriever": {"query": question}, "prompt": {"question": question}}


def replies(pipeline: Pipeline) -> dict[str, str]:
    return {question: pipeline.run(inputs(question))["model"]["replies"][0] for question in READ}


@pytest.mark.usefixtures("server")
def test_a_pipeline_that_was_saved_answers_again(hoprank: HopRank, islands: str, address: Address) -> None:
    saved = answering(HopRankRetriever(islands, top_k=TOP_K, hoprank=hoprank)).dumps()

    loaded = Pipeline.loads(saved, allowed_modules=ALLOWED)

    assert replies(loaded) == READ
    retriever: Any = loaded.get_component("retriever")
    retriever.close()
    assert address.password not in saved
    parameters = yaml.safe_load(saved)["components"]["retriever"]["init_parameters"]
    assert parameters["uri"] == address.uri
    assert parameters["password"] == {"type": "env_var", "env_vars": ["NEO4J_PASSWORD"], "strict": False}


def test_its_serialised_form_is_complete() -> None:
    password = Secret.from_env_var("READER_PASSWORD")
    filters = one("meta.year", ">", 1990)
    made = HopRankRetriever("docs", 7, filters, "hybrid", "bolt://db:7687", "reader", password, "texts")

    data = made.to_dict()

    assert HopRankRetriever.from_dict(made.to_dict()).to_dict() == data
    assert data["init_parameters"] == {
        "corpus": "docs",
        "top_k": 7,
        "filters": filters,
        "leg": "hybrid",
        "uri": "bolt://db:7687",
        "username": "reader",
        "password": password.to_dict(),
        "database": "texts",
    }


def test_a_password_in_clear_is_not_serialised() -> None:
    with pytest.raises(ValueError, match="Cannot serialize token"):
        HopRankRetriever(password=Secret.from_token("secret")).to_dict()


@pytest.mark.usefixtures("server")
def test_it_connects_when_it_warms_up_and_again_after_it_was_closed(conforming: str) -> None:
    retriever = HopRankRetriever(conforming, top_k=1)

    retriever.warm_up()
    retriever.warm_up()
    first = retriever.run("harbour")
    retriever.close()
    retriever.close()
    second = retriever.run("harbour")
    retriever.close()

    assert first == second


def test_it_leaves_a_connection_that_it_was_given_open(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(conforming, hoprank=hoprank)

    retriever.close()

    assert retriever.run("harbour")["documents"]


def test_a_server_that_does_not_answer_is_named() -> None:
    with pytest.raises(ServerUnreachable, match="127"):
        HopRankRetriever(uri="bolt://127.0.0.1:1", password=Secret.from_token("secret")).warm_up()


@pytest.mark.parametrize(
    ("filters", "documents"),
    [
        (one("meta.kind", "==", "person"), {"people/ada"}),
        (one("kind", "==", "person"), {"people/ada"}),
        (one("meta.year", "<", 1911), {"places/lighthouse"}),
        (one("meta.year", "<=", 1911), {"places/lighthouse", "tides/gauge"}),
        (one("meta.year", ">", 1999), {"hostile/prompt"}),
        (one("meta.kind", "not in", ["instrument", "note", "song"]), {"people/ada", "places/lighthouse"}),
        (several("AND", one("meta.year", ">", 1900), one("meta.tags", "in", ["light"])), {"people/ada"}),
        (
            several("OR", one("meta.kind", "==", "song"), several("AND", one("meta.year", "<", 1900))),
            {"songs/möwe 海", "places/lighthouse"},
        ),
        (
            several("NOT", several("OR", one("meta.kind", "in", ["song", "note"]), one("meta.year", "!=", 1890))),
            {"places/lighthouse"},
        ),
    ],
)
def test_its_filters_mean_what_they_do_in_haystack(
    hoprank: HopRank, conforming: str, filters: dict[str, Any], documents: set[str]
) -> None:
    retriever = HopRankRetriever(conforming, top_k=100, hoprank=hoprank)

    found = retriever.run("harbour", filters=filters)["documents"]

    assert {document.meta["document"] for document in found} == documents


def test_the_options_of_a_run_replace_those_of_the_component(hoprank: HopRank, conforming: str) -> None:
    retriever = HopRankRetriever(conforming, 1, one("meta.kind", "==", "place"), hoprank=hoprank)

    def kinds(**options: Any) -> list[str]:
        return [document.meta["kind"] for document in retriever.run("harbour", **options)["documents"]]

    assert kinds() == ["place"]
    assert kinds(filters=one("meta.kind", "==", "song")) == ["song"]
    assert len(kinds(filters={}, top_k=4)) == 4


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ({"year": {"$gte": 1990}}, "the part {'year'"),
        ({"field": "meta.year", "operator": ">"}, "the part"),
        (one("meta.year", "$gt", 1), r"'\$gt' on 'year'"),
        (several("XOR", one("meta.year", ">", 1)), "'XOR'"),
        (several("NOT", one("meta.year", ">", 1)), r"negates \$gt of 'year'"),
        (several("AND", {"conditions": []}), "the part"),
    ],
)
def test_malformed_filters_are_refused(filters: dict[str, Any], message: str) -> None:
    with pytest.raises(FilterError, match=message):
        translate(filters)
