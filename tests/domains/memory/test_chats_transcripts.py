"""Sessions of Claude Code: the turns are read, and what isn't one is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.parametrize(
    ("content", "shown", "reason"),
    [
        ("<command-message>x</command-message>\n<command-name>/init</command-name>\n<command-args>quay</command-args>",
         "/init quay", ""),
        ("<local-command-stdout>done</local-command-stdout>", "", "the output of a command isn't read"),
        ("<bash-input>ls</bash-input>", "ls", ""),
        ([{"type": "text", "text": "Where? <system-reminder>be brief</system-reminder>"}], "Where?", ""),
        ("Where? <system-reminder>not closed", "Where? <system-reminder>not closed", ""),
        ("What is <command-name> for?", "What is <command-name> for?", ""),
        ("[Request interrupted by user for tool use]", "", "it is a note of the system"),
    ],
)  # fmt: skip
def test_what_claude_code_adds_to_a_turn_isnt_read(tmp_path: Path, content: Any, shown: str, reason: str) -> None:
    found = read(tmp_path, [line("u1", "user", content), line("u2", "user", "Kept.")], "s1.jsonl")

    assert [one for _, one in said(found)] == ([shown] if shown else []) + ["Kept."]
    assert reasons(found) == ([reason] if reason else [])


def test_summaries_and_faults_of_the_service_are_no_turns(tmp_path: Path) -> None:
    lines = [
        line("u1", "user", "This session is being continued.", isCompactSummary=True),
        line("u2", "assistant", "API Error: 500", isApiErrorMessage=True),
        line("u3", "user", "Kept."),
    ]

    found = read(tmp_path, lines, "s1.jsonl")

    assert said(found) == [("user", "Kept.")]
    assert reasons(found) == ["it sums up the turns before it", "it is an error of the service"]
