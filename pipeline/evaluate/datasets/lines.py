"""The lines of a queryset's files, each with where it stands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.errors import QuerySetError

JSONL_FIX = "Write one JSON object a line, with a non-empty {}."


def records(path: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield where it stands and the JSON object of every line."""
    for where, line in lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # ValueError also for a number of thousands of digits
            raise QuerySetError(f"{where}: this is not JSON: {error}", JSONL_FIX.format('"id"')) from error
        if not isinstance(record, dict):
            raise QuerySetError(f"{where}: this is not a JSON object", JSONL_FIX.format('"id"'))
        yield where, record


def field(record: Mapping[str, object], names: tuple[str, ...], where: str) -> str:
    """Return the first of ``names`` that the record has; whole numbers become text, as qrels.tsv writes them."""
    name = next((name for name in names if name in record), names[0])
    value = record.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    # JSON can spell half of a surrogate pair, which neither the server nor a UTF-8 file can hold.
    if not isinstance(value, str) or not value.strip() or not encodable(value):
        found = f"is {value!r:.80}" if name in record else "is missing"
        raise QuerySetError(f"{where}: the field {name!r} {found}", JSONL_FIX.format(f'"{names[0]}"'))
    return value


def lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield ``path:line``, counted from 1, and the text of every line that isn't blank.

    Lines end at line feeds only: JSON strings may hold the other separators of Unicode.
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
    """Whether a text is free of halves of surrogate pairs."""
    return not any("\ud800" <= character <= "\udfff" for character in text)
