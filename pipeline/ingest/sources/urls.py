"""Find the files of a URL, each with the key of its document, as :mod:`pipeline.ingest.sources.walk` does of a path.

A folder is listed through fsspec, folder by folder, and the error of any listing ends the run: a sync would take what
isn't listed for gone. A web server lists nothing, so its URLs name files.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pipeline.errors import Forbidden, SourceError
from pipeline.files.guard import Folders, composed, well_formed
from pipeline.files.remote import WEB, RemoteFile, opened, scheme_of, shown, told
from pipeline.ingest.sources.ignored import is_foreign
from pipeline.ingest.sources.walk import Pattern, SourceFile, is_pattern, taken_names
from pipeline.records import Skipped

_CHECK = "Check the URL: folders of object stores are listed, a web server gives single files."


@dataclass(frozen=True, slots=True)
class SourceUrl:
    """A file to read that a URL names; as :class:`SourceFile` otherwise."""

    path: RemoteFile
    key: str
    named: bool


AnySource = SourceFile | SourceUrl


def local_path(url: str) -> str | None:
    """Return the path that a ``file://`` URL names; None for another URL."""
    if scheme_of(url) not in ("file", "local"):
        return None
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise SourceError(f"{shown(url)} names another machine.", "Write file:///path, or the path itself.")
    return url2pathname(parts.path)


def find_url(url: str, *, code: bool = False, within: Folders = None) -> Iterator[SourceUrl | Skipped]:
    """Yield the file that a URL names, all files below its folder, or those that match its pattern.

    See :func:`pipeline.ingest.sources.walk.find`; Git's rules aren't read. Raises Forbidden if only files of some
    folders may be read, SourceError if there is nothing, and for a listing that fails.
    """
    if within is not None:
        raise Forbidden(f"{shown(url)} is a URL, and only files below some folders may be read.", "Name a path there.")
    system, place = opened(url)
    file = RemoteFile(url, place, shown(url).rstrip("/"))
    if scheme_of(url) in WEB:
        if not file.name:
            raise SourceError(f"{file} names no file.", _CHECK)
        yield SourceUrl(file, composed(file.name), named=True)
        return
    system.invalidate_cache()  # of what was listed before
    match _kind(system, file):
        case "file":
            yield SourceUrl(file, composed(well_formed(file.name)), named=True)
        case "directory":
            yield from _Walk(system, file, code=code).files()
        case _ if is_pattern(place):
            yield from _matches(system, file, code=code)
        case _:
            raise SourceError(f"{file} doesn't exist, or is empty.", _CHECK)


def _kind(system: Any, file: RemoteFile) -> str:
    """Return "file" or "directory"; empty if nothing is there."""
    try:
        with told(file.shown):
            return str(system.info(file.place)["type"])
    except OSError:
        return ""


def _matches(system: Any, file: RemoteFile, *, code: bool) -> Iterator[SourceUrl | Skipped]:
    pattern, matched = Pattern(file.place), False
    place = pattern.root.as_posix()
    below = len(file.place.strip("/").split("/")) - len(place.strip("/").split("/"))
    root = RemoteFile(file.url, place, file.shown.rsplit("/", below)[0])
    for item in _Walk(system, root, pattern, code=code).files() if _kind(system, root) == "directory" else ():
        matched = matched or isinstance(item, SourceUrl)
        yield item
    if not matched:
        raise SourceError(f"{file} matches no file.", "A pattern names files: try one such as docs/**/*.md.")


class _Entry(NamedTuple):
    """An entry of a folder; ``names`` are the parts of its path below the root."""

    file: RemoteFile
    names: tuple[str, ...]
    kind: str


class _Walk:
    """A walk through a folder and its subfolders, over all files or those that match ``pattern``."""

    def __init__(self, system: Any, root: RemoteFile, pattern: Pattern | None = None, *, code: bool) -> None:
        self._system = system
        self._root = root
        self._pattern = pattern
        self._code = code

    def files(self) -> Iterator[SourceUrl | Skipped]:
        """Yield the files, in the order of a folder of this machine. Raises SourceError if any isn't listed."""
        pending = self._entries(self._root, ())
        while pending:
            entry = pending.pop()
            if entry.kind == "directory":
                if self._pattern is None or self._pattern.may_hold(entry.names):
                    inner = self._entries(entry.file, entry.names)
                    pending.extend(() if self._is_foreign(entry, inner) else inner)
            elif self._pattern is not None and not self._pattern.matches(entry.names):
                continue
            elif entry.kind == "file":
                yield SourceUrl(entry.file, well_formed("/".join(entry.names)), named=False)
            else:
                yield Skipped(entry.file.shown, "isn't a regular file")

    def _entries(self, folder: RemoteFile, names: tuple[str, ...]) -> list[_Entry]:
        """Return the entries of a folder that aren't hidden, last name first."""
        try:
            with told(folder.shown):
                listed = self._system.ls(folder.place, detail=True)
        except OSError:
            raise SourceError(f"{folder.shown} is gone while it is listed.", "Run it again.") from None
        kinds = {str(one["name"]).rstrip("/"): str(one["type"]) for one in listed}
        # An object store may hold an object for the folder itself.
        places = {place.rsplit("/", 1)[-1]: place for place in kinds if place.strip("/") != folder.place.strip("/")}
        entries = [
            _Entry(
                RemoteFile(folder.url, places[name], f"{folder.shown.rstrip('/')}/{name}"),
                (*names, key),
                kinds[places[name]],
            )
            for name, key in taken_names(places).items()
        ]
        return entries[::-1]

    def _is_foreign(self, entry: _Entry, inner: Sequence[_Entry]) -> bool:
        files = {one.names[-1] for one in inner if one.kind == "file"}
        return self._code and is_foreign(entry.names[-1], files.__contains__)
