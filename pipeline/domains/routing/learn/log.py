"""The log of which projects were opened and asked together, which is kept only if ``routing.log`` is true.

It is a file of JSON Lines for its owner alone, in HopRank's home. A line holds a time to the minute, the graph, the
project that was opened, and those that were asked for: no questions, no answers, no paths.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from pipeline.domains.routing.settings import RoutingSettings
from pipeline.errors import ConfigurationError
from pipeline.settings import Settings
from pipeline.temporary import replacing

_LARGEST = 1_000_000
"""Bytes, of about 8,000 lines: more than one writes by hand in the days that they are kept. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The project ``opened`` at a time, in whose folder a command ran or from which a question came; "" if none.

    ``asked`` are the projects that the question named, or that ``--project`` did.
    """

    time: datetime
    graph: str
    opened: str
    asked: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        time = self.time.isoformat(timespec="minutes")
        return {"time": time, "graph": self.graph, "opened": self.opened, "asked": list(self.asked)}


class Log:
    """The log of a home: its ``path``, and whether it ``is_kept``. Lines are kept for so many ``days``."""

    def __init__(self, path: Path, days: float, *, is_kept: bool = True) -> None:
        self.path = path
        self.is_kept = is_kept
        self._days = timedelta(days=days)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the log that the settings say."""
        own = settings.section(RoutingSettings)
        return cls(settings.data_home / "routing-log.jsonl", own.log_days, is_kept=own.log)

    def add(self, graph: str, opened: str, asked: Iterable[str], now: datetime) -> None:
        """Add a line, and remove those that are too old or too many; nothing if no project is named.

        Raises ConfigurationError if the file can't be written.
        """
        asked = tuple(sorted(set(asked) - {opened}))
        if not (self.is_kept and (opened or asked)):
            return
        entry = Entry(now.astimezone(UTC).replace(second=0, microsecond=0), graph, opened, asked)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "a", encoding="utf-8") as file:
                os.chmod(self.path, 0o600)  # noqa: PTH101 - a file that was there may have another mode
                file.write(_line(entry))
            self._shorten(now)
        except OSError as error:
            fix = "Make it writable, or set routing.log to false."
            raise ConfigurationError(f"The log {self.path} can't be written: {error.strerror}.", fix) from error

    def read(self, now: datetime, graph: str | None = None) -> list[Entry]:
        """Return the entries of a graph, by default of all, in order of time; without those that are too old.

        What is no entry is left out.
        """
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").splitlines()
        except FileNotFoundError:
            return []
        found = (entry for line in lines if (entry := _entry(line)) and entry.time >= now - self._days)
        return sorted((one for one in found if graph in (None, one.graph)), key=lambda entry: entry.time)

    def delete(self) -> bool:
        """Delete the file; return whether there was one."""
        there = self.path.exists()
        self.path.unlink(missing_ok=True)
        return there

    def _shorten(self, now: datetime) -> None:
        with self.path.open(encoding="utf-8", errors="replace") as file:
            first = _entry(file.readline())
        if first and first.time >= now - self._days and self.path.stat().st_size <= _LARGEST:
            return
        kept = list(map(_line, self.read(now)))
        while sum(map(len, kept)) > _LARGEST / 2:  # so that not every further line shortens it again
            kept = kept[len(kept) // 2 :]
        with replacing(self.path) as partial:
            partial.touch(0o600)
            partial.write_text("".join(kept), encoding="utf-8")


def _line(entry: Entry) -> str:
    return json.dumps(entry.to_json()) + "\n"


def _entry(line: str) -> Entry | None:
    try:
        fields = json.loads(line)
        time = datetime.fromisoformat(fields["time"]).astimezone(UTC)
        return Entry(time, str(fields["graph"]), str(fields["opened"]), tuple(map(str, fields["asked"])))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None
