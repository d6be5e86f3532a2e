"""The base of all readers of foreign files: the error, the way from bytes to text, and what can't be stored.

The rules are the same for every format. Text is UTF-8, with or without a byte order mark, or UTF-16 with one. A file or
a line over the limits, bytes that aren't text, values nested too deeply and numbers of thousands of digits are refused.
Half a surrogate pair, NaN and infinities can't be stored: they are refused too, or replaced where somebody else's
content should be read as well as possible (``Guard.mend``). Of a key that a JSON object repeats, the last value counts.
"""

import codecs
import errno
import math
import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any

from pipeline.errors import HopRankError, SourceError
from pipeline.files.limits import DEFAULT_LIMITS, MEGABYTE, Limits
from pipeline.files.remote import AnyPath, RemoteFile

UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
"""Byte order marks of UTF-16."""

MEND = "Mend it, or leave it out."
AS_UTF_8 = "Convert it to UTF-8, for example with iconv -f latin1 -t utf-8."
"""The advice for bytes of another encoding."""

_MOST_BITS = 14_000
"""Bits of a whole number: Python refuses to write one of more than 4,300 digits, which are 14,281 bits."""

_LINUX = sys.platform == "linux"
_ILL_FORMED = re.compile("[\x00\ud800-\udfff]")


class Unreadable(SourceError):
    """A source can't be read; the message continues a sentence that begins with its name: ``is empty``.

    Readers turn it into an error that names the source (:class:`Guard`), or into a Skipped. ``problem`` is what is
    wrong without the format, and ``line`` the line in the text, from 1; 0 if it isn't known.
    """

    def __init__(self, message: str, fix: str = "", *, problem: str = "", line: int = 0) -> None:
        super().__init__(message, fix)
        self.problem = problem or message
        self.line = line


@dataclass(frozen=True, slots=True)
class Guard:
    """The rules of a reader: its limits, and how it reports what it refuses.

    ``error`` is the class of the errors, which name the file and the line. With :class:`Unreadable` they don't: the
    caller leaves out what can't be read, and says where it was. ``fix`` is the advice in place of the general one. With
    ``mend`` half a surrogate pair and NUL become U+FFFD, and numbers that aren't finite None.
    """

    error: type[HopRankError] = SourceError
    fix: str = ""
    limits: Limits = DEFAULT_LIMITS
    mend: bool = False

    def fault(self, place: object, problem: str, fix: str = "") -> HopRankError:
        """Return the error about what is at ``place``; ``problem`` continues the sentence: ``has no id``."""
        if self.error is Unreadable:
            return Unreadable(problem, fix or self.fix or MEND)
        return self.error(f"{place} {problem}.", fix or self.fix or MEND)

    @contextmanager
    def naming(self, place: object) -> Iterator[None]:
        """Turn Unreadable into the guard's error, which names ``place``: a path, or a path and a line."""
        try:
            yield
        except Unreadable as fault:
            raise (
                fault if self.error is Unreadable else self.fault(place, fault.message, self.fix or fault.fix)
            ) from None


GUARD = Guard()
"""Refuses what can't be stored; raises SourceError."""


def unopenable(error: OSError | ValueError) -> Unreadable:
    """Return the Unreadable for the error of opening a file or folder; a ValueError is about its name."""
    reason = getattr(error, "strerror", None) or str(error)
    return Unreadable(f"can't be read: {reason.lower()}", "Check that it is there and that you may read it.")


Folders = tuple[Path, ...] | None
"""Real folders below which a path must lead; None: anywhere."""


def real_path(path: str | Path) -> str:
    """Return where a path leads; the path itself if a link goes meanwhile, for which ``realpath`` may raise OSError."""
    try:
        return os.path.realpath(path)
    except OSError:
        return os.path.abspath(path)  # noqa: PTH100 - as realpath, a text


def open_file(path: AnyPath, limits: Limits) -> BufferedReader:
    """Open a file; raises ValueError, or OSError, also if it isn't below the folders of the limits.

    Raises SourceError for a file elsewhere that can't be had.
    """
    if isinstance(path, RemoteFile):
        return path.open()
    opener = None if limits.within is None else partial(_open_below, limits.within)
    return open(path, "rb", opener=opener)


@contextmanager
def listed(folder: Path, within: Folders) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Yield the entries of a folder, valid within the context; raises OSError, as :func:`open_file`."""
    with ExitStack() as stack:
        place: Path | int = folder
        if within is not None and os.scandir in os.supports_fd:
            stack.callback(os.close, place := _open_below(within, folder, os.O_RDONLY))
        yield stack.enter_context(os.scandir(place))


def _open_below(within: tuple[Path, ...], path: str | Path, flags: int) -> int:
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # opening a pipe would wait for its writer
    # The name may lead elsewhere by now. Where the system can't say what is open, the moment for that is only short.
    place = Path(f"/proc/self/fd/{descriptor}").readlink() if _LINUX else Path(path).resolve()
    if any(place.is_relative_to(folder) for folder in within):
        return descriptor
    os.close(descriptor)
    raise PermissionError(errno.EACCES, "it leads out of the folders that may be read")


def content_of(path: AnyPath, limits: Limits = DEFAULT_LIMITS) -> bytes:
    """Return the bytes of ``path``. Raises Unreadable if the file is too large, empty, or can't be opened."""
    try:
        with open_file(path, limits) as file:
            # reading a byte more than allowed tests the size, which may change meanwhile
            data = file.read(limits.bytes_read + 1)
    except (OSError, ValueError) as error:
        raise unopenable(error) from None
    if len(data) > limits.bytes_read:
        megabytes = limits.bytes_read / MEGABYTE
        raise Unreadable(f"is larger than {megabytes:,.6g} MB", "Split it, or raise sources.max_megabytes.")
    if not data:
        raise Unreadable("is empty", "Leave it out, or write something into it.")
    return data


def decode(data: bytes) -> str:
    """Return the text of ``data`` with ``\\n`` for every line end, so that it is the same on every platform.

    Accepts UTF-8 with or without byte order mark, and UTF-16 with byte order mark. Raises Unreadable for anything else.
    """
    encoding = "utf-16" if data.startswith(UTF_16_MARKS) else "utf-8-sig"
    if encoding != "utf-16" and b"\x00" in data:
        raise Unreadable("is binary", "Convert it to text, or leave it out.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        # the codec counts from after the byte order mark
        at = error.start + (len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        raise Unreadable(f"isn't valid {name} (at byte {at})", AS_UTF_8) from None
    if not text or text.isspace():
        raise Unreadable("is empty", "Leave it out, or write something into it.")
    return well_formed(text.replace("\r\n", "\n").replace("\r", "\n"))


def read_text(path: Path, guard: Guard = GUARD) -> str:
    """Return the text of a file; raises the guard's error, naming the file."""
    with guard.naming(path):
        return decode(content_of(path, guard.limits))


def well_formed(text: str) -> str:
    """Replace NUL and lone surrogates, which can't be stored as UTF-8, by the replacement character."""
    return text if text.isascii() and "\x00" not in text else _ILL_FORMED.sub("\N{REPLACEMENT CHARACTER}", text)


def name_in_utf_8(name: str) -> str:
    """Return the name or path of a file with its bytes that aren't UTF-8 written as ``\\xff``: two names stay two."""
    return name if name.isascii() else os.fsencode(name).decode("utf-8", "backslashreplace")


def composed(text: str) -> str:
    """Return a text in Unicode's normal form C, which people type: file systems and archives may decompose names."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def encodable(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which JSON and YAML can spell and UTF-8 can't."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_depth(value: object, guard: Guard) -> None:
    """Raise Unreadable if ``value`` is nested deeper than the guard permits."""
    level = [value]
    for _ in range(guard.limits.depth + 1):
        level = [
            inner
            for outer in level
            if isinstance(outer, Mapping | list)
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, Mapping | list)
        ]
        if not level:
            return
    raise too_deep(guard)


def too_deep(guard: Guard) -> Unreadable:
    """Return the Unreadable for a value that is nested too deeply."""
    return Unreadable("is nested too deeply", f"Flatten it to at most {guard.limits.depth} levels.")


def storable(value: Any, guard: Guard, where: str = "") -> Any:
    """Return ``value`` without what can't be stored, if the guard mends it; otherwise raise Unreadable, naming it.

    ``where`` is the path of names and places to the value: ``a.0.b``. The value must not be nested too deeply.
    """
    match value:
        case str() if guard.mend:
            return well_formed(value)
        case str() if not encodable(value):
            raise Unreadable(f"holds half a surrogate pair{where and f' in `{where}`'}", MEND)
        case float() if not math.isfinite(value):
            if guard.mend:
                return None
            raise Unreadable(f"holds {value}, which is no number{where and f', in `{where}`'}", MEND)
        case int() if value.bit_length() > _MOST_BITS:
            raise Unreadable("holds a number of thousands of digits", MEND)
        case list() | tuple() | set():
            return type(value)(
                storable(item, guard, f"{where}.{place}".lstrip(".")) for place, item in enumerate(value)
            )
        case dict():
            return {
                storable(key, guard, where): storable(item, guard, f"{where}.{key}".lstrip("."))
                for key, item in value.items()
            }
    return value
