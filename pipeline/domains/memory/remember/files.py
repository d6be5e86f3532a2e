"""Read the values of a .json or .jsonl file, with their positions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.errors import SourceError
from pipeline.ingest.sources.decode import decode
from pipeline.ingest.sources.source import Unreadable, content_of, unopenable
from pipeline.limits import MEGABYTE, Limits


def values(path: Path, limits: Limits) -> Iterator[tuple[str, Any]]:
    """Yield the values of a file, each with its position as errors name it: ``chat.jsonl, line 3``.

    These are the lines of a .jsonl file, the items of a list, or the single value of a file. Half a surrogate pair and
    NaN are read as they are; the checks of fields refuse them. Raises SourceError.
    """
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _lines(path, limits)
        return
    try:
        value = _parsed(decode(content_of(path, limits)))
    except Unreadable as error:
        raise SourceError(f"{path} {error.message}.", error.fix) from None
    if isinstance(value, list):
        yield from ((f"{path}, item {number}", item) for number, item in enumerate(value, 1))
    else:
        yield str(path), value


def _lines(path: Path, limits: Limits) -> Iterator[tuple[str, Any]]:
    number = 0
    try:
        with path.open("rb") as file:
            while line := file.readline(limits.bytes_read + 1):
                number += 1
                if line.strip():
                    yield f"{path}, line {number}", _parsed(_decoded(line, limits))
    except OSError as error:
        problem = unopenable(error)
        raise SourceError(f"{path} {problem.message}.", problem.fix) from None
    except Unreadable as error:
        raise SourceError(f"{path}, line {number} {error.message}.", error.fix) from None


def _decoded(line: bytes, limits: Limits) -> str:
    if len(line) > limits.bytes_read:
        raise Unreadable(
            f"is larger than {limits.bytes_read / MEGABYTE:,.6g} MB", "Split it, or raise sources.max_megabytes."
        )
    return decode(line.rstrip())


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}" if "\n" in text.strip() else f"column {error.colno}"
        raise Unreadable(f"isn't JSON: {error.msg} at {place}", "Mend it, or export it again.") from None
    except ValueError as error:  # an integer of thousands of digits
        raise Unreadable(f"isn't JSON that can be read: {error}", "Mend it, or export it again.") from None
    except RecursionError:
        raise Unreadable("is nested too deeply", "Flatten it.") from None
