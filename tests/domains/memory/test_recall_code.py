"""What is recalled of code, of texts beside it, and of neither."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.code.store import scan_repository
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.recall.levels import fits
from pipeline.domains.memory.recall.recall import FoundEntity, recall
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.remember import remember
from tests.domains.memory.conftest import NewMemory
from tests.domains.memory.repositories import export

CODE = {
    "harbour/gauges.py": '"""Read the height of water from sensors."""\n\ndef height(sensor):\n    return sensor()\n',
    "harbour/berths.py": '"""Assign ships to places at the quay."""\n\n\nclass Plan:\n    """Ships by quay."""\n',
    "harbour/invoices.py": 'def total(visit):\n    """Add up the harbour dues of a visit."""\n    return sum(visit)\n',
    "harbour/mail.py": "def deliver(message, recipients):\n    pass\n",
}
SAID = (
    "I have booked the blue cabin by the lake for our summer holiday.",
    "The children want to learn how to swim before we go.",
    "My sister makes the best apple cake; she uses cardamom.",
)


@pytest.fixture(scope="module")
def both(new_memory: NewMemory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AgentMemory]:
    """A memory of code and of a conversation."""
    with new_memory() as memory:
        scan_repository(memory, export(CODE, tmp_path_factory.mktemp("code") / "harbour"))
        said = (Memory(f"said:{turn}", text, f"2026-05-0{turn}T09:00:00+00:00") for turn, text in enumerate(SAID, 1))
        remember(memory, Read(tuple(said)))
        yield memory


def names(memory: AgentMemory, question: str) -> list[str]:
    items = recall(memory, question).items
    return [item.entity.name if isinstance(item, FoundEntity) else item.key for item in items]


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("How is the water level measured?", "gauges"),
        ("Where does a vessel moor?", "berths"),
        ("What is charged for a visit?", "invoices"),
        ("Which function delivers messages to recipients?", "mail"),
    ],
)
def test_a_question_finds_the_file_that_its_summary_or_its_definitions_describe(
    both: AgentMemory, question: str, file: str
) -> None:
    assert names(both, question)[0] == f"harbour/{file}.py"


@pytest.mark.parametrize(
    ("question", "key"),
    [("Where do we spend the holiday?", "said:1"), ("What does my sister put into her cake?", "said:3")],
)
def test_code_comes_before_no_text_that_answers(both: AgentMemory, question: str, key: str) -> None:
    assert names(both, question)[0] == key


@pytest.mark.parametrize("question", ["Who won the election in Brazil?", "Which enzyme splits starch into sugars?"])
def test_what_nothing_fits_has_no_answer_unless_the_settings_take_anything(both: AgentMemory, question: str) -> None:
    assert names(both, question) == []

    anything = AgentMemory(both.hoprank, both.name)
    anything.settings = both.settings.model_copy(update={"relevance": 0.0, "entity_relevance": 0.0})
    assert recall(anything, question).items


def test_half_of_the_words_of_a_question_fit_it_as_a_near_text_does() -> None:
    text = "The keeper of Orme Lock has retired."

    assert fits("Who keeps Orme Lock?", 0.5, [(0.1, text)])
    assert fits("Who looks after the sluice?", 0.5, [(0.6, text)])
    assert not fits("Who looks after the sluice?", 0.5, [(0.4, text)])
    assert not fits("Who looks after the sluice?", 0.5, [])
    assert fits("Who looks after the sluice?", 0, [])
