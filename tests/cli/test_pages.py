"""``hoprank help``: topics listed, a page drawn on a terminal and plain when piped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pipeline import docs
from pipeline.cli.app import app
from pipeline.docs import read_page, read_pages, topics
from pipeline.registry import registry
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


def test_the_pages_of_domains_follow_knowledge_graphs() -> None:
    names = [domain.name for domain in registry().domains]

    assert TOPICS[TOPICS.index("knowledge") + 1 :][: len(names) + 1] == (*names, "python")
    assert TOPICS[-1] == "domains"


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


def test_an_unknown_topic_is_wrong_input_and_answered_with_the_nearest() -> None:
    result = shown("evaluation")

    assert result.exit_code == 2
    assert "There is no topic 'evaluation'.\nDid you mean 'evaluate'?" in result.output


def test_a_topic_like_none_is_answered_with_all() -> None:
    result = shown("xyzzy")

    assert result.exit_code == 2
    assert f"Topics: {', '.join(TOPICS)}." in result.output


def test_the_shell_completes_topics() -> None:
    asked = {"_HOPRANK_COMPLETE": "complete_bash", "COMP_WORDS": "hoprank help s", "COMP_CWORD": "2"}
    code = "from pipeline.cli import main; main()"

    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True, check=True
    )

    assert result.stdout.split() == ["scale", "search", "skills", "serve", "settings", "server", "security"]


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
