"""Memories of chats: formats, keys that stay, times of sessions, and what is refused or skipped."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.domains.memory.chats.given import check_given
from pipeline.domains.memory.chats.read import read_files, read_memories
from pipeline.domains.memory.records import Memory
from pipeline.domains.memory.schema import SCHEMA
from pipeline.errors import ConfigurationError, SourceError
from pipeline.files import Limits
from tests.domains.memory.chats import T1, T2, T3


def write(folder: Path, value: Any, name: str = "chat.json") -> Path:
    path = folder / name
    lines = name.endswith("l")
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value), encoding="utf-8")
    return path


def read(folder: Path, value: Any, name: str = "chat.json", **options: Any) -> tuple[Memory, ...]:
    return read_memories(write(folder, value, name), **options).memories


def ours(*turns: dict[str, Any], **fields: Any) -> dict[str, Any]:
    session = {"session": "s1", "date": "2024-01-01T10:00:00", "turns": list(turns)}
    return {"conversation": "c1", "sessions": [session], **fields}


def test_sessions_give_memories_with_their_places(tmp_path: Path) -> None:
    chat = ours(
        {"speaker": "Ann", "text": " We moved to Hono.\n", "date": "2024-01-01T10:01:00Z"},
        {"speaker": "Bob", "text": "Why?"},
    )

    first, second = read(tmp_path, chat, scope="team", timezone="Europe/Berlin")

    assert first == Memory("c1/s1:1", " We moved to Hono.\n", T2, "Ann", "s1", "c1", 1, "team")
    assert (second.key, second.time, second.turn) == ("c1/s1:2", "2024-01-01T09:00:00+00:00", 2)


def test_keys_and_times_of_turns_are_those_of_their_places(tmp_path: Path) -> None:
    dated = {
        "conversation": 7,
        "date": T3,
        "sessions": [{"turns": [{"text": "a"}]}, {"date": T1, "turns": [{"text": "b"}]}],
    }
    chats = [ours({"text": "a"}, {"text": "b"}), {**ours({"text": "c"}), "conversation": "c2"}, dated]

    assert [(memory.key, memory.text, memory.turn, memory.time) for memory in read(tmp_path, chats)] == [
        ("c1/s1:1", "a", 1, T1),
        ("c1/s1:2", "b", 2, T1),
        ("c2/s1:1", "c", 1, T1),
        ("7/1:1", "a", 1, T3),
        ("7/2:1", "b", 1, T1),
    ]


def test_appended_turns_only_add(tmp_path: Path) -> None:
    turns = [{"speaker": "Ann", "text": text, "date": T1} for text in ("a", "", "c", "d")]

    for shape in (lambda kept: ours(*kept), list, lambda kept: {"messages": kept}):
        short, long = read(tmp_path, shape(turns[:3])), read(tmp_path, shape(turns))
        assert long[: len(short)] == short
        assert len(long) == len(short) + 1 == 3


@pytest.mark.parametrize(
    ("message", "speaker", "text", "time"),
    [
        ({"speaker": "Ann", "text": "x", "date": T1}, "Ann", "x", T1),
        ({"role": "user", "content": "x", "timestamp": 1704103200}, "user", "x", T1),
        ({"role": "user", "name": "Ann", "content": "x", "created_at": T1}, "Ann", "x", T1),
        ({"author": {"role": "tool"}, "text": "x", "time": "1704103200000"}, "tool", "x", T1),
        (
            {"name": "Ann", "content": [{"type": "text", "text": "x"}, {"type": "text", "text": "y"}], "date": T1},
            "Ann",
            "x\ny",
            T1,
        ),
        ({"name": "Ann", "text": "", "content": "x", "date": T1}, "Ann", "x", T1),
        ({"content": ["x", "y"], "date": T1}, "", "x\ny", T1),
        ({"text": "1965", "date": "1965-05-01"}, "", "1965", "1965-05-01T00:00:00+00:00"),
    ],
)
def test_messages_of_several_dialects(
    tmp_path: Path, message: dict[str, Any], speaker: str, text: str, time: str
) -> None:
    for shape, name in (([message], "a.json"), ([message], "a.jsonl"), ({"messages": [message]}, "a.json")):
        (memory,) = read(tmp_path, shape, name)
        assert (memory.speaker, memory.text, memory.time, memory.turn) == (speaker, text, time, 1)


def test_conversations_without_names_are_kept_apart(tmp_path: Path) -> None:
    keys = []
    for folder, text in (("a", "hello"), ("b", "good day")):
        (tmp_path / folder).mkdir()
        keys += [m.key for m in read(tmp_path / folder, [{"text": text, "date": T1}])]

    assert len(set(keys)) == 2
    assert all(key.startswith("chat-") and key.endswith("/:1") for key in keys)


def test_lines_of_a_benchmark_keep_id_text_and_metadata(tmp_path: Path) -> None:
    metadata: dict[str, Any] = {
        "conversation": 1,
        "session": 2,
        "turn": 3,
        "date": "2023-05-08T13:56:00",
        "speaker": "Ann",
    }
    line = {"id": "c1/s2:3", "title": "one", "text": "Ann: Hi ", "metadata": metadata}

    memories = read(tmp_path, [line], "corpus.jsonl", timezone="Europe/Berlin")

    expected = Memory(
        "1/2/c1%2Fs2:3", "Ann: Hi ", "2023-05-08T11:56:00+00:00", "Ann", "2", "1", 3, "default", "one", metadata
    )
    assert memories == (expected,)
    assert read(tmp_path, [line], "corpus.jsonl", timezone="Europe/Berlin", by_ids=True) == (
        replace(expected, key="c1/s2:3"),
    )


def test_ids_of_messages_are_those_of_their_conversation(tmp_path: Path) -> None:
    turns = [{"id": "m1", "text": "a", "date": T1}, {"id": 7, "text": "b", "date": T1}]

    assert [memory.key for memory in read(tmp_path, {"id": "x/1", "messages": turns})] == ["x%2F1/m1", "x%2F1/7"]


def test_the_same_ids_elsewhere_are_others(tmp_path: Path) -> None:
    sessions = [{"session": name, "date": T1, "turns": [{"id": 1, "text": name}]} for name in "ab"]
    chats = [
        {"id": 7, "messages": [{"id": 1, "text": "c", "date": T1}]},
        {"id": 8, "messages": [{"id": 1, "text": "d", "date": T1}]},
        {"conversation": 9, "sessions": sessions},
    ]
    lists = [[{"id": 1, "text": text, "date": T1}, {"id": 2, "text": text, "date": T1}] for text in ("e", "f")]
    (tmp_path / "other").mkdir()

    paths = [write(tmp_path, chats, "a.json"), write(tmp_path, lists[0]), write(tmp_path / "other", lists[1])]
    memories = read_files(paths).memories

    assert [memory.text for memory in memories] == ["c", "d", "a", "b", "e", "e", "f", "f"]
    assert len({memory.key for memory in memories}) == len(memories)


def test_of_texts_with_one_id_in_a_conversation_none_is_lost(tmp_path: Path) -> None:
    turns = [{"id": 1, "text": text, "date": T1} for text in ("a", "b", "b", "c")]
    path = write(tmp_path, {"id": "x", "messages": turns})

    found = read_memories(path)

    assert [memory.text for memory in found.memories] == ["a", "b", "c"]
    assert found.memories[0].key == "x/1"
    assert [skipped.reason for skipped in found.skipped] == [f"it has the `id` '1', as has {path}, message 2"]


def test_texts_that_are_empty_are_skipped_with_their_places(tmp_path: Path) -> None:
    found = read_memories(write(tmp_path, ours({"text": " \n"}, {"text": "a"}, {"content": [{"type": "image"}]})))

    assert [memory.key for memory in found.memories] == ["c1/s1:2"]
    assert [(skipped.source.rpartition(", ")[2], skipped.reason) for skipped in found.skipped] == [
        ("turn 1", "it has no text"),
        ("turn 3", "a part of type image has no text"),
    ]


def test_given_entities_and_facts_come_with_their_memory(tmp_path: Path) -> None:
    found = read_memories(write(tmp_path, ours({"text": "a", "entities": [1], "facts": [2]}, {"text": "b"})))

    (given_,) = found.given
    assert (given_.memory, given_.entities, given_.facts) == (found.memories[0], [1], [2])
    assert given_.where.endswith("session 1, turn 1")


def test_undated_messages_are_refused_or_take_the_time_given_for_them(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"item 1 has no date\.\nGive it a date"):
        read(tmp_path, [{"text": "a"}])

    (memory,) = read(tmp_path, [{"text": "a"}], undated="2024-01-01T11:00:00", timezone="Europe/Berlin")
    assert memory.time == T1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ([], "holds no messages"),
        ({"messages": []}, "holds no messages"),
        ([1], r"item 1 is 1"),
        ({"a": 1}, "has no text"),
        ([{"text": 5, "date": T1}], r"item 1 has the `text` 5: it isn't a text or a list of parts"),
        ([{"text": "a", "date": "soon"}], r"item 1: its date is 'soon'"),
        ([{"text": "a", "date": float("nan")}], r"holds NaN, which is no finite number"),
        ([{"text": "a", "date": T1, "metadata": {"x": float("nan")}}], r"holds NaN, which is no finite number"),
        ([{"text": "a", "date": T1, "metadata": 5}], r"item 1 has the `metadata` 5: .*dict"),
        ([{"text": "a \ud83d b", "date": T1}], r"holds half a surrogate pair in `0.text`"),
        ([{"text": "a\x00", "date": T1}], r"item 1 has the `text` 'a.*': it holds NUL at character 1"),
        ([{"text": "a", "date": T1, "id": "\udc00"}], r"holds half a surrogate pair in `0.id`"),
        ([{"text": "a", "date": T1, "id": [1]}], r"item 1 has the `id` \[1\]: it isn't a text or a whole number"),
        ([{"text": "a", "date": T1, "id": "x" * 501}], r"item 1 has the `id` .*: it has 501 characters"),
        ([{"text": "a", "date": T1, "id": " "}], r"item 1 has the `id` ' '"),
        ([{"text": "a", "date": T1, "turn": "one"}], r"item 1 has the `turn` 'one': .*integer"),
        ([{"text": "a", "date": T1, "speaker": ["b"]}], r"item 1 has the `speaker` \['b'\]"),
        ([{"text": "a", "date": T1, "id": key} for key in (1, "1")], r"item 2 has the `id` '1', as has .*item 1"),
        (ours({"text": "a", "turn": 2}, {"text": "b"}), r"turn 2 has the `id` 'c1/s1:2', as has"),
        ({"sessions": [5]}, r"session 1 isn't an object of names and values"),
        ({"sessions": [{"turns": {"a": 1}}]}, r"session 1 has the `turns` \{'a': 1\}: .*list"),
        ({"sessions": [{"turns": ["a"]}]}, r"session 1, turn 1 isn't an object of names and values"),
        ({"chat_messages": ["a"]}, r"message 1 isn't an object of names and values"),
        ([{"content": [5], "date": T1}], r"item 1, content, part 1 isn't an object of names and values"),
    ],
)  # fmt: skip
def test_malformed_values_are_refused_with_their_places(tmp_path: Path, value: Any, problem: str) -> None:
    with pytest.raises(SourceError, match=problem) as caught:
        read(tmp_path, value, strict=True)

    assert str(tmp_path / "chat.json") in caught.value.message
    assert caught.value.fix


BROKEN = [
    5,
    {"text": 5, "date": T1},
    {"text": "a", "date": "soon"},
    {"text": "a"},
    {"text": "a", "date": T1, "id": [1]},
    {"content": [5], "date": T1},
]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(
    "shape", [list, lambda turns: {"messages": turns}, lambda turns: {"chat_messages": turns}, ours]
)
def test_a_broken_message_costs_no_other(tmp_path: Path, shape: Any, broken: Any) -> None:
    whole = [{"text": f"whole {number}", "created_at": T1} for number in range(2)]
    turns = [whole[0], broken, whole[1]]
    chat = {"sessions": [{"turns": turns}]} if shape is ours else shape(turns)

    found = read_memories(write(tmp_path, chat))

    assert [memory.text for memory in found.memories] == ["whole 0", "whole 1"]
    (skipped,) = found.skipped
    assert skipped.source.endswith(" 2")
    assert skipped.reason


def test_a_broken_conversation_session_or_line_costs_no_other(tmp_path: Path) -> None:
    whole = ours({"text": "whole"})
    circle = {"mapping": {name: {"parent": up} for name, up in (("a", "d"), ("d", "a"))}, "current_node": "d"}
    chats = [circle, {"sessions": [5, *whole["sessions"]]}, {"messages": {}, "mapping": 1}, {"a": 1}]

    conversations = read_memories(write(tmp_path, chats))
    (tmp_path / "lines.jsonl").write_text(f'{json.dumps(whole)}\n{{"text": \n\n{json.dumps(ours({"text": "b"}))[:-9]}')
    lines = read_memories(tmp_path / "lines.jsonl")

    assert [memory.text for memory in conversations.memories] == ["whole"]
    places = [skipped.source.partition("chat.json, ")[2] for skipped in conversations.skipped]
    assert places == ["item 1", "item 2, session 1", "item 3", "item 4"]
    assert [memory.text for memory in lines.memories] == ["whole"]
    assert [skipped.source.rpartition(", ")[2] for skipped in lines.skipped] == ["line 2", "line 4"]


def test_of_several_files_one_that_cant_be_read_is_named(tmp_path: Path) -> None:
    good, bad = write(tmp_path, [{"text": "a", "date": T1}]), write(tmp_path, {"a": 1}, "bad.json")

    found = read_files([bad, good])

    assert [memory.text for memory in found.memories] == ["a"]
    assert [(skipped.source, skipped.reason) for skipped in found.skipped] == [(str(bad), "it has no text")]
    for paths, strict in (([bad], False), ([bad, bad], False), ([good, bad], True)):
        with pytest.raises(SourceError, match=r"bad\.json has no text"):
            read_files(paths, strict=strict)
    with pytest.raises(SourceError, match="no such file"):
        read_files([good, tmp_path / "none.json"])


def test_a_file_without_any_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"holds no message with a text: 1 part left out, .*message 1, since it has"):
        read(tmp_path, {"messages": [{"text": " ", "date": T1}]})


@pytest.mark.parametrize(
    ("data", "name", "problem"),
    [
        (b"", "a.json", "is empty"),
        (b"{", "a.json", "isn't JSON: .* at column 2"),
        (b'{"text": "a", "date": 1}\n{]', "a.jsonl", "line 2 isn't JSON"),
        (b"[" * 100_000, "a.json", "nested too deeply"),
        (b"\xff\xfe\xff", "a.json", "isn't valid"),
        (b'{"text": "\xff"}', "a.jsonl", "line 1 isn't valid UTF-8"),
        (b'{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "date": 1}', "a.jsonl", "line 1 is longer than"),
        (b'[{"text": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "date": 1}]', "a.json", "is larger than"),
        (b"[" + b"1" * 5000 + b"]", "a.json", "isn't JSON that can be read"),
        (b"\n\n", "a.jsonl", "holds no messages"),
    ],
)
def test_files_that_cant_be_read_are_refused(tmp_path: Path, data: bytes, name: str, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    limits = Limits(bytes_read=50 if " than" in problem else 1_000_000)

    with pytest.raises(SourceError, match=problem) as caught:
        read_memories(path, limits=limits, strict=True)
    assert str(path) in caught.value.message


def test_a_missing_file_and_an_unknown_zone_are_told(tmp_path: Path) -> None:
    for name in ("none.json", "none.jsonl"):
        with pytest.raises(SourceError, match="can't be read: no such file"):
            read_memories(tmp_path / name)
    with pytest.raises(ConfigurationError):
        read(tmp_path, [{"text": "a", "date": T1}], timezone="Moon/Sea")


@given(
    st.lists(
        st.tuples(st.sampled_from(["a/b", "a", "b:1", "%2F", "a%2Fb"]), st.sampled_from(["", "1", "b/1"])), max_size=8
    )
)
def test_derived_keys_are_unique_and_stable(
    tmp_path_factory: pytest.TempPathFactory, places: list[tuple[str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("keys")
    messages = [{"conversation": c, "session": s, "text": "x", "date": T1} for c, s in places]

    if messages:
        first, again = read(folder, messages), read(folder, messages, "other.jsonl")
        assert [memory.key for memory in first] == [memory.key for memory in again]
        assert len({memory.key for memory in first}) == len(messages)


FIELDS = st.sampled_from(
    "id speaker author name role text content date session turn title metadata entities facts sessions turns messages "
    "mapping current_node parent children message parts type chat_messages attachments source target valid_at "
    "confidence aliases guild channel ts thread_ts user blocks elements subtype user_profile real_name files embeds "
    "mentions text_entities href poll answers from_id chats list uuid sessionId leafUuid summary snapshot content_type "
    "parts isMeta timestamp parent_message_uuid current_leaf_message_uuid extracted_content recipient "
    "content_references matched_text alt forwardedMessage todo_list contact_information input preview "
    "comment deleted_ts".split()
)
LEAVES = st.none() | st.booleans() | st.integers(-5, 2**60) | st.sampled_from(["", "a", "2024-01-01", "a\x00"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5), max_leaves=25
)


@settings(max_examples=300)
@given(VALUES)
def test_any_value_is_read_or_refused_as_a_source(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = write(tmp_path_factory.mktemp("any"), value)

    with suppress(SourceError):
        for item in read_memories(path, undated=T1).given:
            check_given(item, SCHEMA, ZoneInfo("UTC"))
