"""Find the known entities that a text mentions."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.domains.memory.remember.records import Mention
from pipeline.domains.memory.remember.spellings import CODE_TYPES, Rule, Spelling, spellings
from pipeline.text.matcher import Matcher, lowered

_BACKTICKS = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_CALL = re.compile(r"\(\s*\)|\((?=\S)")
_FILES = re.compile(r"[\w./\\-]*\w\.[A-Za-z]\w{0,9}\b")
_INITIAL = re.compile(r"(?:^|[.!?:\n\"“(*#-])\s*$")
_NOUN = re.compile(r"`?\s+(?:lib(?:rary)?|package|module|crate|framework|dependency|gem|plugin)\b", re.IGNORECASE)
_JOINING = frozenset("-_/\\@")
_AROUND = 200


class Gazetteer:
    """Known entities by their names and aliases, found in texts as whole words; the longest name counts.

    Names of code are found as written, others letter case aside. A plain word that names something in code (``run``)
    leads to it only if it is written as code: called, in backticks, or with its file (``cli.py:run``, "run in cli.py").
    A name of several entities leads to the one that it is written like, or whose file is named; else nowhere.
    """

    def __init__(self, entities: Iterable[Entity]) -> None:
        self._spellings: dict[str, list[Spelling]] = defaultdict(list)
        self._entities: dict[EntityKey, Entity] = {}
        for entity in entities:
            self._entities[entity.key] = entity
            for spelling in spellings(entity):
                for form in {unicodedata.normalize(form, spelling.text) for form in ("NFC", "NFD")}:
                    self._spellings[_lowered(form)].append(spelling)
        self._matcher = Matcher(self._spellings)

    def __getitem__(self, key: EntityKey) -> Entity:
        return self._entities[key]

    def __contains__(self, key: object) -> bool:
        return key in self._entities

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """Return the entities that a text mentions, by place, without overlaps."""
        found: list[Mention] = []
        at, in_code = 0, _code_in(text)
        for start, end, candidates in self._matcher.leftmost_longest(_lowered(text)):
            if start < at or not _is_whole(text, start, end):
                continue
            code = bool(in_code[start]) or _CALL.match(text, end) is not None
            named = self._meant(text, start, end, candidates, code=code)
            if named is None:
                continue
            at = end  # no name within this one counts, even if it leads nowhere
            if len(named) == 1:
                found.append(Mention(named[0], start, end))
        return tuple(found)

    def resolve(self, name: str, types: Iterable[str] = ()) -> Entity | None:
        """Return the entity that the whole of ``name`` names, of one of ``types`` if given; None if none or several.

        The letter case of names of code must be right; but a plain word needs no mark of code here.
        """
        allowed = frozenset(types)
        bare = " ".join(name.replace("`", "").split()).removesuffix("()")
        candidates = [
            spelling
            for spelling in self._spellings.get(_lowered(bare), ())
            if (not allowed or spelling.entity.type in allowed) and _is_spelled(bare, spelling)
        ]
        return self._entities[keys[0]] if len(keys := _narrowed(bare, candidates, "")) == 1 else None

    def _meant(
        self, text: str, start: int, end: int, candidates: Sequence[Spelling], *, code: bool
    ) -> list[EntityKey] | None:
        """Return the entities that a place may mean; None if what is written there is none of their names."""
        written = " ".join(text[start:end].split())
        sentence = text[max(0, start - _AROUND) : end + _AROUND]
        possible = [spelling for spelling in candidates if _holds(spelling, text, start, end, code=code)]
        if not possible:
            return None
        if code and any(spelling.entity.type in CODE_TYPES for spelling in possible):
            possible = [spelling for spelling in possible if spelling.entity.type in CODE_TYPES | {"library"}]
        return _narrowed(written, possible, sentence)


def _holds(spelling: Spelling, text: str, start: int, end: int, *, code: bool) -> bool:
    written = " ".join(text[start:end].split())
    if not _is_spelled(written, spelling):
        return False
    if spelling.rule is Rule.CODE:
        return code or _names_file(spelling.file, text[max(0, start - _AROUND) : end + _AROUND])
    if spelling.rule is Rule.CAPITAL:
        first = _INITIAL.search(text[max(0, start - 5) : start]) is not None
        noun = spelling.entity.type == "library" and _NOUN.match(text, end) is not None
        return (code and spelling.entity.type == "library") or noun or (written[0].isupper() and not first)
    return True


def _is_spelled(written: str, spelling: Spelling) -> bool:
    """Return whether the letter case of ``written`` fits a spelling."""
    if spelling.rule in (Rule.AS_WRITTEN, Rule.CODE):
        return unicodedata.normalize("NFC", written) == unicodedata.normalize("NFC", spelling.text)
    return True


def _narrowed(written: str, candidates: Sequence[Spelling], sentence: str) -> list[EntityKey]:
    """Return the entities that remain: if several, those spelled just so, then those whose file is named."""
    remaining = list(candidates)
    tests = (
        lambda spelling: spelling.text == written,
        lambda spelling: spelling.entity.name == written,
        lambda spelling: _names_file(spelling.file, sentence),
    )
    for test in tests:
        if len({spelling.entity.key for spelling in remaining}) > 1:
            remaining = [spelling for spelling in remaining if test(spelling)] or remaining
    return list(dict.fromkeys(spelling.entity.key for spelling in remaining))


def _names_file(path: str, text: str) -> bool:
    """Return whether a text names a file: its path, or the end of it from its base name on."""
    if not path:
        return False
    files = (found.removeprefix("./") for found in _FILES.findall(text))
    return any(path == found or path.endswith(f"/{found}") for found in files)


def _code_in(text: str) -> bytes:
    """Return a byte for each character of a text: 1 in backticks and in fenced blocks, else 0."""
    mask = bytearray(len(text))
    for span in _BACKTICKS.finditer(text) if "`" in text else ():
        mask[span.start() : span.end()] = b"\x01" * (span.end() - span.start())
    return bytes(mask)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is whole words, and no part of a compound, a path or a file name."""
    before, after = text[start - 1 : start], text[end : end + 1]
    if text[start].isalnum() or text[start] == "_":
        if before.isalnum() or before in _JOINING or unicodedata.combining(before or " "):
            return False
        if before == "." and (text[start - 2 : start - 1].isalnum() or text[start - 2 : start - 1] in ("", " ", "/")):
            return False
    if text[end - 1].isalnum() or text[end - 1] == "_":
        if after.isalnum() or (after in _JOINING and after) or unicodedata.combining(after or " "):
            return False
        if after == "." and (text[end + 1 : end + 2].isalnum() or text[end + 1 : end + 2] == "_"):
            return False
    return True


def _lowered(text: str) -> str:
    """Return a text in small letters with plain spaces, each character in its place."""
    small = lowered(text)
    return small if small.isascii() and not _SPACES.search(small) else _SPACES.sub(" ", small)


_SPACES = re.compile(r"[\t\n\r\f\v\u00a0]")
