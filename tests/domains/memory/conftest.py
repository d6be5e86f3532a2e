"""Memories under names of their own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest

from pipeline import HopRank
from pipeline.domains.memory.memory import AgentMemory

NewMemory = Callable[[], AbstractContextManager[AgentMemory]]


@pytest.fixture(scope="session")
def new_memory(hoprank: HopRank) -> NewMemory:
    """Make memories that are dropped when their ``with`` ends."""

    @contextmanager
    def make() -> Iterator[AgentMemory]:
        memory = AgentMemory(hoprank, f"memory-{uuid.uuid4().hex[:12]}")
        try:
            yield memory
        finally:
            memory.drop()

    return make


@pytest.fixture
def memory(new_memory: NewMemory) -> Iterator[AgentMemory]:
    """An empty memory."""
    with new_memory() as made:
        yield made
