"""Conversations with ChatGPT, Claude and Claude Code: the branch that was kept is read, and the rest is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.memory.records import Memory
from pipeline.errors import SourceError
from tests.domains.memory.chats import T1, T2, reasons, said
from tests.domains.memory.chats import read_chat as read

Nodes = dict[str, tuple[str | None, list[str], Any]]
"""Parent, children and content by the name of a node."""


def chatgpt(nodes: Nodes, current: str | None, **chat: Any) -> dict[str, Any]:
    mapping = {
        name: {"id": name, "parent": parent, "children": children, "message": content and {
            "id": name, "author": {"role": "user"}, "create_time": 1704103200.0, "content": content}}
        for name, (parent, children, content) in nodes.items()
    }  # fmt: skip
    return {"title": "Lamp", "conversation_id": "g", "current_node": current, "mapping": mapping, **chat}


def text(part: Any) -> dict[str, Any]:
    return {"content_type": "multimodal_text", "parts": [part]}


FRAMEWORKS: Nodes = {
    "root": (None, ["a"], None),
    "a": ("root", ["b", "c"], text("Which framework?")),
    "b": ("a", [], text("Express")),
    "c": ("a", ["d"], text("Hono")),
    "d": ("c", [], {"content_type": "image_asset_pointer"}),
}


def frameworks(current: str | None, **chat: Any) -> dict[str, Any]:
    made = chatgpt(FRAMEWORKS, current, create_time=1704103260.0, **chat)
    made["mapping"]["c"]["message"] |= {"author": {"role": "assistant"}, "create_time": None}
    return made


@pytest.mark.parametrize(("current", "kept"), [("d", "Hono"), ("b", "Express"), (None, "Hono")])
def test_an_export_of_chatgpt_follows_its_current_branch(tmp_path: Path, current: str | None, kept: str) -> None:
    first, second = read(tmp_path, [frameworks(current)]).memories

    assert first == Memory("g/a", "Which framework?", T1, "user", "", "g", 1, "default", "Lamp")
    assert (second.text, second.speaker) == (kept, "assistant" if kept == "Hono" else "user")
    assert second.time == (T2 if kept == "Hono" else T1)


def test_what_an_export_of_chatgpt_hides_or_has_no_text_is_skipped(tmp_path: Path) -> None:
    chat = frameworks("b")
    chat["mapping"]["b"]["message"]["metadata"] = {"is_visually_hidden_from_conversation": True}

    hidden, image = read(tmp_path, [chat]), read(tmp_path, [frameworks("d")])

    assert reasons(hidden) == ["the conversation hides it", "2 messages of branches that weren't kept"]
    assert reasons(image) == [
        "content of type image_asset_pointer has no text",
        "1 message of branches that weren't kept",
    ]
    assert image.skipped[0].source.endswith("item 1, node 'd'")


def test_conversations_of_an_export_may_share_messages(tmp_path: Path) -> None:
    memories = read(tmp_path, [frameworks("b"), frameworks("b", conversation_id="y")]).memories

    assert [memory.key for memory in memories] == ["g/a", "g/b", "y/a", "y/b"]


def test_a_tree_that_leads_in_circles_is_refused(tmp_path: Path) -> None:
    chat = frameworks("d")
    chat["mapping"]["a"]["parent"] = "d"

    with pytest.raises(SourceError, match="leads to 'd' again"):
        read(tmp_path, [chat])


def test_an_export_of_claude(tmp_path: Path) -> None:
    messages = [
        {"uuid": "u1", "sender": "human", "text": "Why?", "created_at": "2024-01-01T10:00:00Z", "attachments": [{}]},
        {"uuid": "u2", "sender": "assistant", "text": "[unsupported]", "created_at": T2,
         "content": [{"type": "text", "text": "Speed."}, {"type": "tool_use", "name": "x"}]},
    ]  # fmt: skip
    chat = {"uuid": "c", "name": "Talk", "created_at": T1, "chat_messages": messages}

    found = read(tmp_path, [chat])

    assert found.memories == (
        Memory("c/u1", "Why?", T1, "human", "", "c", 1, "default", "Talk"),
        Memory("c/u2", "Speed.", T2, "assistant", "", "c", 2, "default", "Talk"),
    )
    assert [skipped.reason for skipped in found.skipped] == [
        "an attached file isn't read",
        "the call of the tool x isn't read",
    ]


def test_either_direction_of_chatgpts_tree_may_be_incomplete(tmp_path: Path) -> None:
    upwards: Nodes = {"r": (None, [], None), "a": ("r", [], text("a")), "b": ("a", [], text("b"))}
    downwards: Nodes = {"r": (None, ["a"], None), "a": (None, ["b"], text("a")), "b": ("gone", [], text("b"))}

    for nodes in (upwards, downwards):
        for current in ("b", None):
            assert [one for _, one in said(read(tmp_path, [chatgpt(nodes, current)]))] == ["a", "b"]


def test_what_chatgpt_adds_isnt_read_and_files_are_named(tmp_path: Path) -> None:
    nodes: Nodes = {
        "p": (None, ["t"], {"content_type": "user_editable_context", "user_profile": "Captain", "text": "Captain"}),
        "t": ("p", ["v"], {"content_type": "thoughts", "thoughts": [{"content": "hm"}]}),
        "v": ("t", ["i"], text({"content_type": "audio_transcription", "text": "Spoken."})),
        "i": (
            "v",
            [],
            {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "Seen."]},
        ),
    }
    chat = chatgpt(nodes, "i")
    chat["mapping"]["i"]["message"]["metadata"] = {"attachments": [{"id": "f1", "name": "lamp.png"}]}

    found = read(tmp_path, [chat])

    assert [one for _, one in said(found)] == ["Spoken.", "Seen."]
    assert reasons(found) == [
        "the conversation hides it",
        "content of type thoughts has no text",
        "a part of type image_asset_pointer has no text",
        "the attached file lamp.png isn't read",
    ]


def test_conversations_of_chatgpt_without_messages_or_times_cost_no_other(tmp_path: Path) -> None:
    good = chatgpt({"a": (None, [], text("a"))}, "a")
    undated = chatgpt({"a": (None, [], text("b"))}, "a", conversation_id="h")
    undated["mapping"]["a"]["message"]["create_time"] = None
    torn = chatgpt({"a": (None, [], text("c"))}, "a", conversation_id="i")
    torn["mapping"]["z"] = 5

    found = read(tmp_path, [undated, chatgpt({"r": (None, [], None)}, "r"), good, torn])

    assert [one for _, one in said(found)] == ["a", "c"]
    assert reasons(found) == ["it has no date"]


def turn(uuid: str, parent: str | None, said: str, **fields: Any) -> dict[str, Any]:
    own = {"uuid": uuid, "sender": "human", "text": said, "created_at": T1}
    return {**own, **({"parent_message_uuid": parent} if parent else {}), **fields}


BRANCHED = [
    turn("a", "nil", "Which?"),
    turn("b", "a", "Express"),
    turn("c", "a", "Hono"),
    turn("d", "b", "Why Express?"),
    turn("e", "c", "Why Hono?"),
]


@pytest.mark.parametrize(
    ("leaf", "kept"),
    [
        (None, ["Which?", "Hono", "Why Hono?"]),
        ("d", ["Which?", "Express", "Why Express?"]),
        ("b", ["Which?", "Express", "Why Express?"]),
        ("gone", ["Which?", "Hono", "Why Hono?"]),
        (["d"], ["Which?", "Hono", "Why Hono?"]),
    ],
)
def test_of_claudes_branches_the_kept_one_is_read(tmp_path: Path, leaf: Any, kept: list[str]) -> None:
    found = read(tmp_path, [{"uuid": "x", "chat_messages": BRANCHED, "current_leaf_message_uuid": leaf}])

    assert [one for _, one in said(found)] == kept
    assert reasons(found) == ["2 messages of branches that weren't kept"]


@pytest.mark.parametrize(
    "messages",
    [
        [turn("a", None, "1"), turn("b", None, "2")],
        [turn("a", "gone", "1"), turn("b", "lost", "2")],
        [turn("a", "b", "1"), turn("b", "a", "2")],
        [turn("b", "a", "1"), turn("a", "nil", "2")],
        [turn("a", "a", "1"), {**turn("b", "a", "2"), "uuid": ["b"]}],
    ],
)
def test_of_claudes_messages_none_is_lost_without_a_branch(tmp_path: Path, messages: list[dict[str, Any]]) -> None:
    found = read(tmp_path, [{"uuid": "x", "chat_messages": messages}])

    assert len(found.memories) + len(found.skipped) == 2
    assert not [reason for reason in reasons(found) if "branches" in reason]


def test_claudes_attached_texts_and_artifacts_are_read(tmp_path: Path) -> None:
    pasted = [{"file_name": "paste.txt", "extracted_content": "The oil is in the shed."}, {"extracted_content": "And?"}]
    artifact = {"type": "tool_use", "name": "artifacts", "input": {"title": "Plan", "content": "Buy oil."}}
    messages = [
        turn("a", None, "Read it.", attachments=pasted, files=[{"file_name": "a.png"}, {}]),
        turn("b", "a", "", content=[artifact]),
    ]

    found = read(tmp_path, [{"uuid": "x", "chat_messages": messages}])

    texts = ["Read it.\n\npaste.txt:\nThe oil is in the shed.\n\nAnd?", "Plan\nBuy oil."]
    assert [one for _, one in said(found)] == texts
    assert reasons(found) == ["the attached file a.png isn't read", "an attached file isn't read"]


def test_calls_of_chatgpt_arent_read_but_what_it_writes_is(tmp_path: Path) -> None:
    plan = json.dumps({"name": "Plan", "type": "document", "content": "Buy oil."})
    nodes: Nodes = {
        "a": (None, ["b"], {"content_type": "code", "text": "print(1)"}),
        "b": ("a", ["c"], {"content_type": "code", "text": plan}),
        "c": ("b", [], {"content_type": "code", "text": "1 + 1"}),
    }
    chat = chatgpt(nodes, "c")
    for name, tool in (("a", "python"), ("b", "canmore.create_textdoc"), ("c", "all")):
        chat["mapping"][name]["message"]["recipient"] = tool

    found = read(tmp_path, [chat])

    assert [one for _, one in said(found)] == ["Plan\nBuy oil.", "1 + 1"]
    assert reasons(found) == ["the call of the tool python isn't read"]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("See \ue200cite\ue202turn0search0\ue201.", "See ([w](https://w.example))."),
        ("See \ue200cite\ue202turn9\ue201.", "See."),
        ('Ask \ue200entity\ue202["people","Ada Ash","x"]\ue201 now', "Ask Ada Ash now"),
        ("Oars【4†source】.", "Oars."),
        ("【港】 is \ue200 open", "【港】 is \ue200 open"),
    ],
)
def test_marks_of_chatgpt_are_read_as_they_are_shown(tmp_path: Path, written: str, shown: str) -> None:
    chat = chatgpt({"a": (None, [], text(written))}, "a")
    reference = {"matched_text": "\ue200cite\ue202turn0search0\ue201", "alt": "([w](https://w.example))"}
    chat["mapping"]["a"]["message"]["metadata"] = {"content_references": [reference, 5, {"matched_text": []}]}

    assert said(read(tmp_path, [chat])) == [("user", shown)]


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
