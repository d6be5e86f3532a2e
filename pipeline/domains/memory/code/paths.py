"""Paths of a repository that are scanned, and the kinds of files by their names."""

import re
from collections.abc import Callable
from posixpath import splitext

from pipeline.ingest.sources.ignored import BUILT, is_foreign

MAILMAP = ".mailmap"
OWNERS = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Paths of the file that names the owners of others; the first that exists counts."""

_LONGEST = 1000  # characters of a path; a longer one is generated or hostile
_SHOWN = frozenset((".github", ".gitlab", ".circleci", ".config"))  # hidden folders that hold what people wrote
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

    The rules for installed packages and builds are those of ingest; ``exists`` says if a file exists.
    """
    return len(path) <= _LONGEST and not any(_is_left_out(folder, exists) for folder in folders_above(path)[:-1])


def _is_left_out(folder: str, exists: Callable[[str], bool]) -> bool:
    name = folder.rpartition("/")[2]
    hidden = name[0] == "." and name not in _SHOWN
    return hidden or is_foreign(name, lambda file: exists(f"{folder}/{file}"))


def decided_by(path: str) -> str:
    """Return the folder that is scanned or not by whether the file ``path`` exists; empty for none."""
    folder, _, name = path.rpartition("/")
    decides = name == "pyvenv.cfg" or (name == "__init__.py" and folder.rpartition("/")[2] in BUILT)
    return folder if decides else ""


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
    *folders, name = path.split("/")
    if name in _CONFIG_NAMES or is_environment(path) or is_compose(path):
        return True
    return splitext(name)[1].lower() in _CONFIG_SUFFIXES and not _CONFIG_FOLDERS.isdisjoint(folders)


def is_environment(path: str) -> bool:
    """Return whether a file assigns environment variables: ``.env`` and its variants."""
    return _ENVIRONMENT.fullmatch(path.rpartition("/")[2]) is not None


def is_compose(path: str) -> bool:
    """Return whether a file is one of Docker Compose."""
    return _COMPOSE.fullmatch(path.rpartition("/")[2]) is not None
