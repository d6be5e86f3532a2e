"""The conformance suite: it accepts an adapter that keeps the rules, and names the rule that another one breaks."""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline import HopRank
from pipeline.db.catalogue import list_corpora
from pipeline.serve.adapters.passages import Passage, passages_of
from tests.serve.adapters import conformance
from tests.serve.adapters.conformance import FILTERS, QUESTION, RULES, Nonconformance, Retrieve, check_adapter

Filters = Mapping[str, Any] | None


class Sound:
    """An adapter that keeps every rule; those below break one."""

    def __init__(self, hoprank: HopRank, corpus: str) -> None:
        self.hoprank = hoprank
        self.corpus = corpus

    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        result = self.hoprank.search(question, top_k=k, filters=filters, corpus=self.corpus)
        return [self.shown(passage) for passage in passages_of(result)]

    def shown(self, passage: Passage) -> Passage:
        return passage


class Reversing(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        return super().__call__(question, k, filters)[::-1]


class FixedInNumber(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:  # noqa: ARG002 - that is wrong
        return super().__call__(question, 5, filters)


class Unfiltered(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:  # noqa: ARG002 - likewise
        return super().__call__(question, k, None)


class FilteredForGood(Sound):
    filters: Filters = None

    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        self.filters = filters or self.filters
        return super().__call__(question, k, self.filters)


class WithoutLines(Sound):
    def shown(self, passage: Passage) -> Passage:
        return replace(passage, metadata={**passage.metadata, "line_start": None})


class Nested(Sound):
    def shown(self, passage: Passage) -> Passage:
        own = {name: passage.metadata[name] for name in ("year", "kind", "tags")}
        rest = {name: value for name, value in passage.metadata.items() if name not in own}
        return replace(passage, metadata={**rest, "own": own})


class Rounding(Sound):
    def shown(self, passage: Passage) -> Passage:
        return replace(passage, score=round(passage.score, 1))


class Composing(Sound):
    def shown(self, passage: Passage) -> Passage:
        return replace(passage, content=unicodedata.normalize("NFC", passage.content))


class Templating(Sound):
    def shown(self, passage: Passage) -> Passage:
        return replace(passage, content=passage.content.replace("{question}", QUESTION))


class Silent(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        try:
            return super().__call__(question, k, filters)
        except Exception:
            return []


class Translating(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        try:
            return super().__call__(question, k, filters)
        except Exception:
            raise ValueError("something is wrong") from None


class Remembering(Sound):
    def __init__(self, hoprank: HopRank, corpus: str) -> None:
        super().__init__(hoprank, corpus)
        self.known: dict[str, Sequence[Passage]] = {}

    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        key = repr((question, k, filters))
        if key not in self.known:
            self.known[key] = super().__call__(question, k, filters)
        return self.known[key]


class Sharing(Sound):
    question = ""

    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        self.question = question
        time.sleep(0.01)
        return super().__call__(self.question, k, filters)


class Failing(Sound):
    def __call__(self, question: str, k: int, filters: Filters) -> Sequence[Passage]:
        if filters:
            raise KeyError("filters")
        return super().__call__(question, k, filters)


def corpora(hoprank: HopRank) -> set[str]:
    return {corpus.name for corpus in list_corpora(hoprank.client)}


@pytest.mark.slow
def test_an_adapter_that_keeps_the_rules_passes(hoprank: HopRank) -> None:
    asked: list[str] = []

    def adapt(corpus: str) -> Retrieve:
        asked.append(corpus)
        return Sound(hoprank, corpus)

    check_adapter(hoprank, adapt)

    assert len(asked) == len(RULES)
    assert not corpora(hoprank) & {*asked}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("adapter", "rule", "message"),
    [
        (Reversing, "same_passages", "expected ['tides/gauge#0', "),
        (FixedInNumber, "as_many_as_asked", "For k = 1: expected 1, got 5."),
        (Unfiltered, "filtered", f"For filters = {FILTERS[0]}: expected ['tides/gauge#0', 'tides/drum#0'], got "),
        (FilteredForGood, "filtered", "For filters = None: expected "),
        (WithoutLines, "with_sources", "'line_start': None"),
        (Nested, "with_sources", "'kind': None"),
        (Rounding, "with_scores", "For the scores: expected ["),
        (Composing, "unchanged_text", "For the text of songs/möwe 海: expected "),
        (Templating, "unchanged_text", "For the text of hostile/prompt: expected "),
        (Silent, "errors_raised", "For the error for an empty question: expected 'QuestionError', got 'none'."),
        (Translating, "errors_raised", "expected 'QuestionError', got 'ValueError'."),
        (Remembering, "own_results", "expected {'id': "),
        (Sharing, "from_many_threads", "For the answers of threads: expected "),
    ],
)
def test_a_broken_adapter_fails_its_rule(
    hoprank: HopRank,
    conforming: str,
    adapter: Callable[[HopRank, str], Retrieve],
    rule: str,
    message: str,
) -> None:
    with pytest.raises(Nonconformance) as caught:
        getattr(conformance, rule)(hoprank, conforming, adapter(hoprank, conforming))

    assert message in str(caught.value)


@pytest.mark.slow
def test_every_rule_that_is_broken_is_reported(hoprank: HopRank) -> None:
    with pytest.raises(Nonconformance) as caught:
        check_adapter(hoprank, lambda corpus: Failing(hoprank, corpus))

    first, *others = str(caught.value).splitlines()
    assert first == f"2 of {len(RULES)} rules are broken."
    assert [line.split(":")[0] for line in others] == ["filtered", "errors_raised"]
    assert "filtered: It returns only passages that match the filter, and forgets" in others[0]
    assert others[0].endswith("It raised KeyError: 'filters'")


def test_an_error_counts_as_hoprank_s_if_hoprank_s_caused_it(hoprank: HopRank, conforming: str) -> None:
    sound = Sound(hoprank, conforming)

    def wrapping(question: str, k: int, filters: Filters, /) -> Sequence[Passage]:
        try:
            return sound(question, k, filters)
        except Exception as error:
            raise RuntimeError("the retriever failed") from error

    conformance.errors_raised(hoprank, conforming, wrapping)


def test_the_corpus_is_dropped_after_an_error(hoprank: HopRank) -> None:
    with pytest.raises(KeyError) as caught, conformance.conformance_corpus(hoprank) as name:
        raise KeyError(name)

    assert caught.value.args[0] not in corpora(hoprank)
