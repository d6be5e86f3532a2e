"""Sessions of Claude Code: the turns are read, and what isn't one is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.domains.memory.chats import read_chat as read
from tests.domains.memory.chats import reasons, said


def line(uuid: str, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": role, "sessionId": "s1", "uuid": uuid, "timestamp": "2024-01-01T10:00:00.000Z",
            "message": {"role": role, "content": content}, **fields}  # fmt: skip


def test_a_session_of_claude_code(tmp_path: Path) -> None:
    lines = [
        {"type": "summary", "summary": "Tides moved", "leafUuid": "u2"},
        {"type": "summary", "summary": "Another day", "leafUuid": "elsewhere"},
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        line("u1", "user", "Where is it?"),
        line("u2", "assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "In tide.toml."},
                                 {"type": "tool_use", "name": "Read", "input": {}}]),
        line("u3", "user", [{"type": "tool_result", "tool_use_id": "t", "content": "x = 1"}]),
        line("u4", "user", "<caveat>", isMeta=True),
        line("u5", "user", "Look for tides.", isSidechain=True),
        {"type": "system", "sessionId": "s1", "uuid": "u6", "content": "compacted"},
    ]  # fmt: skip

    found = read(tmp_path, lines, "s1.jsonl")

    assert said(found) == [("user", "Where is it?"), ("assistant", "In tide.toml."), ("user", "Look for tides.")]
    assert [(memory.key, memory.session, memory.title) for memory in found.memories] == [
        ("s1/u1", "", "Tides moved"),
        ("s1/u2", "", "Tides moved"),
        ("s1/u5", "sidechain", "Tides moved"),
    ]
    assert reasons(found) == [
        "it sums up a session that isn't in this file",
        "a line of type file-history-snapshot is no turn",
        "a part of type thinking has no text",
        "the call of the tool Read isn't read",
        "the result of a tool isn't read",
        "the session hides it",
        "a line of type system is no turn",
    ]
