"""References of a skill: its dependencies (skills, packages or missing), and the skills that its text names."""

import difflib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.domains.skills.sources import Requirement, Skill
from pipeline.grouping import grouped
from pipeline.text.fold import fold

_REQUIREMENT = re.compile(r"(?P<name>@?[\w./-]+)\s*(?P<extras>\[[^\]]*\])?\s*(?P<rest>(?:[<>=!~@^;].*)?)", re.DOTALL)
_INSTALLED = re.compile(
    r"\b(?:pip3?|uv(?: pip)?|conda|mamba|poetry|pipx|npm|pnpm|yarn|bun|cargo|brew|apt(?:-get)?|gem|go|docker)[ ]+"
    r"(?:install|add|get|i|pull|run)\b([^\n`|&;#]*)"
)
_IMPORTED = re.compile(r"^[^\S\n]*(?:import|from)[ ]+([A-Za-z_]\w*)|require\(['\"]([^'\"]+)['\"]\)", re.MULTILINE)
_WORD = re.compile(r"@?[\w./-]+")
_TYPO_SIMILARITY = 0.85
"""Least similarity (difflib) of a misspelt name: one letter in seven. Chosen by hand; not measured."""
_SKILL_PREFIX = re.compile(r"(?:skills?|[\w-]+):(?P<name>[\w.-]+)")


class Names:
    """An index of skills by id, name, path and folder name; ambiguous names are left out."""

    def __init__(self, skills: Sequence[Skill]) -> None:
        self._by_path = {skill.path: skill.id for skill in skills}
        by_name = grouped((folded(skill.name), skill.id) for skill in skills)
        by_folder = grouped((folded(posixpath.basename(skill.path)), skill.id) for skill in skills)
        ids = {skill.id: skill.id for skill in skills}
        self._by_name = ids | {name: skill_ids[0] for name, skill_ids in by_name.items() if len(skill_ids) == 1}
        self._by_folder = {name: skill_ids[0] for name, skill_ids in by_folder.items() if name and len(skill_ids) == 1}
        self.ids = {**self._by_folder, **self._by_name}  # by id, folded name and folded folder name; names win

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


def resolve(skills: Sequence[Skill], names: Names) -> dict[str, list[Requirement]]:
    """Return the resolved dependencies of each skill, by skill id, in their order.

    A skill is: a relative path; ``skill:NAME``; the name of another skill, without a version. A package is: a name with
    a version, extras or an address; a name that any skill's text installs or imports; the skill's own name; the name of
    a folder with a skill. An unknown dependency follows the majority of its own list, or of all lists if its own is
    undecided: a package, marked as assumed, or a missing skill. A probable misspelling of a skill's name is a missing
    skill.
    """
    packages = _packages_in(skill.text for skill in skills)
    resolved = {skill.id: [_resolve(text, skill, names, packages) for text in skill.dependencies] for skill in skills}
    majority = _package_majority(requirement for group in resolved.values() for requirement in group)
    return {skill_id: _assume(group, majority, names) for skill_id, group in resolved.items()}


def _assume(requirements: list[Requirement], majority: int, names: Names) -> list[Requirement]:
    if (_package_majority(requirements) or majority) <= 0:
        return requirements
    return [
        Requirement(requirement.text, package=package_key(requirement.text), assumed=True)
        if not (requirement.skill or requirement.package)
        and _WORD.fullmatch(requirement.text)
        and not requirement.text.startswith((".", "/"))
        and not names.misspelt(requirement.text)
        else requirement
        for requirement in requirements
    ]


def _package_majority(requirements: Iterable[Requirement]) -> int:
    """Return the number of packages minus the number of skills."""
    return sum(bool(requirement.package) - bool(requirement.skill) for requirement in requirements)


def _resolve(text: str, skill: Skill, names: Names, packages: set[str]) -> Requirement:
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


def _packages_in(texts: Iterable[str]) -> set[str]:
    """Return the :func:`package_key` of each package that the texts install or import."""
    packages: set[str] = set()
    for text in texts:
        for installed in _INSTALLED.finditer(text):
            packages |= {package_key(word) for word in _WORD.findall(installed[1]) if not word.startswith("-")}
        packages |= {package_key(imported[1] or imported[2]) for imported in _IMPORTED.finditer(text)}
    return packages


def package_key(name: str) -> str:
    """Return the normalised name of a package (PEP 503): lower case, runs of -, _ and . as one hyphen."""
    return re.sub(r"[-_.]+", "-", name).lower()


def folded(name: str) -> str:
    """Return a skill's name for comparison: case-folded, with hyphens between its words."""
    return re.sub(r"[\s_-]+", "-", fold(name).strip()).casefold()


_MARKDOWN = MarkdownIt("commonmark")
_NAME = re.compile(r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[-_][A-Za-z0-9]+)+")
_PREFIXED = re.compile(r"(?<![\w-])[\w-]++:([a-z0-9]+(?:-[a-z0-9]+)*)\b")
_BEFORE_SKILL = re.compile(r"\b([A-Za-z0-9][\w-]{0,80}) skill\b")
_PUNCTUATION = " .,:;()*_"
_BREAKS = ("softbreak", "hardbreak")
_REQUIRED = re.compile(r"\bREQUIRED\b")


def mentions(skill: Skill, names: Names) -> tuple[dict[str, int], set[str]]:
    """Return the counts of the other skills that a skill's text mentions, and those that it requires.

    A mention is a name of several words anywhere outside code blocks, or a link to a skill's folder or file. A name of
    one word may be an ordinary word: it counts only in bold, as code, before the word "skill", or after a prefix
    (``collection:name``). A refused name is no mention (see :func:`refusals`). A mentioned skill is required if its
    line says REQUIRED and its name has a prefix or the word "skill" after it.
    """
    counts: Counter[str] = Counter()
    required: set[str] = set()
    for token in _MARKDOWN.parse(skill.text):
        if token.type != "inline":
            continue
        parts = token.children or []
        refused = refusals("".join(" " if part.type in _BREAKS else part.content for part in parts))
        for start, line in _lines(parts):
            mentioned = [
                skill_id
                for skill_id, offset in _in_line(line, start, skill, names)
                if skill_id != skill.id and not any(offset in span for span in refused)
            ]
            counts.update(mentioned)
            if _REQUIRED.search("".join(child.content for child in line if child.type == "text")):
                required.update(skill_id for skill_id in mentioned if _is_marked(line, skill_id, names))
    return dict(sorted(counts.items())), required


def _in_line(line: list[Token], offset: int, skill: Skill, names: Names) -> Iterator[tuple[str, int]]:
    """Yield each mentioned skill and its offset in the text; the line begins at ``offset``."""
    strong = 0
    for token in line:
        strong += token.nesting if token.type.startswith("strong") else 0
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            linked = names.by_path(target, skill.path) if "://" not in target else None
            yield from [(linked, offset)] if linked else []
        elif token.type == "code_inline" or (token.type == "text" and strong):
            exact = names.ids.get(folded(token.content.strip(_PUNCTUATION)))
            yield from [(exact, offset)] if exact else _in_text(token.content, offset, names)
        elif token.type == "text":
            yield from _in_text(token.content, offset, names)
        offset += len(token.content)


def _in_text(text: str, start: int, names: Names) -> Iterator[tuple[str, int]]:
    # Keyed by the end of the match, so that "superpowers:brainstorming skill" counts once.
    found: dict[int, tuple[str, int]] = {}
    for pattern, group in ((_PREFIXED, 1), (_NAME, 0), (_BEFORE_SKILL, 1)):
        for match in pattern.finditer(text):
            skill_id = names.ids.get(folded(match[group]))
            if skill_id and (pattern is not _NAME or "-" in folded(match[0])):
                found.setdefault(match.end(group), (skill_id, start + match.start(group)))
    yield from found.values()


def _is_marked(line: list[Token], skill_id: str, names: Names) -> bool:
    """Return whether the line has the skill's name with a prefix or before the word "skill"."""
    text = " ".join(child.content for child in line)
    matches = (match for pattern in (_PREFIXED, _BEFORE_SKILL) for match in pattern.finditer(text))
    return any(names.ids.get(folded(match[1])) == skill_id for match in matches)


def _lines(tokens: list[Token]) -> Iterator[tuple[int, list[Token]]]:
    """Yield each line with its offset in the plain text of all tokens."""
    line: list[Token] = []
    start = end = 0
    for token in tokens:
        if token.type in _BREAKS:
            yield start, line
            line = []
            start = end = end + 1
        else:
            line.append(token)
            end += len(token.content)
    yield start, line


_CLAUSE = r"(?:(?![.!?](?:\s|$)|[:;]\s|\b(?:but|unless|until|without|before|except|instead)\b).)*"
_NEGATED = (
    r"\b(?:(?:do|does|did|must|should|shall|can|could|would|need)(?:\s+not|n['’]t)|cannot|never)\s+(?:\w+\s+)?"
    r"(?:use|invoke|load|call|run|need|require|confuse|mix|combine)\b"
)
_REFUSED_NAME = r"[`*\"']*[\w@/:-]+[`*\"']*"
_PASSED_OVER = (
    r"\b(?:not|unlike|instead\s+of|rather\s+than|avoid(?:ing)?)\s+(?:(?:the|a|an|to|using|invoking|loading|calling)\s+)*"
    rf"{_REFUSED_NAME}(?:(?:,\s+{_REFUSED_NAME})*,?\s+(?:and|or|nor)\s+{_REFUSED_NAME})?"
)
_REFUSAL = re.compile(f"{_NEGATED}{_CLAUSE}|{_PASSED_OVER}", re.IGNORECASE | re.DOTALL)


def refusals(text: str) -> list[range]:
    """Return the spans of a text that refuse names, in order.

    A negated verb of use ("do not use", "never load", "doesn't need") refuses all names up to the end of its clause,
    lists included. "not", "unlike", "instead of", "rather than" and "avoid" refuse the next name, and the names joined
    to it by "and", "or" or "nor". "use X instead" and "never skip X" refuse nothing.
    """
    return [range(*match.span()) for match in _REFUSAL.finditer(text)]
