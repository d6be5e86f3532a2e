"""Location of the code, of the folders shipped with it, ``cypher`` and ``configs``; lists of words, and templates."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent

SOURCES = str(_PACKAGE.parent)
"""The folder that holds ``pipeline``."""

IMPORT_OWN = f"import sys; sys.path.insert(0, {SOURCES!r}); import pipeline; del sys.path[0]; "
"""Beginning of the code of our own processes: the path may hold a project's ``pipeline`` before HopRank's."""


def resource_folder(name: str) -> Path:
    """Return the folder ``name``: inside the package if installed from a wheel, at the top level in a checkout."""
    installed = _PACKAGE / "_shipped" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Return a text with each ``{{name}}`` replaced by its part, in the order of ``parts``; parts aren't searched."""
    pieces = []
    for name, part in parts.items():
        before, template = template.split(f"{{{{{name}}}}}", 1)
        pieces += [before, part]
    return "".join([*pieces, template])


def word_lists(module: str) -> dict[str, Any]:
    """Return the lists of words of a module, given by its ``__file__``: the TOML file of its name beside it."""
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))
