"""The face of the domain: the page's code, and what it finds by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline import HopRank, Memory
from pipeline.errors import GraphError
from tests.domains.memory.conftest import NewMemory
from tests.domains.python_page import run_section

CHAT = '{"id": "c1", "text": "The standup is at nine.", "time": "2026-01-05", "session": "standup"}\n'


@pytest.mark.slow
def test_the_code_of_the_page_runs(
    hoprank: HopRank, new_memory: NewMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chat.jsonl").write_text(CHAT)
    (tmp_path / "api-server").mkdir()
    (tmp_path / "api-server" / "main.py").write_text("def serve():\n    pass\n")
    monkeypatch.chdir(tmp_path)

    with new_memory() as opened:
        names = run_section("Memory", hoprank=hoprank, Memory=lambda hoprank, _: Memory(hoprank, opened.name))
        memory = Memory(hoprank, opened.name)

        assert names["found"].items  # type: ignore[attr-defined]
        assert [fact.invalid_at for fact in memory.history("api-server", "depends_on") if not fact.expired_at] == [
            "2026-09-01T00:00:00+00:00"
        ]
        assert [one.entity.name for one in names["related"]] == ["hono"]  # type: ignore[attr-defined]
        assert len(names["forgotten"].memories) == 1  # type: ignore[attr-defined]
        with pytest.raises(GraphError, match="no entity 'express'"):
            memory.fact("api-server", "depends_on", "express")
