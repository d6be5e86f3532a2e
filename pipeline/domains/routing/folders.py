"""Projects by the folders of their files."""

import os
from collections.abc import Iterable
from pathlib import Path

from pipeline.domains.routing.schema import PROJECT_TYPES, Project


class ProjectFolders:
    """The folders of projects, links resolved.

    Of nested ones the deepest holds a file; of projects in the same folder one's own, then the first by id. A relative
    path is none: it would be below whatever folder a command runs in.
    """

    def __init__(self, projects: Iterable[Project]) -> None:
        known = [(Path(_real(one.path)), one) for one in projects if os.path.isabs(one.path)]  # noqa: PTH117 - a text
        known.sort(key=lambda found: (-len(found[0].parts), PROJECT_TYPES.index(found[1].kind), found[1].id))
        self._folders = [(folder, one.id) for folder, one in known]

    def holding(self, path: Path | str) -> str:
        """Return the id of the project whose folder holds an absolute path, or is at it; "" if none does."""
        place = Path(_real(path))
        return next((project for folder, project in self._folders if place.is_relative_to(folder)), "")


def working_folder() -> Path | None:
    """Return the folder that the process runs in, or None if it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _real(path: Path | str) -> str:
    return os.path.realpath(path) if os.path.isabs(path) else str(path)  # noqa: PTH117 - a text
