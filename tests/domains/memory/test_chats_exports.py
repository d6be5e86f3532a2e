"""Exports of ChatGPT and Claude: the branch that was kept is read, and what isn't read of it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.memory.records import Memory
from pipeline.errors import SourceError
from tests.domains.memory.chats import T1, T2, reasons, said
from tests.domains.memory.chats import read_chat as read


def node(name: str, parent: str | None, children: list[str], text: Any = None, **message: Any) -> dict[str, Any]:
    content = text if isinstance(text, dict) else {"content_type": "text", "parts": [text]}
    held = {"id": f"m-{name}", "author": {"role": "user"}, "create_time": 1704103200, "content": content, **message}
    return {"id": name, "parent": parent, "children": children, "message": None if text is None else held}


def exported(**fields: Any) -> dict[str, Any]:
    nodes = {
        "root": node("root", None, ["a"]),
        "a": node("a", "root", ["b", "c"], "Which framework?"),
        "b": node("b", "a", [], "Express"),
        "c": node("c", "a", ["d"], "Hono", author={"role": "assistant"}, create_time=None),
        "d": node("d", "c", [], {"content_type": "image_asset_pointer"}),
    }
    return {"title": "Move", "create_time": 1704103260.0, "mapping": nodes, "conversation_id": "x", **fields}


@pytest.mark.parametrize(
    ("current", "texts"), [("d", ["Which framework?", "Hono"]), ("b", ["Which framework?", "Express"]), (None, None)]
)
def test_an_export_of_chatgpt_follows_its_current_branch(
    tmp_path: Path, current: str | None, texts: list[str] | None
) -> None:
    memories = read(tmp_path, [exported(current_node=current)]).memories

    assert [memory.text for memory in memories] == (texts or ["Which framework?", "Hono"])
    assert memories[0] == Memory("x/m-a", "Which framework?", T1, "user", "", "x", 1, "default", "Move")
    assert current == "b" or (memories[1].speaker, memories[1].time) == ("assistant", T2)


def test_what_an_export_of_chatgpt_hides_or_has_no_text_is_skipped(tmp_path: Path) -> None:
    chat = exported()
    chat["mapping"]["b"] = node("b", "a", [], "secret", metadata={"is_visually_hidden_from_conversation": True})
    chat["current_node"] = "b"

    hidden = read(tmp_path, [chat])
    image = read(tmp_path, [exported(current_node="d")])

    assert [skipped.reason for skipped in hidden.skipped] == [
        "the conversation hides it",
        "2 messages of branches that weren't kept",
    ]
    assert [skipped.reason for skipped in image.skipped] == [
        "content of type image_asset_pointer has no text",
        "1 message of branches that weren't kept",
    ]
    assert image.skipped[0].source.endswith("item 1, node 'd'")


def test_conversations_of_an_export_may_share_messages(tmp_path: Path) -> None:
    memories = read(tmp_path, [exported(current_node="b"), exported(current_node="b", conversation_id="y")]).memories

    assert [memory.key for memory in memories] == ["x/m-a", "x/m-b", "y/m-a", "y/m-b"]


def test_a_tree_that_leads_in_circles_is_refused(tmp_path: Path) -> None:
    chat = exported(current_node="d")
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


def test_claude_names_attached_files(tmp_path: Path) -> None:
    files = {"attachments": [{"file_name": "log.txt", "extracted_content": "x"}], "files": [{"file_name": "a.png"}, {}]}
    message = {"uuid": "u", "sender": "human", "text": "Read it.", "created_at": T1, **files}

    found = read(tmp_path, [{"uuid": "c", "chat_messages": [message]}])

    assert [one for _, one in said(found)] == ["Read it.\n\nlog.txt:\nx"]
    assert reasons(found) == [
        "the attached file a.png isn't read",
        "an attached file isn't read",
    ]


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
    messages = [turn("a", None, "", attachments=pasted), turn("b", "a", "", content=[artifact])]

    found = read(tmp_path, [{"uuid": "x", "chat_messages": messages}])

    assert [one for _, one in said(found)] == ["paste.txt:\nThe oil is in the shed.\n\nAnd?", "Plan\nBuy oil."]
    assert not reasons(found)


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
