"""Subtitles of both formats: running text, paragraphs at pauses, no numbers, times or styles."""

from __future__ import annotations

import pytest

from pipeline.files import Unreadable
from pipeline.ingest.sources.formats import parser_of
from pipeline.ingest.sources.source import Source
from pipeline.records import Document

SRT = """\
1
00:00:01,000 --> 00:00:03,000
<i>The harbour fee</i>
is forty

2
00:00:03,200 --> 00:00:05,000
{\\an8}crowns a night.

3
01:00:09,500 --> 01:00:11,000
Good night.
"""
VTT = """\
WEBVTT

NOTE made by hand

intro
00:01.000 --> 00:03.000 align:start
<v Ada>The tide turns.
"""


def parsed(text: str) -> Document:
    return parser_of("subtitles")(Source("a-talk.srt", "/root/a-talk.srt", text.encode()))


def test_what_is_said_is_running_text_in_paragraphs() -> None:
    found = parsed(SRT.replace("\n", "\r\n"))

    assert found.title == "a talk"
    assert found.text == "The harbour fee is forty crowns a night.\n\nGood night."
    assert len(found.blocks) == 2


def test_webvtt_is_read_too() -> None:
    assert parsed(VTT).text == "Ada: The tide turns."


def test_subtitles_are_read_in_the_encoding_of_older_programs() -> None:
    said = "1\n00:00:01,000 --> 00:00:02,000\nDie Gebühr beträgt vierzig Kronen für jede Nacht."

    found = parser_of("subtitles")(Source("a.srt", "/root/a.srt", said.encode("cp1252")))
    assert found.text == "Die Gebühr beträgt vierzig Kronen für jede Nacht."


def test_without_a_cue_there_is_no_text() -> None:
    with pytest.raises(Unreadable, match="has no text"):
        parsed(f"WEBVTT\n\nNOTE nothing is said\n\n{'9' * 5_000}:00:01.0 --> 00:02.0\n")
