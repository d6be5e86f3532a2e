"""The files of a project that may show its relations: source code, manifests, scripts and CI jobs."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.code.languages import language_of
from pipeline.code.manifests import is_manifest
from pipeline.ingest.sources.ignored import own_files

_LARGEST = 1_000_000  # bytes: a larger file is generated, or data; chosen by hand
_CI = frozenset((".github", ".circleci", ".gitlab-ci.yml", ".buildkite", ".woodpecker"))
_SCRIPTS = frozenset((".sh", ".bash", ".zsh", ".fish", ".ps1", ".mk", ".just"))
_SCRIPT_NAMES = frozenset("makefile gnumakefile justfile .justfile taskfile.yml tox.ini package.json rakefile".split())


class ProjectFile(NamedTuple):
    """A file of a project: its path relative to the project's folder, with ``/``, and its text."""

    path: str
    text: str


def is_script(path: str) -> bool:
    """Return whether a file holds commands by its name: a shell script, a Makefile and the like, or a job of a CI."""
    place = Path(path)
    named = place.suffix.lower() in _SCRIPTS or place.name.lower() in _SCRIPT_NAMES
    return named or (place.parts[0] in _CI and place.suffix.lower() in (".yml", ".yaml", ""))


def project_files(folder: Path) -> Iterator[ProjectFile]:
    """Yield the files of a project in order of their paths; none if there is no such folder.

    Skips files that aren't UTF-8 and special files (reading a pipe would block), links to folders, hidden folders but
    those of a CI, installed packages, builds, and what Git ignores.
    """
    for path in own_files(folder, _is_shown):
        if is_script(path) or is_manifest(path) or language_of(path):
            text = text_of(folder / path)
            if text is not None:
                yield ProjectFile(path, text)


def _is_shown(name: str) -> bool:
    return name in _CI or name.lower() in _SCRIPT_NAMES or not name.startswith(".")


def text_of(path: Path) -> str | None:
    """Return the text of a file; None if it is no regular file, too large, or not UTF-8."""
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
