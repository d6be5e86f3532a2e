"""JSON of a whole file, and files that are read line by line: JSON Lines and tab-separated values."""

import json
import math
import re
from collections.abc import Generator
from dataclasses import dataclass
from functools import partial
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from pipeline.files.guard import (
    AS_UTF_8,
    GUARD,
    MEND,
    UTF_16_MARKS,
    Guard,
    Unreadable,
    check_depth,
    encodable,
    open_file,
    read_text,
    storable,
    too_deep,
    unopenable,
)
from pipeline.files.limits import Limits
from pipeline.files.remote import AnyPath

_ESCAPED = re.compile(r"\\u(?:[dD]|0000)")
"""The spelling in JSON of half a surrogate pair, or NUL; a whole pair begins like this, too."""

_SHAPES = bytes.maketrans(b"123456789E", b"000000000e")
_MAY_OVERFLOW = (b"e000", b"e+000", b"0" * 300, b"NaN", b"Infinity")
"""The shapes in JSON of numbers that may not be finite; a text without one of them holds none."""

_NOT_UTF_8 = re.compile("[\udc80-\udcff]")


def _finite(text: str, *, mend: bool = False) -> float | None:
    value = float(text)
    if not math.isfinite(value) and not mend:
        raise Unreadable(f"holds {text:.20}, which is no finite number", "Write null in its place.")
    return value if math.isfinite(value) else None


_mended = partial(_finite, mend=True)
_STRICT = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)
_PLAIN = json.JSONDecoder()
_MENDING = json.JSONDecoder(parse_float=_mended, parse_constant=_mended)


def read_json(path: Path, guard: Guard = GUARD) -> Any:
    """Return the value of a JSON file; raises the guard's error, naming the file and the place in it."""
    text = read_text(path, guard)
    with guard.naming(path):
        return parse_json(text, guard)


def parse_json(text: str, guard: Guard = GUARD) -> Any:
    """Return the value of a JSON text. Raises Unreadable."""
    careful = _MENDING if guard.mend else _STRICT
    try:
        # The careful one calls Python for each number, of which a vector has hundreds.
        value = (careful if _may_overflow(text) else _PLAIN).decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise Unreadable(f"isn't JSON: {error.msg} at {place}", MEND, line=error.lineno) from None
    except ValueError:  # Python limits the digits of a whole number that it reads
        raise Unreadable("isn't JSON that can be read: it holds a number of thousands of digits", MEND) from None
    except RecursionError:
        raise too_deep(guard) from None
    if text.count("[") + text.count("{") > guard.limits.depth:
        check_depth(value, guard)
    return storable(value, guard) if _ESCAPED.search(text) or not encodable(text) else value


def _may_overflow(text: str) -> bool:
    # A pattern with \d takes 10 to 20 times as long, and four times as long as decoding the text.
    shape = text.encode(errors="replace").translate(_SHAPES)
    return any(part in shape for part in _MAY_OVERFLOW)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a file that isn't blank, or of a table a row as JSON, as ``unit`` says.

    Its number counts from 1, and blank lines too.
    """

    path: AnyPath
    number: int
    content: str | Unreadable
    guard: Guard = GUARD
    unit: str = "line"

    @property
    def place(self) -> str:
        """The name of the line in errors: ``file.jsonl, line 7``."""
        return f"{self.path}, {self.unit} {self.number}"

    @property
    def text(self) -> str:
        """The text without its end; raises the guard's error if the line is too long or no text."""
        if isinstance(self.content, str):
            return self.content
        with self.guard.naming(self.place):
            raise self.content

    def json(self) -> Any:
        """Return the JSON value of the line; raises the guard's error."""
        text = self.text
        with self.guard.naming(self.place):
            return parse_json(text, self.guard)

    def object(self) -> dict[str, Any]:
        """Return the JSON object of the line; raises the guard's error."""
        value = self.json()
        if not isinstance(value, dict):
            raise self.fault("isn't a JSON object")
        return value

    def columns(self, count: int) -> list[str]:
        """Return the ``count`` texts that tabs separate, none of them empty; raises the guard's error."""
        columns = self.text.rstrip().split("\t")
        if len(columns) != count or not all(columns):
            raise self.fault(f"hasn't {count} columns separated by tabs, none of them empty: {self.text!r:.100}")
        return columns

    def fault(self, problem: str, fix: str = "") -> Exception:
        """Return the guard's error about this line; ``problem`` continues the sentence: ``has no id``."""
        return self.guard.fault(self.place, problem, fix)


def lines(path: AnyPath, guard: Guard = GUARD) -> Generator[Line]:
    """Yield the lines of a file that aren't blank, read one at a time.

    Only line feeds end a line, since JSON strings may hold the other separators of Unicode. The file is closed at the
    end, or with the generator. Raises the guard's error if
    the file can't be opened; a line that can't be read raises it when it is asked for its text.
    """
    most = guard.limits.bytes_read
    number = 0
    with guard.naming(path), _opened(path, guard.limits) as file:
        try:
            while text := file.readline(most + 1):
                number += 1
                if not text.isspace():
                    yield Line(path, number, _checked(text, most), guard)
                while len(text) > most and not text.endswith("\n"):
                    text = file.readline(most + 1)
        except UnicodeDecodeError:
            raise guard.fault(f"{path}, line {number + 1}", "isn't valid UTF-16, or a line soon after it") from None
        except OSError as error:
            raise unopenable(error) from None


def _opened(path: AnyPath, limits: Limits) -> TextIO:
    try:
        file = open_file(path, limits)
        marked = file.peek(2)[:2] in UTF_16_MARKS
        # surrogateescape keeps bad bytes, so that the error can name their line
        encoding, errors = ("utf-16", "strict") if marked else ("utf-8-sig", "surrogateescape")
        return TextIOWrapper(file, encoding, errors, newline="\n")
    except (OSError, ValueError) as error:
        raise unopenable(error) from None


def _checked(text: str, most: int) -> str | Unreadable:
    if len(text) > most:
        return Unreadable(f"is longer than {most:,} characters", "Split it, or raise sources.max_megabytes.")
    if not text.isascii() and _NOT_UTF_8.search(text):
        return Unreadable("isn't valid UTF-8", AS_UTF_8)
    return Unreadable("is binary", "Convert it to text, or leave it out.") if "\x00" in text else text.rstrip("\r\n")
