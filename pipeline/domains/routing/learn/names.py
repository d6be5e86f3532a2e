"""The names of projects in files: ids, last parts of ids, and aliases."""

import re
from collections.abc import Iterable

from pipeline.domains.routing.schema import Project
from pipeline.grouping import grouped
from pipeline.text.fold import fold

_SEPARATORS = re.compile(r"::|[./:\\]+")
_JOINERS = re.compile(r"[-_\s]+")
_HOSTS = ("github/com/", "gitlab/com/", "bitbucket/org/", "codeberg/org/")
_VERSION = re.compile(r"/v\d+$")
_SHORTEST = 2  # characters of an alias: one letter would match variables and drives


class ProjectNames:
    """Projects by name. An ambiguous name means no project, unless it is the id of one.

    Names are compared :func:`folded`.
    """

    def __init__(self, projects: Iterable[Project]) -> None:
        projects = list(projects)
        self._ids = _unique((folded(one.id), one.id) for one in projects)
        names = ((folded(name), one.id) for one in projects for name in _spellings(one))
        self._others = _unique((key, project) for key, project in names if len(key) >= _SHORTEST)
        self.spellings: dict[str, str] = {
            spelling: one.id for one in projects for spelling in _spellings(one) if self.named(spelling) == one.id
        }
        """Project ids by name as it is written."""

    def named(self, name: str) -> str | None:
        """Return the id of the project with exactly this name, or None; an address at a host counts as the rest."""
        key = _without_host(folded(name))
        return self._ids.get(key) or self._others.get(key)

    def dependency(self, name: str) -> str | None:
        """Return the id of the project that publishes the package ``name``, or None; Go adds a version to it."""
        return self.named(_VERSION.sub("", name))

    def imported(self, module: str) -> str | None:
        """Return the id of the project whose name is the longest prefix of a module, or None.

        A scope (``@scope/name``) or an owner at a host alone is no name.
        """
        key = folded(module)
        least = 2 if module.startswith("@") or key.startswith(_HOSTS) else 1
        parts = _without_host(key).split("/")
        prefixes = ("/".join(parts[:length]) for length in range(len(parts), least - 1, -1))
        return next((project for prefix in prefixes if (project := self.named(prefix))), None)

    def pattern(self) -> re.Pattern[str] | None:
        """Return a pattern for all names in any case and with any joiner, or None if there is no name."""
        longest_first = sorted(self.spellings, key=lambda name: (-len(name), name))
        spelled = ("[-_ ]?".join(map(re.escape, _JOINERS.split(name))) for name in longest_first)
        # A longer name with joiners is another name: neo4j isn't in neo4j-graphrag.
        names = "|".join(rf"(?<![\w-]){name}(?!-?\w)" for name in spelled)
        return re.compile(names, re.IGNORECASE) if names else None


def folded(name: str) -> str:
    """Return a name in lower case, joined by ``-``, with ``/`` for ``.``, ``:``, ``::`` and ``\\``."""
    parts = _SEPARATORS.split(fold(name).strip().removeprefix("@").casefold())
    return "/".join(_JOINERS.sub("-", part).strip("-") for part in parts if part)


def _spellings(project: Project) -> tuple[str, ...]:
    """Return the id, its last part (``requests`` of ``psf/requests``) and the aliases."""
    return tuple(dict.fromkeys((project.id, project.id.rstrip("/").rpartition("/")[2], *project.aliases)))


def _unique(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {key: projects[0] for key, projects in grouped(pairs).items() if len(set(projects)) == 1}


def _without_host(key: str) -> str:
    for host in _HOSTS:
        if key.startswith(host):
            return key.removeprefix(host).removesuffix("/git")
    return key
