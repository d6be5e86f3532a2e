"""Folders whose files a service may read: a client, or an agent that a text misleads, names no others."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from pipeline.api import HopRank
from pipeline.errors import Forbidden, SourceError
from pipeline.files.guard import real_path
from pipeline.files.remote import is_url, shown
from pipeline.ingest.sources.walk import Pattern, is_pattern

_FIX = "Name a path below one of serve.folders, or add its folder there; for hoprank mcp also by --folder DIR."


def allowed_path(path: str | Path, folders: Iterable[str | Path]) -> Path:
    """Return ``path``, a file, folder or glob pattern, as an absolute path; ``..`` and links are resolved.

    Raises Forbidden for a URL, and for a path that isn't below one of ``folders`` or equal to one, or has a link below
    it that leads out of them.
    """
    text = str(path)
    if not text or "\x00" in text:
        raise SourceError(f"{text[:80]!r} is no path.", "Name a file, a folder or a pattern.")
    if is_url(text):
        raise Forbidden(f"{shown(text)[:200]!r} is a URL, and isn't below a folder that may be read.", _FIX)
    roots = [_real(Path(folder)) for folder in folders]
    place = Path(text)
    if not is_pattern(text) or os.path.lexists(place.expanduser()):
        found = _below(roots, place, text)
        _check_links(found, roots, text)
        return found
    root = Pattern(str(place)).root
    found = _below(roots, root, text)
    if is_pattern(str(found)):
        raise Forbidden(f"The folder of {text[:200]!r} has a wildcard in its name.", "Name the folder itself.")
    _check_links(found, roots, text)
    return found / place.relative_to(root)


def confined(hoprank: HopRank, folders: Iterable[Path]) -> HopRank:
    """Return a connection that reads no file elsewhere, though a link is put in the place of an allowed path."""
    sources = hoprank.settings.sources.below(folders)
    return HopRank(hoprank.client, hoprank.embedder, hoprank.settings.model_copy(update={"sources": sources}))


def _below(roots: Sequence[Path], place: Path, text: str) -> Path:
    found = _real(place)
    if not _is_below(found, roots):
        raise Forbidden(f"{text[:200]!r} isn't below a folder that may be read.", _FIX)
    return found


def _check_links(found: Path, roots: Sequence[Path], text: str) -> None:
    for link in _links(found):
        if not _is_below(_real(link), roots):
            raise Forbidden(f"{text[:200]!r} holds {link.name!r}, a link out of the folders that may be read.", _FIX)


def _links(folder: Path) -> Iterator[Path]:
    """Yield the links below a folder, and below the folders that they lead to; hidden names are never read."""
    seen, pending = set(), [folder]
    while pending:
        here = pending.pop()
        real = real_path(here)
        if real in seen or not os.path.isdir(real):  # noqa: PTH112 - scandir names each
            continue
        seen.add(real)
        with suppress(OSError), os.scandir(real) as listing:  # what can't be opened is reported by whoever reads it
            for entry in listing:
                if not entry.name.startswith("."):
                    pending.append(Path(entry.path))
                    if entry.is_symlink():
                        yield Path(entry.path)


def _real(place: Path) -> Path:
    try:
        return Path(os.path.realpath(place.expanduser() if str(place).startswith("~") else place))
    except (OSError, RuntimeError):  # too long a name; no home
        return Path(os.devnull)


def _is_below(place: Path, roots: Iterable[Path]) -> bool:
    return any(place.is_relative_to(root) for root in roots)
