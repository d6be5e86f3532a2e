"""Paths of a repository that are scanned, and the kinds of files by their names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath

_LONGEST = 1000
"""Characters of a path."""

_INSTALLED = frozenset("node_modules bower_components jspm_packages site-packages __pycache__ venv Pods".split())
_BUILT = frozenset("build dist target vendor htmlcov".split())
_SHOWN = frozenset((".github", ".gitlab", ".circleci", ".config"))
"""Hidden folders that hold what people wrote."""

_CONFIG_FOLDERS = frozenset("config configs conf settings configuration .config etc".split())
_CONFIG_SUFFIXES = frozenset((".toml", ".ini", ".cfg", ".yaml", ".yml"))
_CONFIG_NAMES = frozenset(
    "pyproject.toml package.json setup.cfg tox.ini pytest.ini mypy.ini ruff.toml Cargo.toml go.mod pom.xml "
    "tsconfig.json Dockerfile Makefile .editorconfig .pre-commit-config.yaml .gitlab-ci.yml".split()
)
_COMPOSE = re.compile(r"(?:docker-)?compose(?:[.-][\w-]+)*\.ya?ml")
_ENVIRONMENT = re.compile(r"\.env(?:\.[\w.-]+)?|[\w-]+\.env")


def is_scanned(path: str, exists: Callable[[str], bool]) -> bool:
    """Return whether to scan a path: one outside of hidden folders, installed packages and builds.

    The rules for installed packages and builds are those of ingest; ``exists`` tells whether the repository has a file.
    """
    if len(path) > _LONGEST:
        return False
    folder = ""
    for name in path.split("/")[:-1]:
        folder = f"{folder}/{name}" if folder else name
        if name in _INSTALLED or name.endswith(".egg-info") or (name[0] == "." and name not in _SHOWN):
            return False
        if (name in _BUILT and not exists(f"{folder}/__init__.py")) or exists(f"{folder}/pyvenv.cfg"):
            return False
    return True


def decided_by(path: str) -> str:
    """Return the folder for which the presence of the file ``path`` decides whether it is scanned; empty for none."""
    folder, _, name = path.rpartition("/")
    decides = name == "pyvenv.cfg" or (name == "__init__.py" and folder.rpartition("/")[2] in _BUILT)
    return folder if decides else ""


def parent_of(path: str) -> str:
    """Return the folder of a path; empty for the root."""
    return path.rpartition("/")[0]


def folders_above(path: str) -> list[str]:
    """Return the folders above a path, the innermost first, the root as the empty text last."""
    folders = []
    while path:
        path = path.rpartition("/")[0]
        folders.append(path)
    return folders


def join(*parts: str) -> str:
    """Join parts of a path; empty ones count as nothing."""
    return "/".join(filter(None, parts))


def is_configuration(path: str) -> bool:
    """Return whether a file configures a project or its tools, by its name and its folders."""
    place = PurePosixPath(path)
    if place.name in _CONFIG_NAMES or is_environment(path) or is_compose(path):
        return True
    return place.suffix.lower() in _CONFIG_SUFFIXES and not _CONFIG_FOLDERS.isdisjoint(place.parts[:-1])


def is_environment(path: str) -> bool:
    """Return whether a file assigns environment variables: ``.env`` and its variants."""
    return _ENVIRONMENT.fullmatch(PurePosixPath(path).name) is not None


def is_compose(path: str) -> bool:
    """Return whether a file is one of Docker Compose."""
    return _COMPOSE.fullmatch(PurePosixPath(path).name) is not None
