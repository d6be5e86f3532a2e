"""``hoprank help``: topics listed, a page drawn on a terminal and plain when piped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import docs
from pipeline.cli.app import app
from pipeline.docs import read_page, read_pages, topics
from pipeline.retrieve.scoring.features import RERANKER
from pipeline.settings import load_settings
from tests.benchmarks import measured, measured_page

TOPICS = tuple(topics())


def shown(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(app, ["help", *arguments], env=environment)


def test_every_page_has_its_topic_and_every_topic_its_page() -> None:
    here = Path(docs.__file__).parent
    files = {*here.glob("*.md"), *(here.parent / "domains").rglob("README.md")}

    assert set(topics().values()) == files


def test_the_topics_are_listed_with_the_first_lines_of_their_pages() -> None:
    lines = shown().stdout.splitlines()

    assert [line.split(maxsplit=1) for line in lines[: len(TOPICS)]] == [
        [page.topic, page.summary] for page in read_pages()
    ]


@pytest.mark.parametrize("topic", TOPICS)
def test_a_page_is_plain_markdown_when_piped(topic: str) -> None:
    assert shown(topic).stdout == read_page(topic).text


def test_a_page_is_drawn_on_a_terminal() -> None:
    drawn = shown("search", FORCE_COLOR="1", COLUMNS="120").stdout

    assert "\x1b[" in drawn
    assert "## Filters" not in drawn
    assert "](" not in drawn
    assert ".md" not in drawn


@pytest.mark.parametrize(
    ("topic", "says"),
    [
        ("evaluation", "There is no topic 'evaluation'.\nDid you mean 'evaluate'?"),
        ("xyzzy", f"Topics: {', '.join(TOPICS)}."),
    ],
)
def test_an_unknown_topic_is_answered_with_the_nearest_or_all(topic: str, says: str) -> None:
    result = shown(topic)

    assert result.exit_code == 2
    assert says in result.output


def test_the_page_of_figures_and_the_readme_state_what_was_measured() -> None:
    results = json.loads(measured.RESULTS.read_text(encoding="utf-8"))

    assert measured.PAGE.read_text(encoding="utf-8") == measured_page.page(results)
    readme = measured.README.read_text(encoding="utf-8")
    assert readme == measured_page.with_table(readme, results)
    assert measured_page.BEGIN in readme


def test_the_shipped_weights_are_those_that_tune_learned() -> None:
    learned = json.loads(measured.RESULTS.read_text(encoding="utf-8"))["shipped"]["learned"]
    shipped = load_settings()

    # Learning starts from the shipped confidence in names, which moves the seeds of the walk a little.
    assert shipped.weights.names.model_dump() == pytest.approx(learned["names"], rel=0.02)
    for table, weights in learned["scorer"].items():
        # That of a reranker is chosen by hand, since none is shipped.
        fitted, given = (
            {name: weight for name, weight in of.items() if name != RERANKER}
            for of in (weights, getattr(shipped.weights.scorer, table))
        )
        assert given == pytest.approx(fitted, rel=0.02)
