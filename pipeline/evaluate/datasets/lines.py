"""The lines of a dataset's files, each with its place for messages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.errors import QuerySetError

JSONL_FIX = "Write one JSON object a line, with a non-empty {}."


def records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the place and the JSON object of every line."""
    for where, line in lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError also for a number of thousands of digits
            raise QuerySetError(f"{where}: this is not JSON: {error}", JSONL_FIX.format('"id"')) from error
        if not isinstance(record, dict):
            raise QuerySetError(f"{where}: this is not a JSON object", JSONL_FIX.format('"id"'))
        yield where, record


def field(record: Mapping[str, object], names: tuple[str, ...], where: str) -> str:
    """Return the field of the first of ``names`` that the record has; integers become text, as in qrels.tsv."""
    name = next((name for name in names if name in record), names[0])
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    # JSON can hold half of a surrogate pair; the server and UTF-8 files can't.
    if not isinstance(value, str) or not value.strip() or not encodable(value):
        fault = f"is {value!r:.80}" if name in record else "is missing"
        raise QuerySetError(f"{where}: the field {name!r} {fault}", JSONL_FIX.format(f'"{names[0]}"'))
    return value


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield ``path:line``, counted from 1, and the text of every line that isn't blank.

    Lines end at line feeds only, since JSON strings may contain the other line separators of Unicode.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if line.strip():
                    yield f"{path}:{number}", line
    except UnicodeDecodeError as error:
        raise QuerySetError(f"{path}:{number}: this is not UTF-8: {error}", "Save the file as UTF-8.") from error
    except OSError as error:
        raise QuerySetError(
            f"{path} can't be read: {error.strerror}", f"Put a readable {path.name} into the queryset's folder."
        ) from error


def encodable(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
