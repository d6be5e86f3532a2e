"""Which skills a skill's text names, and which of them it demands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from pipeline.domains.skills.dependencies import Names, folded
from pipeline.domains.skills.records import Skill
from pipeline.domains.skills.refusals import refusals

_NAME = re.compile(r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+")
_PREFIXED = re.compile(r"\b[\w-]+:([a-z0-9]+(?:-[a-z0-9]+)*)\b")
_CALLED = re.compile(r"\b([A-Za-z0-9][\w-]*) skill\b")
_AROUND = " .,:;()*_"
_BREAKS = ("softbreak", "hardbreak")
_DEMANDED = re.compile(r"\bREQUIRED\b")


class Mentions:
    """Finds the skills that texts name.

    A name of several words is found wherever it stands outside code blocks; one of a single word, which may be any
    word, only in bold, as code, before the word "skill", or after a prefix (``collection:name``); a link to a skill's
    folder or file is one too. What a text refuses (see :mod:`pipeline.domains.skills.refusals`) it doesn't mention.
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
            refused = refusals(_plain(token.children or []))
            for start, line in _lines(token.children or []):
                found = [
                    one
                    for one, place in self._in_line(line, start, skill)
                    if one != skill.id and not any(place in part for part in refused)
                ]
                counts.update(found)
                if _DEMANDED.search("".join(child.content for child in line if child.type == "text")):
                    demanded.update(one for one in found if self._is_prefixed(line, one))
        return dict(sorted(counts.items())), demanded

    def _in_line(self, line: list[Token], place: int, skill: Skill) -> Iterator[tuple[str, int]]:
        """Yield each name and its place; the line begins at ``place``."""
        strong = 0
        for token in line:
            strong += token.nesting if token.type.startswith("strong") else 0
            if token.type == "link_open":
                target = str(token.attrGet("href") or "")
                found = self._names.at(target, skill.path) if "://" not in target else None
                yield from [(found, place)] if found else []
            elif token.type == "code_inline" or (token.type == "text" and strong):
                exact = self._called.get(folded(token.content.strip(_AROUND)))
                yield from [(exact, place)] if exact else self._in_text(token.content, place)
            elif token.type == "text":
                yield from self._in_text(token.content, place)
            place += len(token.content)

    def _in_text(self, text: str, start: int) -> Iterator[tuple[str, int]]:
        # By place, so that "superpowers:brainstorming skill" counts once.
        found: dict[int, tuple[str, int]] = {}
        for pattern, group in ((_PREFIXED, 1), (_NAME, 0), (_CALLED, 1)):
            for match in pattern.finditer(text):
                name = self._called.get(folded(match[group]))
                if name and (pattern is not _NAME or "-" in folded(match[0])):
                    found.setdefault(match.end(group), (name, start + match.start(group)))
        yield from found.values()

    def _is_prefixed(self, line: list[Token], skill_id: str) -> bool:
        text = " ".join(child.content for child in line)
        return any(self._called.get(folded(match[1])) == skill_id for match in _PREFIXED.finditer(text)) or any(
            self._called.get(folded(match[1])) == skill_id for match in _CALLED.finditer(text)
        )


def _plain(tokens: list[Token]) -> str:
    return "".join(" " if token.type in _BREAKS else token.content for token in tokens)


def _lines(tokens: list[Token]) -> Iterator[tuple[int, list[Token]]]:
    """Yield each line and where it begins in the plain text of all."""
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
