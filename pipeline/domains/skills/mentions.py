"""Find the skills that a skill's text mentions or requires."""

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
_BEFORE_SKILL = re.compile(r"\b([A-Za-z0-9][\w-]*) skill\b")
_PUNCTUATION = " .,:;()*_"
_BREAKS = ("softbreak", "hardbreak")
_REQUIRED = re.compile(r"\bREQUIRED\b")


class Mentions:
    """Finds the skills that texts mention.

    A mention is a name of several words anywhere outside code blocks, or a link to a skill's folder or file. A name of
    one word may be an ordinary word: it counts only in bold, as code, before the word "skill", or after a prefix
    (``collection:name``). A refused name is no mention (see :mod:`pipeline.domains.skills.refusals`).
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._ids = names.folded_names()
        self._markdown = MarkdownIt("commonmark")

    def of(self, skill: Skill) -> tuple[dict[str, int], set[str]]:
        """Return the counts of the other skills that a skill mentions, and those that it requires.

        A mentioned skill is required if its line says REQUIRED and its name has a prefix or the word "skill" after it.
        """
        counts: Counter[str] = Counter()
        required: set[str] = set()
        for token in self._markdown.parse(skill.text):
            if token.type != "inline":
                continue
            refused = refusals(_plain(token.children or []))
            for start, line in _lines(token.children or []):
                mentioned = [
                    skill_id
                    for skill_id, offset in self._in_line(line, start, skill)
                    if skill_id != skill.id and not any(offset in span for span in refused)
                ]
                counts.update(mentioned)
                if _REQUIRED.search("".join(child.content for child in line if child.type == "text")):
                    required.update(skill_id for skill_id in mentioned if self._is_marked(line, skill_id))
        return dict(sorted(counts.items())), required

    def _in_line(self, line: list[Token], offset: int, skill: Skill) -> Iterator[tuple[str, int]]:
        """Yield each mentioned skill and its offset in the text; the line begins at ``offset``."""
        strong = 0
        for token in line:
            strong += token.nesting if token.type.startswith("strong") else 0
            if token.type == "link_open":
                target = str(token.attrGet("href") or "")
                linked = self._names.by_path(target, skill.path) if "://" not in target else None
                yield from [(linked, offset)] if linked else []
            elif token.type == "code_inline" or (token.type == "text" and strong):
                exact = self._ids.get(folded(token.content.strip(_PUNCTUATION)))
                yield from [(exact, offset)] if exact else self._in_text(token.content, offset)
            elif token.type == "text":
                yield from self._in_text(token.content, offset)
            offset += len(token.content)

    def _in_text(self, text: str, start: int) -> Iterator[tuple[str, int]]:
        # Keyed by the end of the match, so that "superpowers:brainstorming skill" counts once.
        mentions: dict[int, tuple[str, int]] = {}
        for pattern, group in ((_PREFIXED, 1), (_NAME, 0), (_BEFORE_SKILL, 1)):
            for match in pattern.finditer(text):
                skill_id = self._ids.get(folded(match[group]))
                if skill_id and (pattern is not _NAME or "-" in folded(match[0])):
                    mentions.setdefault(match.end(group), (skill_id, start + match.start(group)))
        yield from mentions.values()

    def _is_marked(self, line: list[Token], skill_id: str) -> bool:
        """Return whether the line has the skill's name with a prefix or before the word "skill"."""
        text = " ".join(child.content for child in line)
        matches = (match for pattern in (_PREFIXED, _BEFORE_SKILL) for match in pattern.finditer(text))
        return any(self._ids.get(folded(match[1])) == skill_id for match in matches)


def _plain(tokens: list[Token]) -> str:
    return "".join(" " if token.type in _BREAKS else token.content for token in tokens)


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
