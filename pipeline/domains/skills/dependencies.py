"""Which of a skill's dependencies are skills, which are packages, and which are neither."""

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
_SLIP = 0.85
_SKILL_PREFIX = re.compile(r"(?:skills?|[\w-]+):(?P<name>[\w.-]+)")


class Names:
    """Skills by what they are called: by id, name, path, and the folder that they are in."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._by_path = {skill.path: skill.id for skill in skills}
        by_name: dict[str, list[str]] = defaultdict(list)
        by_folder: dict[str, list[str]] = defaultdict(list)
        for skill in skills:
            by_name[folded(skill.name)].append(skill.id)
            by_folder[folded(posixpath.basename(skill.path))].append(skill.id)
        ids = {skill.id: skill.id for skill in skills}
        self._by_name = ids | {name: found[0] for name, found in by_name.items() if len(found) == 1}
        self._by_folder = {name: found[0] for name, found in by_folder.items() if name and len(found) == 1}

    def named(self, name: str) -> str | None:
        """Return the one skill of that id or name."""
        return self._by_name.get(name) or self._by_name.get(folded(name))

    def called(self, name: str) -> str | None:
        """Return the one skill of that name, or in a folder of that name."""
        return self.named(name) or self._by_folder.get(folded(name))

    def at(self, target: str, path: str) -> str | None:
        """Return the skill that a relative path from a skill's folder leads to."""
        where = posixpath.normpath(posixpath.join(path, target))
        return self._by_path.get(where) or self._by_path.get(posixpath.dirname(where))

    def nearly(self, name: str) -> str | None:
        """Return the skill whose name is nearest, if it is near enough for a slip of the pen."""
        near = difflib.get_close_matches(folded(name), self._by_name, n=1, cutoff=_SLIP)
        return self._by_name[near[0]] if near else None

    def words(self) -> Mapping[str, str]:
        """Return all that skills are called, folded, with their ids."""
        return {**self._by_folder, **self._by_name}


def tell(skills: Sequence[Skill], names: Names) -> dict[str, list[Requirement]]:
    """Tell, for each skill by its id, what each of its dependencies is.

    A relative path, and ``skill:name``, mean a skill; the name of another skill does, unless it comes with a version.
    A package is what comes with a version, extras or an address, what any text installs or imports, and what is called
    like the skill itself. Anything else is taken for what most dependencies beside it are, in its own list or else in
    all: a package, marked as assumed, or a skill that is missing, which it also is if its name is nearly a skill's.
    """
    packages = packages_in(skill.text for skill in skills)
    told = {skill.id: [_tell(text, skill, names, packages) for text in skill.dependencies] for skill in skills}
    everywhere = _company(one for found in told.values() for one in found)
    return {skill_id: _assume(found, everywhere, names) for skill_id, found in told.items()}


def _assume(found: list[Requirement], everywhere: int, names: Names) -> list[Requirement]:
    packages = (_company(found) or everywhere) > 0
    return [
        Requirement(one.text, package=package_key(one.text), assumed=True)
        if packages and not (one.skill or one.package) and _is_plain(one.text) and not names.nearly(one.text)
        else one
        for one in found
    ]


def _company(found: Iterable[Requirement]) -> int:
    """Return how many more packages than skills there are."""
    return sum(bool(one.package) - bool(one.skill) for one in found)


def _is_plain(text: str) -> bool:
    return bool(_WORD.fullmatch(text)) and not text.startswith((".", "/"))


def _tell(text: str, skill: Skill, names: Names, packages: frozenset[str]) -> Requirement:
    if prefixed := _SKILL_PREFIX.fullmatch(text):
        return Requirement(text, skill=names.called(prefixed["name"]))
    if text.startswith(("./", "../")):
        return Requirement(text, skill=names.at(text, skill.path))
    parsed = _REQUIREMENT.fullmatch(text)
    name = parsed["name"] if parsed else text
    versioned = bool(parsed and (parsed["extras"] or parsed["rest"]))
    found = names.named(name)
    if found and found != skill.id and not versioned:
        return Requirement(text, skill=found)
    # A skill about a package has the package's name, or lies in a folder of that name.
    if versioned or package_key(name) in packages or names.called(name):
        return Requirement(text, package=package_key(name))
    return Requirement(text)


def packages_in(texts: Iterable[str]) -> frozenset[str]:
    """Return what texts install or import, as :func:`package_key` has it."""
    found: set[str] = set()
    for text in texts:
        for installed in _INSTALLED.finditer(text):
            words = _WORD.findall(installed[1])
            found.update(package_key(word) for word in words if not word.startswith("-"))
        for imported in _IMPORTED.finditer(text):
            found.add(package_key(imported[1] or imported[2]))
    return frozenset(found)


def package_key(name: str) -> str:
    """Return a package's name as indexes compare it (PEP 503): lower case, runs of -, _ and . as one hyphen."""
    return re.sub(r"[-_.]+", "-", name).lower()


def folded(name: str) -> str:
    """Return a skill's name as it is compared: lower case, with hyphens between its words."""
    return re.sub(r"[\s_-]+", "-", name.strip()).casefold()
