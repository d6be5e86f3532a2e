"""Exports of team chats: what people see of each message is read, and what isn't read of it is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.domains.memory.chats import T1, reasons, said
from tests.domains.memory.chats import read_chat as read


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


def test_telegrams_polls_lists_contacts_and_places_are_read(tmp_path: Path) -> None:
    def rich(words: str) -> list[dict[str, str]]:
        return [{"type": "plain", "text": words}]

    chat = telegram(
        {"from": "Bo", "text": "", "poll": {"question": rich("Tea?"), "answers": [{"text": rich("Yes")}]}},
        {"from": "Bo", "text": "", "todo_list": {"title": "Buy", "items": [{"text": "oil"}, {"text": rich("rope")}]}},
        {"from": "Bo", "text": "", "contact_information": {"first_name": "Cy", "phone_number": "+49"}},
        {"from": "Bo", "text": "", "place_name": "Quay", "address": "Pier 9"},
        {"from": "Bo", "text": None, "poll": 5, "todo_list": [1], "contact_information": "x", "address": 7},
    )

    found = read(tmp_path, chat)

    assert [one for _, one in said(found)] == ["Tea?\nYes", "Buy\noil\nrope", "Cy +49", "Quay\nPier 9"]
    assert reasons(found) == ["it has no text"]


def test_slack_says_what_was_changed_and_deleted(tmp_path: Path) -> None:
    first, second, third = "1704103200.000100", "1704103201.000100", "1704103202.000100"
    messages = slack(
        {"text": "The key is in box A."},
        {"text": "Tea?"},
        {"text": "Kept."},
        {"subtype": "message_changed", "message": {"user": "U1", "ts": first, "text": "In box B."}},
        {"subtype": "message_changed", "message": {"user": "U1", "ts": first, "text": "In box C."}},
        {"subtype": "message_deleted", "deleted_ts": second},
        {"subtype": "message_changed", "message": 5},
    )

    found = read(tmp_path, messages)

    assert [(memory.text, memory.key.rpartition("/")[2]) for memory in found.memories] == [
        ("Kept.", third),
        ("In box C.", first),
    ]
    assert reasons(found) == [
        "it was changed later",
        "it was deleted later",
        "it was changed later",
        "it says that a message was deleted",
        "it has no text",
    ]


def test_slacks_lists_name_channels_and_those_who_talk(tmp_path: Path) -> None:
    lists: dict[str, Any] = {
        "users": [{"id": "U1", "real_name": "Ada Ash"}, {"id": "U2", "name": "bo"}],
        "channels": [{"id": "C1", "name": "deck"}, {"id": "C2"}, 5],
        "dms": [{"id": "D1", "members": ["U1", "U2"]}],
        "groups": {"no": "list"},
    }
    for name, value in lists.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    messages = slack({"text": "See <#C1> and <#C9>."}, {"text": "", "files": [{"name": "code.txt", "preview": "7"}]})

    found = [read(tmp_path, messages, f"{folder}/2024-01-01.json").memories for folder in ("deck", "D1", "old")]

    assert [one.text for one in found[0]] == ["See #deck and #C9.", "code.txt:\n7"]
    assert [memories[0].title for memories in found] == ["deck", "Ada Ash, bo", ""]
    assert {memory.speaker for memories in found for memory in memories} == {"Ada Ash"}


def test_discords_forwarded_messages_and_polls_are_read(tmp_path: Path) -> None:
    forwarded = {"content": "The boiler is cold.", "attachments": [{"fileName": "b.png"}]}
    poll = {"question": {"text": "Tea?"}, "answers": [{"text": "Yes"}, 5]}
    own = {"type": "Default", "timestamp": T1, "author": {"name": "ada"}, "content": ""}
    messages = [{"id": "1", **own, "forwardedMessage": forwarded}, {"id": "2", **own, "poll": poll}]

    found = read(tmp_path, {"guild": {}, "channel": {"id": "2"}, "messages": messages})

    assert said(found) == [("ada", "The boiler is cold."), ("ada", "Tea?\nYes")]
    assert reasons(found) == ["the attached file b.png isn't read"]


def test_a_text_is_kept_beside_previews_and_embeds(tmp_path: Path) -> None:
    previews = [{"title": "Build 7", "text": "It failed."}, {"title": "Log"}]
    embed = {"id": "1", "timestamp": T1, "author": {"name": "ada"}, "content": "Look:", "embeds": [{"title": "Tides"}]}

    team = read(tmp_path, slack({"text": "Who mends <|it>?", "attachments": previews}))
    channel = read(tmp_path, {"guild": {}, "channel": {"id": "2"}, "messages": [embed]})

    assert said(team) == [("U1", "Who mends it?\nBuild 7\nIt failed.\nLog")]
    assert said(channel) == [("ada", "Look:\nTides")]
