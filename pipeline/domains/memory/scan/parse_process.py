"""A process that parses the larger files, for hostile code may take a parser any time and memory, or crash it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from pydantic import TypeAdapter

from pipeline.bounded import BoundedProcess, Bounds, Ended
from pipeline.code.parse import CPU_SECONDS, SMALL
from pipeline.domains.memory.scan.parsed import LARGEST, ParsedFile, is_parsed, parse_file
from pipeline.limits import Limits


class FileParser(AbstractContextManager["FileParser"]):
    """Parses files; not thread-safe. A file that exceeds its limits counts as one without syntax."""

    def __init__(self, limits: Limits) -> None:
        self._bounds = Bounds(limits.seconds, limits.bytes_of_memory, CPU_SECONDS)
        self._process = BoundedProcess(f"{__name__}:{answer.__name__}")

    def __exit__(self, *raised: object) -> None:
        self._process.__exit__(*raised)

    def parse(self, path: str, data: bytes) -> ParsedFile:
        """Return the file ``path`` with the content ``data``."""
        if len(data) <= SMALL or len(data) > LARGEST or not is_parsed(path):
            return parse_file(path, data)
        try:
            return _files().validate_json(self._process.call((path, data), self._bounds))
        except Ended:
            return ParsedFile(path)


def answer(request: tuple[str, bytes]) -> bytes:
    """Answer a request within the process."""
    return _files().dump_json(parse_file(*request))


@cache
def _files() -> TypeAdapter[ParsedFile]:
    return TypeAdapter(ParsedFile)
