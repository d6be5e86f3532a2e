"""The files of chats: one by itself, those below a folder, and those in a zip, as exports are downloaded.

A zip is unpacked in a process of its own, within limits of time, memory and size, and of it only what may be a chat.
"""

import json
import re
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from pipeline.bounded import BoundedProcess, Bounds, Ended
from pipeline.errors import SourceError
from pipeline.files import Limits, Unreadable
from pipeline.files.guard import composed, open_file, unopenable
from pipeline.files.limits import MEGABYTE
from pipeline.ingest.sources.walk import find
from pipeline.records import Skipped

CHATS = (".json", ".jsonl", ".ndjson", ".txt")
"""Suffixes of the files that may hold chats."""

_BESIDE = frozenset(
    (
        *("users", "org_users", "channels", "groups", "dms", "mpims", "integration_logs", "canvases", "lists"),  # Slack
        *("user", "user_settings", "message_feedback", "model_comparisons", "shared_conversations"),  # ChatGPT
        *("projects", "memories"),  # Claude
    )
)
"""Names of files that exports have beside their chats: people, channels, settings, judgements of answers."""

_TOO_MANY = 100_000
"""Entries of a zip from which on it is refused: an export of years has some thousands. Chosen by hand."""

_SECRET, _UTF_8 = 0x1, 0x800
"""Flags of an entry: it is encrypted; its name is in UTF-8."""

_DRIVE = re.compile(r"[A-Za-z]:")
_PIECE = 1_000_000  # bytes that are unpacked at a time


@dataclass(frozen=True, slots=True)
class ChatFile:
    """A file that may hold chats, at ``path`` now; ``shown`` is where people know it from, if that is elsewhere."""

    path: Path
    limits: Limits
    shown: str = ""

    def placed(self, text: str) -> str:
        """Return a text in which the file is named as people know it."""
        return text.replace(str(self.path), self.shown) if self.shown else text


class Refused(NamedTuple):
    """A file that can't be read, by its place, and the error about it."""

    place: str
    error: SourceError


def chat_files(path: Path, limits: Limits) -> Iterator[ChatFile | Skipped | Refused]:
    """Yield the files of chats at a path, and what isn't one or can't be read; of a zip each is there until the next.

    Raises SourceError if a folder or zip can't be read.
    """
    if path.suffix.lower() == ".zip" and not path.is_dir():
        with tempfile.TemporaryDirectory(prefix="hoprank-", ignore_cleanup_errors=True) as made:
            folder = Path(made).resolve() / path.stem
            yield from _unpacked(path, folder, limits)
            for item in _below(folder, replace(limits, within=None)) if folder.is_dir() else ():
                if isinstance(item, ChatFile):
                    yield replace(item, shown=f"{path}/{item.path.relative_to(folder).as_posix()}")
                elif isinstance(item, Skipped):
                    yield Skipped(item.source.replace(str(folder), str(path)), item.reason)
    elif path.is_dir():
        yield from _below(path, limits)
    else:
        yield ChatFile(path, limits)


def _below(folder: Path, limits: Limits) -> Iterator[ChatFile | Skipped]:
    for item in find(str(folder), within=limits.within):
        if isinstance(item, Skipped):
            yield item
        elif reason := _left_out(item.path.name):
            yield Skipped(str(item.path), reason)
        else:
            yield ChatFile(item.path, limits)


def _left_out(name: str) -> str:
    """Return why a file of an export is left out by its name; empty if it may hold chats."""
    place = PurePosixPath(name)
    beside = place.suffix.lower() == ".json" and place.stem in _BESIDE
    return _other_kind(name) or ("it holds no chat but what belongs to them" if beside else "")


def _other_kind(name: str) -> str:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in CHATS:
        return ""
    return f"files of {suffix} aren't read" if suffix else "files without a suffix aren't read"


def _unpacked(path: Path, folder: Path, limits: Limits) -> list[Skipped | Refused]:
    """Unpack the files of chats in a zip into a folder; return what isn't one or can't be read. Raises SourceError."""
    request = str(path), str(folder), limits
    with BoundedProcess(f"{__name__}:unpack") as process:
        try:
            kind, value = json.loads(process.call(request, Bounds(limits.seconds, limits.bytes_of_memory)))
        except Ended as error:
            raise SourceError(f"{path} can't be unpacked within the limits ({type(error).__name__}).", _FIX) from None
    if kind == "unreadable":
        raise SourceError(f"{path} {value[0]}.", value[1])
    left_out = [(f"{path}/{name}", what, is_fault) for name, what, is_fault in value]
    return [Refused(at, SourceError(f"{at} {what}.", _FIX)) if bad else Skipped(at, what) for at, what, bad in left_out]


_FIX = "Unpack it, and give its files."


def unpack(request: tuple[str, str, Limits]) -> bytes:
    """Answer a request within the process: the path of a zip, the folder for its files, and the limits."""
    path, folder, limits = request
    try:
        with open_file(Path(path), limits) as file, zipfile.ZipFile(file) as archive:
            left_out = list(_extracted(archive, Path(folder), limits))
        return json.dumps(("left out", left_out)).encode()
    except Unreadable as error:
        fault = error
    except (zipfile.BadZipFile, EOFError):
        fault = Unreadable("isn't a zip that can be read", "Download it again, or unpack it.")
    except (OSError, ValueError) as error:
        fault = unopenable(error)
    return json.dumps(("unreadable", (fault.message, fault.fix))).encode()


def _extracted(archive: zipfile.ZipFile, folder: Path, limits: Limits) -> Iterator[tuple[str, str, bool]]:
    """Unpack the files of chats; yield the others, by name: why, and if that is a fault. Raises Unreadable."""
    room = limits.bytes_unpacked
    entries = archive.infolist()
    if len(entries) >= _TOO_MANY:
        raise Unreadable(f"holds {len(entries):,} entries", f"Fewer than {_TOO_MANY:,} are read. {_FIX}")
    for entry in entries:
        name = _name_of(entry)
        parts = PurePosixPath(name).parts
        if entry.is_dir() or any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts):
            continue
        other = "" if (fault := _unsafe(name, entry)) else _other_kind(name)
        fault = fault or ("" if other else _written(archive, entry, folder / name, limits, room))
        if fault or other:
            yield name, fault or other, bool(fault)
        else:
            room -= (folder / name).stat().st_size
        if room <= 0:
            megabytes = limits.bytes_unpacked / MEGABYTE
            fix = f"Raise sources.max_unpacked_megabytes. {_FIX}"
            raise Unreadable(f"unpacks to more than {megabytes:,.6g} MB", fix)


def _name_of(entry: zipfile.ZipInfo) -> str:
    """Return the name of an entry; many programs write UTF-8 without saying so."""
    name = entry.filename
    if not entry.flag_bits & _UTF_8 and not name.isascii():
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return composed(name)


def _unsafe(name: str, entry: zipfile.ZipInfo) -> str:
    """Return why an entry isn't unpacked whatever it holds; empty if nothing speaks against it."""
    parts = name.split("/")
    if ".." in parts or "" in parts or "\\" in name or "\x00" in name or _DRIVE.match(name):
        return "has a name that may lead out of the zip"
    mode = entry.external_attr >> 16
    if stat.S_ISLNK(mode) or (stat.S_IFMT(mode) and not stat.S_ISREG(mode)):
        return "isn't a regular file"
    return "is encrypted" if entry.flag_bits & _SECRET else ""


def _written(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, limits: Limits, room: int) -> str:
    """Write an entry to a file; return why it can't be, else nothing. What it says of its size isn't believed."""
    most = min(limits.bytes_read + 1, room)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as packed, target.open("xb") as file:
            while most > 0 and (piece := packed.read(min(_PIECE, most))):
                file.write(piece)
                most -= len(piece)
    except FileExistsError:
        return "has the name of another entry"
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        with suppress(OSError):
            target.unlink()
        return f"can't be unpacked ({type(error).__name__})"
    return ""
