"""Read the manifests of packages. A manifest that is a program, such as setup.py, isn't run."""

import configparser
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath

from pipeline.code import manifests_other, manifests_python
from pipeline.code.records import Manifest as Manifest

_READERS: dict[str, Callable[[str], Manifest | None]] = {
    "pyproject.toml": manifests_python.pyproject,
    "setup.cfg": manifests_python.setup_cfg,
    "setup.py": manifests_python.setup_py,
    "Cargo.toml": manifests_other.cargo,
    "go.mod": manifests_other.go_mod,
    "package.json": manifests_other.package_json,
    "pom.xml": manifests_other.pom,
}
MANIFESTS = tuple(_READERS)
"""Names of the files that declare a package; of several in a folder, the first with a name names the folder's.

A package.json beside a manifest of another language is mostly one of tools.
"""

_REQUIREMENTS = re.compile(r"(?:[\w.-]+[-_.])?requirements(?:[-_.][\w.-]+)?\.(?:txt|in)")
_FOR_DEVELOPMENT = re.compile(r"dev|test|doc|lint|ci\b|bench|typing|build", re.IGNORECASE)


def is_manifest(path: str) -> bool:
    """Return whether the file ``path`` is a manifest, by its name."""
    return PurePosixPath(path).name in _READERS or _is_requirements(PurePosixPath(path))


def read_manifest(path: str, text: str) -> Manifest | None:
    """Return the manifest ``text`` of the file ``path``; None if it is none, malformed, or declares nothing.

    A list of requirements has no name. Its packages are for development if its file's name says so, as in
    ``requirements-dev.txt``.
    """
    place = PurePosixPath(path)
    read = _READERS.get(place.name)
    if read is None:
        read = manifests_python.requirements if _is_requirements(place) else lambda _: None
    try:
        manifest = read(text.removeprefix("\ufeff"))
    except (ValueError, SyntaxError, RecursionError, configparser.Error):
        return None
    if manifest is None or manifest == Manifest(""):
        return None
    if read is manifests_python.requirements and _FOR_DEVELOPMENT.search(place.stem):
        manifest = replace(manifest, dependencies=(), dev_dependencies=manifest.dependencies)
    return replace(manifest, path=path)


def _is_requirements(place: PurePosixPath) -> bool:
    return bool(_REQUIREMENTS.fullmatch(place.name)) or (place.parent.name == "requirements" and place.suffix == ".txt")
