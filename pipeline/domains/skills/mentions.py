"""Which skills a skill's text names, and which of them it demands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.domains.skills.dependencies import Names, folded
from pipeline.domains.skills.records import Skill

_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+")
_PREFIXED = re.compile(r"\b[\w-]+:([a-z0-9]+(?:-[a-z0-9]+)*)\b")
_CALLED = re.compile(r"\b([A-Za-z0-9][\w-]*) skill\b")
_AROUND = " .,:;()*_"
_DEMANDED = re.compile(r"\bREQUIRED\b")


class Mentions:
    """Finds the skills that texts name.

    A name of several words is found wherever it stands outside code blocks; one of a single word, which may be any
    word, only in bold, as code, before the word "skill", or after a prefix (``collection:name``); a link to a skill's
    folder or file is one too.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._called = names.words()
        self._markdown = MarkdownIt("commonmark")

    def of(self, skill: Skill) -> tuple[dict[str, int], set[str]]:
        """Return how often a skill names each other one, and which it demands: on a line that says REQUIRED."""
        counts: Counter[str] = Counter()
        demanded: set[str] = set()
        for token in self._markdown.parse(skill.text):
            if token.type != "inline":
                continue
            for line in _lines(token.children or []):
                found = [one for one in self._in_line(line, skill) if one != skill.id]
                counts.update(found)
                if _DEMANDED.search("".join(child.content for child in line if child.type == "text")):
                    demanded.update(one for one in found if self._is_prefixed(line, one))
        return dict(sorted(counts.items())), demanded

    def _in_line(self, line: list[Token], skill: Skill) -> Iterator[str]:
        strong = 0
        for token in line:
            strong += token.nesting if token.type.startswith("strong") else 0
            if token.type == "link_open":
                target = str(token.attrGet("href") or "")
                found = self._names.at(target, skill.path) if "://" not in target else None
                yield from filter(None, [found])
            elif token.type == "code_inline" or (token.type == "text" and strong):
                exact = self._called.get(folded(token.content.strip(_AROUND)))
                yield from [exact] if exact else self._in_text(token.content)
            elif token.type == "text":
                yield from self._in_text(token.content)

    def _in_text(self, text: str) -> Iterator[str]:
        # By place, so that "superpowers:brainstorming skill" counts once.
        found: dict[int, str] = {}
        for pattern, group in ((_PREFIXED, 1), (_NAME, 0), (_CALLED, 1)):
            for match in pattern.finditer(text):
                name = self._called.get(folded(match[group]))
                if name and (pattern is not _NAME or "-" in folded(match[0])):
                    found.setdefault(match.end(group), name)
        yield from found.values()

    def _is_prefixed(self, line: list[Token], skill_id: str) -> bool:
        text = " ".join(child.content for child in line)
        return any(self._called.get(folded(match[1])) == skill_id for match in _PREFIXED.finditer(text)) or any(
            self._called.get(folded(match[1])) == skill_id for match in _CALLED.finditer(text)
        )


def _lines(tokens: list[Token]) -> Iterator[list[Token]]:
    line: list[Token] = []
    for token in tokens:
        if token.type in ("softbreak", "hardbreak"):
            yield line
            line = []
        else:
            line.append(token)
    yield line
