"""Chats of WhatsApp: times of all phones, and what WhatsApp writes itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipeline.domains.memory.chats.messages import Read
from pipeline.errors import SourceError
from tests.domains.memory.chats import read_chat as read
from tests.domains.memory.chats import reasons, said


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
