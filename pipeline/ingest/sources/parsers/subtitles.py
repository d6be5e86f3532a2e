"""Subtitles, SRT and WebVTT: what is said as running text, a paragraph from pause to pause."""

import re
from collections.abc import Iterator

from pipeline.ingest.sources.parsers.encodings import decoded_page
from pipeline.ingest.sources.source import Source, TextBuilder
from pipeline.records import BlockKind, Document

_CLOCK = r"(?:(\d{1,4}):)?(\d\d?):(\d\d?)[.,](\d{1,3})"
_TIMES = re.compile(rf"[ \t]*{_CLOCK}[ \t]*-->[ \t]*{_CLOCK}[^\n]*")
_VOICE = re.compile(r"<v(?:\.[^<> \n]*)? ([^<>\n]*)>")
_STYLES = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
_PAUSE = 4.0
"""Seconds without words that end a paragraph. Chosen by hand; not measured."""


def parse(source: Source) -> Document:
    """Return subtitles as a document without their numbers, times and styles. Raises Unreadable."""
    built = TextBuilder()
    ended = 0.0
    for start, end, words in _cues(decoded_page(source.data).split("\n")):
        if start - ended >= _PAUSE:
            built.close(BlockKind.PARAGRAPH)
        built.write(f" {words}")
        ended = end
    built.close(BlockKind.PARAGRAPH)
    return built.document(source, source.stem, "Leave it out, or name it after its format.")


def _cues(lines: list[str]) -> Iterator[tuple[float, float, str]]:
    """Yield the start, the end and the words of each cue: the lines from its times to the next empty one."""
    at = 0
    while at < len(lines):
        times = _TIMES.fullmatch(lines[at])
        at += 1
        if times is None:
            continue
        first = at
        while at < len(lines) and lines[at].strip():
            at += 1
        words = _STYLES.sub("", _VOICE.sub(r"\1: ", " ".join(lines[first:at])))
        yield _seconds(times.groups()[:4]), _seconds(times.groups()[4:]), words


def _seconds(clock: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = clock
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + float(f"{seconds}.{fraction}")
