"""Reasoning traces: a task, the steps taken for it, the tools that they called, and the outcome, kept as a text."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.memory import AgentMemory
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.remember import Remembered, as_memory, remember
from pipeline.errors import InputError
from pipeline.files import Guard
from pipeline.files.guard import check_depth
from pipeline.files.validated import validated
from pipeline.progress import Progress

KIND, TRACE = "kind", "trace"
"""The metadata that tells traces from other memories, and its value; a filter may name it."""

_TITLE = 200  # characters of a task in the title of its trace; chosen by hand
_LONGEST = 10_000  # characters of a step, most of them its input; chosen by hand
_GUARD = Guard(InputError)

Line = Annotated[str, Field(max_length=2_000)]


class Step(BaseModel):
    """A step towards a task: what was thought, the tool that was called with its input, and what came of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    thought: Line = ""
    tool: Annotated[str, Field(max_length=200)] = ""
    input: dict[str, Any] = {}
    result: Line = ""

    def __str__(self) -> str:
        """Return the step as a line of a trace: ``thought -> tool(input): result``."""
        given = json.dumps(self.input, ensure_ascii=False, default=str) if self.input else ""
        called = f"{self.tool}({given})" if self.tool else given
        done = " -> ".join(filter(None, (self.thought.strip(), called)))
        return ": ".join(filter(None, (done, self.result.strip())))


def add_trace(
    memory: AgentMemory,
    task: str,
    steps: Sequence[Step | Mapping[str, Any]],
    outcome: str = "",
    *,
    key: str | None = None,
    date: str | None = None,
    speaker: str = "",
    session: str = "",
    scope: str | None = None,
    progress: Progress | None = None,
) -> tuple[Memory, Remembered]:
    """Remember how a task was done: its ``steps``, each with a thought, a tool, its input or a result; and the outcome.

    The trace is a text whose title is the task, so that a search for a similar task finds it; its metadata has
    ``kind: trace`` and the names of the ``tools``. The rest is as :func:`pipeline.domains.memory.remember.add_text` has
    it. Raises InputError if the task or a step is empty, or a step is malformed.
    """
    read = [_step(number, step) for number, step in enumerate(steps, 1)]
    text = "\n".join(_lines(task.strip(), read, outcome.strip())) if task.strip() else ""
    tools = ", ".join(dict.fromkeys(step.tool for step in read if step.tool))
    made = as_memory(
        memory,
        text,
        key=key,
        date=date,
        speaker=speaker,
        session=session,
        scope=scope,
        title=" ".join(task.split())[:_TITLE],
        metadata={KIND: TRACE, **({"tools": tools} if tools else {})},
    )
    return made, remember(memory, Read((made,)), progress)


def _step(number: int, step: Step | Mapping[str, Any]) -> Step:
    place = f"Step {number}"
    read = step if isinstance(step, Step) else validated(Step, step, place, _GUARD)
    with _GUARD.naming(place):
        check_depth(read.input, _GUARD)
    if not (line := str(read)):
        raise InputError(f"{place} is empty.", "Give a thought, a tool or a result.")
    if len(line) > _LONGEST:
        raise InputError(
            f"{place} has {len(line):,} characters.", f"Shorten its input, to at most {_LONGEST:,} in all."
        )
    return read


def _lines(task: str, steps: Sequence[Step], outcome: str) -> Iterator[str]:
    yield f"Task: {task}"
    yield from (f"{number}. {step}" for number, step in enumerate(steps, 1))
    if outcome:
        yield f"Outcome: {outcome}"
