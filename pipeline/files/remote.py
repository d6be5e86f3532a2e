"""Files by URL, opened through fsspec: an object store, a web server, the memory of the process.

A URL may hold a password or a signature. It stays whole in :class:`RemoteFile` alone, which shows it without them; what
a file system raises is told without URLs, which its words often hold.
"""

import errno
import io
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, cast
from urllib.parse import unquote

from pipeline.errors import ExtraMissing, SourceError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)(?:://|::)")
_HOST = re.compile(r"(\[[\da-fA-F:.]*\]|[^:]*)(:\d*)?")
_QUERY = re.compile(r"\?[^/]*=.*", re.DOTALL)
_PASSWORD = re.compile(r":.*@", re.DOTALL)
_URL_IN_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s'\"<>)]*")
WEB = frozenset(("http", "https"))
"""Schemes of web servers, which list nothing."""

_NAMED_PLACES = frozenset(("abfs", "abfss", "wasb", "wasbs", "az", "adl"))
"""Schemes of which what stands before ``@`` is a container, not a user."""

_LONGEST_REASON = 200  # characters; chosen by hand, not measured
_BUFFER = 1 << 20  # bytes that are read at once; chosen by hand, not measured


def is_url(path: str) -> bool:
    """Return whether ``path`` is a URL, or a chain of them as fsspec has it; one letter before ``:`` is a drive."""
    return _SCHEME.match(path) is not None


def scheme_of(url: str) -> str:
    """Return the scheme of a URL, in small letters."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def shown(path: str) -> str:
    """Return a path as it may be shown, stored and logged: a URL without user, password, query and fragment."""
    if not is_url(path):
        return path
    scheme = scheme_of(path)
    rest = path.split("://", 1)[1] if path[len(scheme) :].startswith("://") else ""
    rest = re.split(r"[?#]", rest, maxsplit=1)[0] if scheme in WEB else _QUERY.sub("", rest)
    place, slash, below = rest.partition("/")
    user, _, host = place.rpartition("@")
    if scheme in _NAMED_PLACES and ":" not in user:
        host = place
    # A password with a slash reads as a port and a path.
    is_plain = _HOST.fullmatch(host) and not _PASSWORD.search(below)
    return f"{scheme}://{host}{slash}{below}" if is_plain else f"{scheme}://..."


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file elsewhere, in place of a path: ``shown`` names it in errors and documents.

    ``place`` is its place in the file system that ``url`` names, which may be the URL of a folder above it.
    """

    url: str = field(repr=False)
    place: str = field(repr=False)
    shown: str

    def __str__(self) -> str:
        return self.shown

    @property
    def name(self) -> str:
        """The last part of its path."""
        if scheme_of(self.url) in WEB:
            below = self.shown.split("://", 1)[1].partition("/")[2]
            return unquote(below.rsplit("/", 1)[-1]).rsplit("/", 1)[-1]
        return self.place.rsplit("/", 1)[-1]

    @property
    def suffix(self) -> str:
        """The suffix of its name, with the dot."""
        return PurePosixPath(self.name).suffix

    def as_posix(self) -> str:
        """Return the URL as it is shown."""
        return self.shown

    def size(self) -> int | None:
        """Return its size in bytes; None if that can't be told."""
        with suppress(OSError, SourceError), told(self.shown):
            system, _ = opened(self.url)
            return cast("int | None", system.info(self.place).get("size"))
        return None

    def open(self) -> io.BufferedReader:
        """Open it; raises OSError if it isn't there, SourceError if it can't be had otherwise."""
        with told(self.shown):
            file = opened(self.url)[0].open(self.place, "rb")
        return io.BufferedReader(_Raw(file, self.shown), _BUFFER)

    @contextmanager
    def copied(self) -> Iterator[Path]:
        """Yield a copy on this machine, below the folders ``name=value`` right above the file, which are columns.

        Raises what :meth:`open` does.
        """
        folders = PurePosixPath(self.shown).parts[:-1]
        plain = next((at for at in range(len(folders), 0, -1) if "=" not in folders[at - 1][1:]), 0)
        with tempfile.TemporaryDirectory(prefix="hoprank-", ignore_cleanup_errors=True) as folder:
            copy = Path(folder, *folders[plain:], f"copy{self.suffix}")
            copy.parent.mkdir(parents=True, exist_ok=True)
            with self.open() as file, copy.open("wb") as target:
                shutil.copyfileobj(file, target, _BUFFER)
            yield copy


AnyPath = Path | RemoteFile
"""A file here, or elsewhere."""


class _Raw(io.RawIOBase):
    """The bytes of a file as its file system gives them, with its errors in words."""

    def __init__(self, file: Any, name: str) -> None:
        self._file = file
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with told(self._name):
            data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


def opened(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the place that it names there.

    Raises SourceError for a URL that no file system has, naming what to install; ExtraMissing without fsspec.
    """
    name = shown(url)
    try:
        import fsspec
    except ImportError as error:
        raise ExtraMissing.of("fsspec", error, "copy the files to this machine") from error
    if "::" in url.split("://", 1)[0]:
        raise SourceError(f"{name} is a chain of file systems.", "Give one URL of a file or folder.")
    try:
        with told(name):
            system, place = fsspec.core.url_to_fs(url)
    except OSError as error:
        raise SourceError(f"{name} can't be opened: {error.strerror}.", "Check the URL.") from None
    return system, str(place)


@contextmanager
def told(name: str) -> Iterator[None]:
    """Turn what a file system raises into OSError if a file isn't there, else into SourceError, without secrets.

    What can't be read for another reason than that must end a run: a sync would take it for gone.
    """
    fix = "Check the URL, the network and the credentials, and run it again; nothing was written."
    try:
        yield
    except SourceError:
        raise
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        # Its words are often the URL.
        raise FileNotFoundError(errno.ENOENT, "no such file") from None
    except ImportError as error:
        fix = f"Install what it names beside HopRank (uv pip install ...), or copy the files here: {_reason(error)}"
        raise SourceError(f"{name} can't be opened: a package is missing.", fix) from None
    # broad: file systems of other packages raise their own
    except Exception as error:
        raise SourceError(f"{name} can't be read: {_reason(error)}.", fix) from None


def _reason(error: BaseException) -> str:
    """Return what an error says, without the URLs in it: they may be signed."""
    status = getattr(error, "status", None)  # of a web server
    said = f"status {status}" if isinstance(status, int) else _URL_IN_TEXT.sub("URL", str(error)).strip().split("\n")[0]
    return f"{type(error).__name__}: {said}"[:_LONGEST_REASON].rstrip(".: ")
