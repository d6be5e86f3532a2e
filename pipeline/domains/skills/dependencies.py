"""Resolve skills' dependencies: each is a skill, a package or missing."""

from __future__ import annotations

import difflib
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from pipeline.domains.skills.records import Requirement, Skill

_REQUIREMENT = re.compile(r"(?P<name>@?[\w./-]+)\s*(?P<extras>\[[^\]]*\])?\s*(?P<rest>(?:[<>=!~@^;].*)?)", re.DOTALL)
_INSTALLED = re.compile(
    r"\b(?:pip3?|uv(?: pip)?|conda|mamba|poetry|pipx|npm|pnpm|yarn|bun|cargo|brew|apt(?:-get)?|gem|go|docker)[ ]+"
    r"(?:install|add|get|i|pull|run)\b([^\n`|&;#]*)"
)
_IMPORTED = re.compile(r"^\s*(?:import|from)[ ]+([A-Za-z_]\w*)|require\(['\"]([^'\"]+)['\"]\)", re.MULTILINE)
_WORD = re.compile(r"@?[\w./-]+")
_TYPO_SIMILARITY = 0.85
_SKILL_PREFIX = re.compile(r"(?:skills?|[\w-]+):(?P<name>[\w.-]+)")


class Names:
    """An index of skills by id, name, path and folder name; ambiguous names are left out."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._by_path = {skill.path: skill.id for skill in skills}
        by_name: dict[str, list[str]] = defaultdict(list)
        by_folder: dict[str, list[str]] = defaultdict(list)
        for skill in skills:
            by_name[folded(skill.name)].append(skill.id)
            by_folder[folded(posixpath.basename(skill.path))].append(skill.id)
        ids = {skill.id: skill.id for skill in skills}
        self._by_name = ids | {name: skill_ids[0] for name, skill_ids in by_name.items() if len(skill_ids) == 1}
        self._by_folder = {name: skill_ids[0] for name, skill_ids in by_folder.items() if name and len(skill_ids) == 1}

    def by_name(self, name: str) -> str | None:
        """Return the skill with that id or unique name, or None."""
        return self._by_name.get(name) or self._by_name.get(folded(name))

    def by_name_or_folder(self, name: str) -> str | None:
        """Return the skill with that id or unique name, else the only one in a folder of that name, or None."""
        return self.by_name(name) or self._by_folder.get(folded(name))

    def by_path(self, target: str, path: str) -> str | None:
        """Return the skill at the path ``target``, relative to the folder ``path``, or None.

        ``target`` may be a skill's folder or a file in it.
        """
        resolved = posixpath.normpath(posixpath.join(path, target))
        return self._by_path.get(resolved) or self._by_path.get(posixpath.dirname(resolved))

    def misspelt(self, name: str) -> str | None:
        """Return the skill of which ``name`` is probably a misspelling, or None."""
        closest = difflib.get_close_matches(folded(name), self._by_name, n=1, cutoff=_TYPO_SIMILARITY)
        return self._by_name[closest[0]] if closest else None

    def folded_names(self) -> Mapping[str, str]:
        """Return skills' ids by id, folded name and folded folder name; names win over folders."""
        return {**self._by_folder, **self._by_name}


def resolve(skills: Sequence[Skill], names: Names) -> dict[str, list[Requirement]]:
    """Return the resolved dependencies of each skill, by skill id, in their order.

    A skill is: a relative path; ``skill:NAME``; the name of another skill, without a version. A package is: a name with
    a version, extras or an address; a name that any skill's text installs or imports; the skill's own name; the name of
    a folder with a skill. An unknown dependency follows the majority of its own list, or of all lists if its own is
    undecided: a package, marked as assumed, or a missing skill. A probable misspelling of a skill's name is a missing
    skill.
    """
    packages = packages_in(skill.text for skill in skills)
    resolved = {skill.id: [_resolve(text, skill, names, packages) for text in skill.dependencies] for skill in skills}
    majority = _package_majority(requirement for group in resolved.values() for requirement in group)
    return {skill_id: _assume(group, majority, names) for skill_id, group in resolved.items()}


def _assume(requirements: list[Requirement], majority: int, names: Names) -> list[Requirement]:
    if (_package_majority(requirements) or majority) <= 0:
        return requirements
    return [
        Requirement(requirement.text, package=package_key(requirement.text), assumed=True)
        if _is_unknown(requirement) and not names.misspelt(requirement.text)
        else requirement
        for requirement in requirements
    ]


def _package_majority(requirements: Iterable[Requirement]) -> int:
    """Return the number of packages minus the number of skills."""
    return sum(bool(requirement.package) - bool(requirement.skill) for requirement in requirements)


def _is_unknown(requirement: Requirement) -> bool:
    text = requirement.text
    plain = bool(_WORD.fullmatch(text)) and not text.startswith((".", "/"))
    return plain and not (requirement.skill or requirement.package)


def _resolve(text: str, skill: Skill, names: Names, packages: frozenset[str]) -> Requirement:
    if prefixed := _SKILL_PREFIX.fullmatch(text):
        return Requirement(text, skill=names.by_name_or_folder(prefixed["name"]))
    if text.startswith(("./", "../")):
        return Requirement(text, skill=names.by_path(text, skill.path))
    parsed = _REQUIREMENT.fullmatch(text)
    name = parsed["name"] if parsed else text
    versioned = bool(parsed and (parsed["extras"] or parsed["rest"]))
    required = names.by_name(name)
    if required and required != skill.id and not versioned:
        return Requirement(text, skill=required)
    # A skill about a package has the package's name, or is in a folder of that name.
    if versioned or package_key(name) in packages or names.by_name_or_folder(name):
        return Requirement(text, package=package_key(name))
    return Requirement(text)


def packages_in(texts: Iterable[str]) -> frozenset[str]:
    """Return the :func:`package_key` of each package that the texts install or import."""
    packages: set[str] = set()
    for text in texts:
        for installed in _INSTALLED.finditer(text):
            words = _WORD.findall(installed[1])
            packages.update(package_key(word) for word in words if not word.startswith("-"))
        for imported in _IMPORTED.finditer(text):
            packages.add(package_key(imported[1] or imported[2]))
    return frozenset(packages)


def package_key(name: str) -> str:
    """Return the normalised name of a package (PEP 503): lower case, runs of -, _ and . as one hyphen."""
    return re.sub(r"[-_.]+", "-", name).lower()


def folded(name: str) -> str:
    """Return a skill's name for comparison: case-folded, with hyphens between its words."""
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()
