"""Exports of chats: what people see of each message is read, and what isn't read of it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.chats.read import read_memories
from pipeline.errors import SourceError

T1 = "2024-01-01T10:00:00+00:00"


def read(folder: Path, value: Any, name: str = "chat.json", **options: Any) -> Read:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    text = value if isinstance(value, str) else json.dumps(value)
    path.write_text("\n".join(map(json.dumps, value)) if name.endswith("l") else text, encoding="utf-8")
    return read_memories(path, **options)


def said(found: Read) -> list[tuple[str, str]]:
    return [(memory.speaker, memory.text) for memory in found.memories]


def reasons(found: Read) -> list[str]:
    return [skipped.reason for skipped in found.skipped]


def telegram(*messages: dict[str, Any], **chat: Any) -> dict[str, Any]:
    dated = [{"id": place, "date": "2024-01-01T10:00:00", **item} for place, item in enumerate(messages, 1)]
    return {"name": "Crew", "type": "private_group", "id": 7, "messages": dated, **chat}


def test_telegram_marks_up_parts_of_texts(tmp_path: Path) -> None:
    text = ["We dine at ", {"type": "bold", "text": "noon"}, " in ",
            {"type": "text_link", "text": "the mess", "href": "https://mess.example"}, "."]  # fmt: skip

    found = read(tmp_path, telegram({"type": "message", "from": "Ada", "date_unixtime": "1704103200", "text": text}))

    (memory,) = found.memories
    assert (memory.key, memory.text) == ("7/1", "We dine at noon in the mess.\nhttps://mess.example")
    assert (memory.speaker, memory.time, memory.title) == ("Ada", T1, "Crew")


def test_telegram_names_what_it_leaves_out(tmp_path: Path) -> None:
    chat = telegram(
        {"type": "service", "actor": "Ada", "action": "create_group", "text": ""},
        {"type": "message", "from": None, "from_id": "user5", "text": "See the map.", "photo": "photos/1.jpg"},
        {"type": "message", "from": "Bo", "text": "", "file": "f/2.pdf", "file_name": "2.pdf"},
        {"type": "message", "from": "Bo", "text": "", "poll": {"question": "Tea?", "answers": [{"text": "Yes"}]}},
        {"type": "message", "from": "Bo", "text": {"a": 1}},
    )

    found = read(tmp_path, chat)

    assert said(found) == [("user5", "See the map."), ("Bo", "Tea?\nYes")]
    assert reasons(found)[:3] == [
        "it is a note of the system (create_group)",
        "the attached file photo isn't read",
        "the attached file 2.pdf isn't read",
    ]
    assert "isn't a text or a list of parts" in reasons(found)[3]


def test_a_whole_export_of_telegram_holds_several_chats(tmp_path: Path) -> None:
    chats = [telegram({"type": "message", "from": "Ada", "text": ["a"]}, id=id_) for id_ in (7, 8)]

    found = read(tmp_path, {"about": "all", "chats": {"list": chats}, "left_chats": {"list": [{**chats[0], "id": 9}]}})

    assert [memory.key for memory in found.memories] == ["7/1", "8/1", "9/1"]


def slack(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"type": "message", "user": "U1", "ts": f"17041032{place:02}.000100", **item} for place, item in
            enumerate(messages)]  # fmt: skip


def test_slack_names_people_channels_and_links(tmp_path: Path) -> None:
    users = [{"id": "U2", "name": "bo", "profile": {"real_name": "Bo Birch"}}, {"id": "U3", "name": "cy"}, 5]
    (tmp_path / "users.json").write_text(json.dumps(users))
    text = "<@U2> &amp; <@U3>, see <https://w.example/a?b&amp;c|the wiki> in <#C1|general> &lt;now&gt; <!here> <@U9>"

    messages = slack({"text": text, "user_profile": {"real_name": "Ada Ash"}}, {"text": "I do.", "user": "U2"})
    found = read(tmp_path, messages, "general/2024-01-01.json")

    assert said(found) == [
        ("Ada Ash", "@Bo Birch & @cy, see the wiki in #general <now> @here @U9\nhttps://w.example/a?b&c"),
        ("Bo Birch", "I do."),
    ]
    assert [memory.key for memory in found.memories] == ["general/1704103200.000100", "general/1704103201.000100"]
    assert found.memories[0].time == "2024-01-01T10:00:00.000100+00:00"


def test_slack_keeps_threads_together_and_channels_apart(tmp_path: Path) -> None:
    root = "1704103200.000100"
    messages = slack({"text": "Who has the key?"}, {"text": "Tea?"}, {"text": "I.", "thread_ts": root})

    found = [read(tmp_path, messages, f"{channel}/2024-01-01.json").memories for channel in ("deck", "hold")]

    assert [memory.session for memory in found[0]] == [root, "", root]
    assert len({memory.key for memories in found for memory in memories}) == 6


def test_slack_names_what_it_leaves_out(tmp_path: Path) -> None:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "Pump "}, {"type": "user",
               "user_id": "U1"}, {"type": "link", "url": "https://p.example", "text": "log"}]}  # fmt: skip
    messages = slack(
        {"subtype": "channel_join", "text": "<@U1> has joined the channel"},
        {"text": "", "files": [{"id": "F1", "name": "plan.pdf"}]},
        {"text": "", "blocks": [{"type": "rich_text", "elements": [section]}]},
        {"text": "", "subtype": "bot_message", "username": "ci", "user": None,
         "attachments": [{"fallback": "x", "title": "Build 7", "text": "It failed."}]},
        {"text": "The topic is oil.", "subtype": "channel_topic"},
        {"text": 7},
    )  # fmt: skip

    found = read(tmp_path, messages)

    assert said(found) == [
        ("U1", "Pump @U1log\nhttps://p.example"),
        ("ci", "Build 7\nIt failed."),
        ("U1", "The topic is oil."),
    ]
    assert reasons(found)[:2] == [
        "it is a note of the system (channel_join)",
        "the attached file plan.pdf isn't read",
    ]
    assert "isn't a text" in reasons(found)[2]


def test_discord_as_its_exporter_writes_it(tmp_path: Path) -> None:
    author = {"id": "5", "name": "ada", "nickname": "Ada"}
    messages = [
        {"id": "100", "type": "Default", "timestamp": "2024-01-01T10:00:00.123+00:00", "author": author,
         "content": "<@6> rows <:oar:99> well.", "mentions": [{"id": "6", "name": "bo", "nickname": "Bo"}]},
        {"id": "101", "type": "Reply", "timestamp": T1, "author": {"name": "bo"}, "content": "",
         "attachments": [{"fileName": "x.png"}], "embeds": [{"title": "Tides", "description": "High at six."}]},
        {"id": "102", "type": "GuildMemberJoin", "timestamp": T1, "author": author, "content": "Joined the server."},
    ]  # fmt: skip
    chat = {"guild": {"name": "Port"}, "channel": {"id": "2", "name": "quay"}, "messages": messages}

    found = read(tmp_path, chat)

    assert said(found) == [("Ada", "@Bo rows :oar: well."), ("bo", "Tides\nHigh at six.")]
    assert [(memory.key, memory.title) for memory in found.memories] == [("2/100", "quay"), ("2/101", "quay")]
    assert reasons(found) == [
        "the attached file x.png isn't read",
        "it is a note of the system (GuildMemberJoin)",
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

    assert [one for _, one in said(found)] == ["Read it."]
    assert reasons(found) == [
        "the attached file log.txt isn't read",
        "the attached file a.png isn't read",
        "an attached file isn't read",
    ]


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


def whatsapp(folder: Path, *lines: str, name: str = "WhatsApp Chat with Ada.txt", **options: Any) -> Read:
    return read(folder, "\n".join(lines) + "\n", name, **options)


@pytest.mark.parametrize(
    ("head", "time"),
    [
        ("31/12/2023, 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("12/31/23, 9:45 PM - ", "2023-12-31T21:45:00+00:00"),
        ("12/31/23, 12:05\u202fAM - ", "2023-12-31T00:05:00+00:00"),
        ("31.12.23, 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("31/12/23, 9:45 p. m. - ", "2023-12-31T21:45:00+00:00"),
        ("2023-12-31, 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("[31.12.23, 21:45:10] ", "2023-12-31T21:45:10+00:00"),
        ("\u200e[12/31/23, 9:45:10\u202fPM] ", "2023-12-31T21:45:10+00:00"),
        ("[2023/12/31 21:45:10] ", "2023-12-31T21:45:10+00:00"),
        ("31-12-2023 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("31/12/2023 à 21:45 - ", "2023-12-31T21:45:00+00:00"),
    ],
)
def test_times_of_whatsapp_are_those_of_the_phone(tmp_path: Path, head: str, time: str) -> None:
    (memory,) = whatsapp(tmp_path, f"{head}Ada: The kettle is on.").memories

    assert (memory.time, memory.speaker, memory.text) == (time, "Ada", "The kettle is on.")
    assert memory.conversation == memory.title == "WhatsApp Chat with Ada"


def test_whatsapps_days_come_before_months_unless_that_is_impossible(tmp_path: Path) -> None:
    day = whatsapp(tmp_path, "3/4/24, 10:00 - Ada: a", "13/4/24, 10:00 - Ada: b")
    month = whatsapp(tmp_path, "3/4/24, 10:00 - Ada: a", "4/1/24, 10:00 - Ada: b")
    either = whatsapp(tmp_path, "3/4/24, 10:00 - Ada: a")

    assert [found.memories[0].time[:10] for found in (day, month, either)] == ["2024-04-03", "2024-03-04", "2024-04-03"]
    assert [reasons(found) for found in (day, month)] == [[], []]
    assert reasons(either) == ["days such as 3/4/24 are read with the day first"]


def test_whatsapps_own_lines_are_named_and_texts_may_have_several(tmp_path: Path) -> None:
    found = whatsapp(
        tmp_path,
        "31/12/2023, 21:40 - Messages and calls are end-to-end encrypted. Tap to learn more.",
        '31/12/2023, 21:41 - Ada changed the subject to "Trip: Rome"',
        "31/12/2023, 21:42 - Ada: Bring:",
        "",
        "- tea, 10:30 - or so",
        "31/12/2023, 21:42 - +49 170 1234567: <Media omitted>",
        "31/12/2023, 21:43 - Bo: IMG-1.jpg (file attached)",
        "The old quay",
        "31/12/2023, 21:44 - Bo: This message was deleted",
        "31/12/2023, 21:45 - Bo: \u200eimage omitted",
        "31/12/2023, 21:46 - Bo: ok <This message was edited>",
        "31/12/2023, 21:46 - Bo: ok",
        "31/12/2023, 21:46 - Bo: ok",
    )

    assert said(found) == [
        ("Ada", "Bring:\n\n- tea, 10:30 - or so"),
        ("Bo", "The old quay"),
        ("Bo", "ok"),
        ("Bo", "ok"),
        ("Bo", "ok"),
    ]
    assert len({memory.key for memory in found.memories}) == 5
    assert reasons(found) == [
        "it is a note of the system",
        "it is a note of the system",
        "its content isn't in the export: <Media omitted>",
        "the attached file IMG-1.jpg isn't read",
        "it was deleted",
        "its content isn't in the export: image omitted",
    ]


def test_a_later_export_of_whatsapp_adds_only_what_is_new(tmp_path: Path) -> None:
    lines = [f"31/12/2023, 21:4{minute} - Ada: {minute}" for minute in range(5)]

    first, later = whatsapp(tmp_path, *lines[:3]).memories, whatsapp(tmp_path, *lines[1:]).memories

    assert [memory.key for memory in later[:2]] == [memory.key for memory in first[1:]]
    assert len({memory.key for memory in (*first, *later)}) == 5


def test_a_text_that_is_no_chat_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="isn't a chat of WhatsApp"):
        whatsapp(tmp_path, "Dear Ada,", "at 21:45 - no.")
