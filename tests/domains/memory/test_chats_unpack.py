"""Exports as people download them: folders and zips of chats, within limits, and what of them is left out."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.memory.chats import unpack
from pipeline.domains.memory.chats.messages import Read
from pipeline.domains.memory.chats.read import read_files
from pipeline.errors import SourceError
from pipeline.files import Limits
from tests.domains.memory.chats import T1, said

CLAUDE = [{"uuid": "c", "chat_messages": [{"uuid": "u", "sender": "human", "text": "Where is it?", "created_at": T1}]}]
GOOD = {"conversations.json": json.dumps(CLAUDE)}
WHATSAPP = "31/12/2023, 21:45 - Ada: The kettle is on.\n"


Change = Callable[[zipfile.ZipFile], None]


def zipped(path: Path, entries: Mapping[str, str], change: Change | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        if change:
            change(archive)
    return path


def folder_of(path: Path, entries: dict[str, str]) -> Path:
    for name, content in entries.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(content, encoding="utf-8")
    return path


def left_out(found: Read, root: Path) -> dict[str, str]:
    return {skipped.source.removeprefix(f"{root}/"): skipped.reason for skipped in found.skipped}


EXPORT = {
    **GOOD,
    "users.json": json.dumps([{"uuid": "x", "full_name": "Ada"}]),
    "chat.html": "<p>Where is it?</p>",
    "images/lamp.png": "png",
    "broken.json": "{",
    "__MACOSX/._conversations.json": "\x00",
    ".DS_Store": "x",
}


@pytest.mark.parametrize("make", [zipped, folder_of])
def test_a_download_is_read_as_it_is_and_the_rest_is_named(tmp_path: Path, make: Callable[..., Path]) -> None:
    path = make(tmp_path / "export.zip" if make is zipped else tmp_path / "export", EXPORT)

    found = read_files([path])

    assert said(found) == [("human", "Where is it?")]
    assert left_out(found, path) == {
        "users.json": "it holds no chat but what belongs to them",
        "chat.html": "files of .html aren't read",
        "images/lamp.png": "files of .png aren't read",
        "broken.json": "it isn't JSON: Expecting property name enclosed in double quotes at column 2",
    }
    with pytest.raises(SourceError, match=r"export(\.zip)?/broken\.json isn't JSON"):
        read_files([path], strict=True)


def test_a_zip_gives_the_same_memories_as_its_folder(tmp_path: Path) -> None:
    slack = [{"type": "message", "user": "U1", "ts": "1704103200.000100", "text": "Tea, <@U1>?"}]
    entries = {
        "users.json": json.dumps([{"id": "U1", "name": "ada"}]),
        "deck/2024-01-01.json": json.dumps(slack),
        "_chat.txt": WHATSAPP,
        "sessions/one.jsonl": json.dumps({"text": "One.", "date": T1}),
    }

    packed = read_files([zipped(tmp_path / "team.zip", entries)])
    plain = read_files([folder_of(tmp_path / "team", entries)])

    assert packed.memories == plain.memories
    assert [memory.conversation for memory in packed.memories][:2] == ["team", "deck"]
    assert said(packed)[1] == ("ada", "Tea, @ada?")


def test_positions_in_a_zip_are_those_that_people_know(tmp_path: Path) -> None:
    messages = [{"text": 5, "date": T1}, {"text": "a", "date": T1}]
    path = zipped(tmp_path / "a.zip", {"in/chat.json": json.dumps(messages)})

    (skipped,) = read_files([path]).skipped

    assert skipped.source == f"{path}/in/chat.json, item 1"


def test_names_that_lead_out_and_what_is_no_file_are_left_out(tmp_path: Path) -> None:
    def link(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("conversations.json", "[]")

    names = ["../out.json", "/abs.json", "a/../../b.json", "C:\\d.json", "e\\..\\f.json", "x" * 300 + ".json"]
    path = zipped(tmp_path / "a.zip", {**GOOD, **dict.fromkeys(names, "[]")}, link)

    found = read_files([path])

    assert said(found) == [("human", "Where is it?")]
    reasons = left_out(found, path)
    assert set(reasons.values()) == {
        "it has a name that may lead out of the zip",
        "it isn't a regular file",
        "it has the name of another entry",
        "it can't be unpacked (OSError)",
    }
    assert len(reasons) == len(names) + 2
    assert not [one for one in tmp_path.parent.rglob("*.json") if one.name in ("out.json", "b.json", "d.json")]
    with pytest.raises(SourceError, match="may lead out of the zip"):
        read_files([path], strict=True)


def test_an_encrypted_or_damaged_entry_costs_itself_alone(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {**GOOD, "secret.json": "[]", "torn.json": "[" + "1," * 5_000 + "1]"})
    data = bytearray(path.read_bytes())
    at = data.rindex(b"secret.json") - 46  # its entry in the directory, whose flags are at 8
    data[at + 8] |= 1
    torn = data.index(b"torn.json") + len("torn.json")
    data[torn : torn + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)

    found = read_files([path])

    assert said(found) == [("human", "Where is it?")]
    assert left_out(found, path) == {"secret.json": "it is encrypted", "torn.json": "it can't be unpacked (error)"}


@pytest.mark.parametrize(
    ("entries", "limits", "problem"),
    [
        ({"a.json": "0" * 2_000_000}, Limits(bytes_read=1_000_000), "a.json is larger than 1 MB"),
        (dict.fromkeys(("a.json", "b.json"), "0" * 900_000), Limits(bytes_unpacked=1_000_000), "unpacks to more than"),
        ({"a.png": "png"}, Limits(), "holds no chats"),
        ({}, Limits(), "holds no chats"),
    ],
)  # fmt: skip
def test_a_zip_is_unpacked_within_limits(tmp_path: Path, entries: Any, limits: Limits, problem: str) -> None:
    with pytest.raises(SourceError, match=problem):
        read_files([zipped(tmp_path / "a.zip", entries)], limits=limits)


def test_a_zip_with_too_many_entries_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "_TOO_MANY", 5)
    path = zipped(tmp_path / "a.zip", {f"{number}.json": "[]" for number in range(5)})

    kind, (message, fix) = json.loads(unpack.unpack((str(path), str(tmp_path / "out"), Limits())))

    assert (kind, message) == ("unreadable", "holds 5 entries")
    assert fix.startswith("Fewer than 5 are read.")


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip", b"PK\x05\x06" + b"\xff" * 18])
def test_what_is_no_zip_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(data)

    kind, (message, _) = json.loads(unpack.unpack((str(path), str(tmp_path / "out"), Limits())))

    assert (kind, message) == ("unreadable", "isn't a zip that can be read")


def test_of_several_paths_a_zip_that_cant_be_read_costs_no_other(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.zip", zipped(tmp_path / "good.zip", GOOD)
    bad.write_bytes(b"PK")

    found = read_files([bad, good])

    assert said(found) == [("human", "Where is it?")]
    assert [(one.source, one.reason) for one in found.skipped] == [(str(bad), "it isn't a zip that can be read")]
