"""Events that questions relate to."""

from __future__ import annotations

import pytest

from pipeline.domains.memory.search.events import event_hints


@pytest.mark.parametrize(
    ("question", "phrase", "relation"),
    [
        ("What did we use before the migration?", "migration", "before"),
        ("Which framework after we moved to Hono?", "we moved to Hono", "after"),
        ("Before the move, what did we use?", "move", "before"),
        ("Before the move who owned billing?", "move", "before"),
        ("Since the release of 2.0, who owns billing?", "release of 2.0", "after"),
        ("What did she do when her mother was ill?", "mother was ill", "on"),
        ("During the trip to Rome, what was eaten?", "trip to Rome", "on"),
        ("What did we use before the migration and why?", "migration", "before"),
        ("Where did she live before moving to Oslo?", "moving to Oslo", "before"),
        ("What broke right after the deploy?", "deploy", "after"),
        ("What was used prior to the rewrite?", "rewrite", "before"),
        ("What held until the rewrite?", "rewrite", "before"),
        ("When the server crashed, who was on call?", "server crashed", "on"),
    ],
)
def test_a_question_relates_to_an_event(question: str, phrase: str, relation: str) -> None:
    assert event_hints(question) == ((phrase, relation),)


@pytest.mark.parametrize(
    "question",
    [
        "When did Ann move?",
        "When was the release?",
        "Who looks after the servers?",
        "Who was named after the aunt?",
        "What happened after that?",
        "After all, why?",
        "What did we use before 2020?",
        "Who came after 7 May 2023?",
        "What did we use since last May?",
        "Do you know when the release was?",
        "What was there before?",
        "Which aftershave does he use?",
        "Who owns billing?",
        "",
    ],
)
def test_other_questions_relate_to_none(question: str) -> None:
    assert event_hints(question) == ()


def test_several_events_come_in_order() -> None:
    assert event_hints("What broke after the deploy but before the rollback?") == (
        ("deploy", "after"),
        ("rollback", "before"),
    )
