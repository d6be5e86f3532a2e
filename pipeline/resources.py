"""Location of the folders shipped with the code: ``cypher`` and ``configs``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def resource_folder(name: str) -> Path:
    """Return the folder ``name``: inside the package if installed from a wheel, at the top level in a checkout."""
    installed = _PACKAGE / "_shipped" / name
    return installed if installed.is_dir() else _PACKAGE.parent / name
