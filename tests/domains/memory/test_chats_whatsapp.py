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
        ("2023. 12. 31. 오후 9:45, ", "2023-12-31T21:45:00+00:00"),
        ("2023년 12월 31일 오전 12:05, ", "2023-12-31T00:05:00+00:00"),
        ("2023/12/31 下午9:45 - ", "2023-12-31T21:45:00+00:00"),
        ("[2023/12/31 上午12:05:10] ", "2023-12-31T00:05:10+00:00"),
        ("2023年12月31日 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("\u200f٣١/١٢/٢٠٢٣، ٩:٤٥ م - ", "2023-12-31T21:45:00+00:00"),
        ("31.12.2023 ÖS 9:45 - ", "2023-12-31T21:45:00+00:00"),
        ("31/12/23, 9:45 μ.μ. - ", "2023-12-31T21:45:00+00:00"),
        ("31.12.23 г., 21:45 ч. - ", "2023-12-31T21:45:00+00:00"),
        ("31.12.2023 klo 21.45 - ", "2023-12-31T21:45:00+00:00"),
        ("2023-12-31 kl. 21:45 - ", "2023-12-31T21:45:00+00:00"),
        ("21:45, 31/12/2023 - ", "2023-12-31T21:45:00+00:00"),
        ("[21:45:10, 31/12/2023] ", "2023-12-31T21:45:10+00:00"),
        ("31/12/23, सुबह 9:45 - ", "2023-12-31T09:45:00+00:00"),
        ("31/12/2566 21:45 - ", "2023-12-31T21:45:00+00:00"),
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


@pytest.mark.parametrize(
    "line",
    ["The log says", "12/31/23, arrival 9:45 - bring tea", "3.4.24 10:00, as agreed", "at 21:45 - no", "9:45 - a: b"],
)
def test_a_line_that_speaks_of_a_time_begins_no_message(tmp_path: Path, line: str) -> None:
    (memory,) = whatsapp(tmp_path, "31/12/2023, 21:45 - Ada: See:", line).memories

    assert memory.text == f"See:\n{line}"


def test_lines_before_the_first_message_and_unknown_halves_of_a_day_are_said(tmp_path: Path) -> None:
    found = whatsapp(tmp_path, "Exported by Ada", "", "31/12/2023, 9:45 ξξ - Ada: a")

    assert [memory.time for memory in found.memories] == ["2023-12-31T09:45:00+00:00"]
    assert reasons(found) == [
        "1 line before the first message",
        "times with 'ξξ' are read as of 24 hours, since the word isn't known",
    ]


def test_a_speaker_may_have_quotes_and_notes_of_whatsapp_may_have_colons(tmp_path: Path) -> None:
    texts = [
        'Ben "Ten" Fox: hello',
        "Ada hat den Betreff zu „Trip: Rome“ geändert",
        "Ada changed the subject from “A” to “B: C”",
        "Ada a changé le sujet en « Voyage : Rome »",
    ]

    found = whatsapp(tmp_path, *(f"31/12/2023, 21:45 - {text}" for text in texts))

    assert said(found) == [('Ben "Ten" Fox', "hello")]
    assert reasons(found) == ["it is a note of the system"] * 3


@pytest.mark.parametrize(
    ("text", "rest", "reason"),
    [
        ("<Medien ausgeschlossen>", "", "its content isn't in the export: <Medien ausgeschlossen>"),
        ("Bild weggelassen", "", "its content isn't in the export: Bild weggelassen"),
        ("\u200eimagen omitida", "", "its content isn't in the export: imagen omitida"),
        ("\u200eoar.pdf • \u200e3 pages \u200edocument omitted", "", "its content isn't in the export: oar.pdf"),
        ("The quay \u200eimage omitted", "The quay", "its content isn't in the export: image omitted"),
        ("\u200evideo omitted\nThe quay", "The quay", "its content isn't in the export: video omitted"),
        ("The quay \u200e<attached: 01.jpg>", "The quay ", "the attached file 01.jpg isn't read"),
        ("\u200e<pièce jointe : 01.jpg>", "", "the attached file 01.jpg isn't read"),
        ("Se eliminó este mensaje.", "", "it was deleted"),
        ("null", "", "its content isn't in the export: null"),
        ("\u200eAda added you", "", "WhatsApp wrote it: Ada added you"),
        ("Hallo <Diese Nachricht wurde bearbeitet.>", "Hallo", ""),
        ("ok \u200e<ez egy szerkesztett üzenet>", "ok", ""),
        ("<p>The quay</p>", "<p>The quay</p>", ""),
        ("Come, @\u2068Bo Birch\u2069", "Come, @Bo Birch", ""),
        ("The video omitted", "The video omitted", ""),
    ],
)
def test_what_stands_for_files_and_marks_of_whatsapp_is_no_text(
    tmp_path: Path, text: str, rest: str, reason: str
) -> None:
    found = whatsapp(tmp_path, "31/12/2023, 21:44 - Bo: a", f"31/12/2023, 21:45 - Ada: {text}")

    assert [one for _, one in said(found)][1:] == ([rest] if rest else [])
    assert "".join(reasons(found)).startswith(reason)
    assert bool(reasons(found)) == bool(reason)
