"""Find the known entities that a text mentions."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from pipeline.domains.memory.records import Entity, EntityKey
from pipeline.resources import word_lists
from pipeline.text.fold import fold, fold_with_places
from pipeline.text.names import FUNCTION_WORDS, Matcher, lowered
from pipeline.text.scripts import is_run

COMMON = frozenset(word_lists(__file__)["common"].split())
"""A name that is one of these, or of FUNCTION_WORDS, needs more than its letters to be recognised in prose."""

CODE_TYPES = frozenset(("file", "module", "class", "function", "config"))
"""Types whose names are identifiers or paths: they are found as written."""

_WORD = re.compile(r"[^\W\d_]+")
_QUALIFIER = re.compile(r"::|[:#./\\]")
_MARKED = re.compile(r"[\d_./:#@-]|[a-z][A-Z]")
_PATH = re.compile(r"(?<![^\s:#])[^\s:#]*[\w\-/]\.[A-Za-z]\w{0,9}(?=$|::?|#)|^[^\s:#]+/")


class Rule(Enum):
    """The way in which a spelling must be written to lead to its entity."""

    ANY_CASE = auto()
    AS_WRITTEN = auto()  # in its own letter case
    CAPITAL = auto()  # with a capital, and not as the first word of a sentence
    CODE = auto()  # as code: called, in backticks, or with its file


class Spelling(NamedTuple):
    """A name or alias of an entity, folded; ``file`` is the file's path if it is a name in code."""

    text: str
    entity: Entity
    rule: Rule
    file: str = ""


def spellings(entity: Entity) -> Iterator[Spelling]:
    """Yield what a text may write for an entity: its name and aliases; of paths and qualified names also their ends."""
    file = file_of(entity)
    names = {" ".join(fold(name).split()): None for name in (entity.name, *entity.aliases)}
    if entity.type in CODE_TYPES:
        names |= {end: None for name in tuple(names) for end in _ends(name, entity.type)}
    for name in names:
        if len(name) > 1 or (name and entity.type in CODE_TYPES):
            yield Spelling(name, entity, rule_of(name, entity.type), file)


def file_of(entity: Entity) -> str:
    """Return the path of the file in which an entity is: stated by its metadata, or part of its name; else empty."""
    for name in ("file", "path"):
        stated = entity.metadata.get(name)
        if isinstance(stated, str) and stated:
            return stated
    found = _PATH.search(entity.name) if entity.type in CODE_TYPES else None
    return found[0] if found else ""


def rule_of(name: str, kind: str) -> Rule:
    """Return how strictly ``name``, of an entity of the type ``kind``, must be written.

    A plain word for something in code, such as ``run`` or ``Client``, must be written as code; ``Makefile`` is plain
    enough for a file. A common word for a library must be written as code or with a capital.
    """
    plain = _WORD.fullmatch(name) is not None and not _MARKED.search(name)
    if kind in CODE_TYPES:
        telling = not plain or name.isupper() or (kind == "file" and not name.islower())
        return Rule.AS_WRITTEN if telling and len(name) > 1 else Rule.CODE
    words = name.lower()
    if (plain and words in COMMON) or FUNCTION_WORDS.issuperset(words.split()):
        return Rule.CAPITAL
    return Rule.AS_WRITTEN if _MARKED.search(name) and " " not in name and kind != "library" else Rule.ANY_CASE


def _ends(name: str, kind: str) -> Iterator[str]:
    """Yield shorter forms of a name in code: the ends of a file's path; what follows a path; a function's last part."""
    bare = name.removesuffix("()").rstrip("/")
    yield bare
    if kind in ("file", "config"):
        parts = bare.split("/")
        yield from ("/".join(parts[at:]) for at in range(1, len(parts)))
    elif kind in ("class", "function"):
        path = _PATH.search(bare)
        after = bare[path.end() :].lstrip(":#") if path and path.start() == 0 else bare
        yield after
        yield _QUALIFIER.split(after)[-1]


_BACKTICKS = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
_CALL = re.compile(r"\(\s*\)|\((?=\S)")
_FILES = re.compile(r"(?<![\w./\\-])[\w./\\-]*\w\.[A-Za-z]\w{0,9}\b")
_INITIAL = re.compile(r"(?:^|[.!?:\n\"“(*#-])\s*$")
_NOUN = re.compile(r"`?\s+(?:lib(?:rary)?|package|module|crate|framework|dependency|gem|plugin)\b", re.IGNORECASE)
_SPACES = re.compile(r"[\t\n\r\f\v\u00a0]")
_JOINING = frozenset("-_/\\@")
_AROUND = 200
"""Characters before and after a name in which its file may be named: about a sentence. Chosen by hand; not measured."""


class Mention(NamedTuple):
    """A name of ``entity`` at ``text[start:end]`` of a memory's text."""

    entity: EntityKey
    start: int
    end: int


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
                self._spellings[_lowered(spelling.text)].append(spelling)
        self._matcher = Matcher(self._spellings)

    def __getitem__(self, key: EntityKey) -> Entity:
        return self._entities[key]

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """Return the entities that a text mentions, by place, without overlaps."""
        found: list[Mention] = []
        text, starts, ends = fold_with_places(text)
        in_code = bytearray(len(text))  # 1 for each character in backticks or a fenced block
        for block in _BACKTICKS.finditer(text) if "`" in text else ():
            in_code[block.start() : block.end()] = b"\x01" * len(block[0])
        at = 0
        for start, end, candidates in self._matcher.leftmost_longest(_lowered(text)):
            if start < at or not _is_whole(text, start, end):
                continue
            code = bool(in_code[start]) or _CALL.match(text, end) is not None
            named = self._meant(text, start, end, candidates, code=code)
            if named is None:
                continue
            at = end  # no name within this one counts, even if it leads nowhere
            if len(named) == 1:
                found.append(Mention(named[0], starts[start], ends[end - 1]))
        return tuple(found)

    def resolve(self, name: str, types: Iterable[str] = ()) -> Entity | None:
        """Return the entity that the whole of ``name`` names, of one of ``types`` if given; None if none or several.

        The letter case of names of code must be right; but a plain word needs no mark of code here.
        """
        allowed = frozenset(types)
        bare = " ".join(fold(name).replace("`", "").split()).removesuffix("()")
        spelled = (spelling for spelling in self._spellings.get(_lowered(bare), ()) if _is_spelled(bare, spelling))
        candidates = [spelling for spelling in spelled if not allowed or spelling.entity.type in allowed]
        return self._entities[keys[0]] if len(keys := _narrowed(bare, candidates, "")) == 1 else None

    def called(self, name: str, kind: str) -> list[Entity]:
        """Return the entities of a type that the whole of ``name`` may name, in order of their ids."""
        bare = " ".join(fold(name).split())
        spelled = [one for one in self._spellings.get(_lowered(bare), ()) if _is_spelled(bare, one)]
        keys = {spelling.entity.key for spelling in spelled if spelling.entity.type == kind}
        return [self._entities[key] for key in sorted(keys)]

    def occurs_in(self, text: str) -> bool:
        """Return whether a text holds any of the names, as a name or not; letter case aside."""
        return next(self._matcher.occurrences(_lowered(fold(text))), None) is not None

    def _meant(
        self, text: str, start: int, end: int, candidates: Sequence[Spelling], *, code: bool
    ) -> list[EntityKey] | None:
        """Return the entities that a place may mean; None if what is written there is none of their names."""
        possible = [spelling for spelling in candidates if _holds(spelling, text, start, end, code=code)]
        if code and any(spelling.entity.type in CODE_TYPES for spelling in possible):
            possible = [spelling for spelling in possible if spelling.entity.type in CODE_TYPES | {"library"}]
        written, sentence = " ".join(text[start:end].split()), text[max(0, start - _AROUND) : end + _AROUND]
        return _narrowed(written, possible, sentence) if possible else None


def _holds(spelling: Spelling, text: str, start: int, end: int, *, code: bool) -> bool:
    written = " ".join(text[start:end].split())
    if not _is_spelled(written, spelling):
        return False
    if spelling.rule is Rule.CODE:
        return code or _names_file(spelling.file, text[max(0, start - _AROUND) : end + _AROUND])
    if spelling.rule is Rule.CAPITAL:
        first = _INITIAL.search(text[max(0, start - 5) : start]) is not None  # room for the pattern
        noun = spelling.entity.type == "library" and _NOUN.match(text, end) is not None
        return (code and spelling.entity.type == "library") or noun or (written[0].isupper() and not first)
    return True


def _is_spelled(written: str, spelling: Spelling) -> bool:
    """Return whether the letter case of ``written`` fits a spelling."""
    exactly = spelling.rule in (Rule.AS_WRITTEN, Rule.CODE)
    return not exactly or written == spelling.text


def _narrowed(written: str, candidates: Sequence[Spelling], sentence: str) -> list[EntityKey]:
    """Return the entities that remain: if several, those spelled just so, then those whose file is named."""
    remaining = list(candidates)
    for test in (
        lambda spelling: spelling.text == written,
        lambda spelling: fold(spelling.entity.name) == written,
        lambda spelling: _names_file(spelling.file, sentence),
    ):
        if len({spelling.entity.key for spelling in remaining}) > 1:
            remaining = [spelling for spelling in remaining if test(spelling)] or remaining
    return list(dict.fromkeys(spelling.entity.key for spelling in remaining))


def _names_file(path: str, text: str) -> bool:
    """Return whether a text names a file: its path, or the end of it from its base name on."""
    files = (found.removeprefix("./") for found in (_FILES.findall(text) if path else ()))
    return any(path == found or path.endswith(f"/{found}") for found in files)


def _is_whole(text: str, start: int, end: int) -> bool:
    """Return whether ``text[start:end]`` is whole words, and no part of a compound, a path or a file name.

    In scripts without spaces between words any part of a run is taken for a word, but for a single letter.
    """
    before, after = text[start - 1 : start], text[end : end + 1]
    first, last = (end - start > 1 and is_run(char) for char in (text[start], text[end - 1]))
    if text[start].isalnum() or text[start] == "_":
        if (before.isalnum() and not first) or before in _JOINING or unicodedata.combining(before or " "):
            return False
        if before == "." and (text[start - 2 : start - 1].isalnum() or text[start - 2 : start - 1] in ("", " ", "/")):
            return False
    if text[end - 1].isalnum() or text[end - 1] == "_":
        if (after.isalnum() and not last) or (after in _JOINING and after) or unicodedata.combining(after or " "):
            return False
        if after == "." and (text[end + 1 : end + 2].isalnum() or text[end + 1 : end + 2] == "_"):
            return False
    return True


def _lowered(text: str) -> str:
    """Return a text in small letters with plain spaces, each character in its place."""
    return _SPACES.sub(" ", lowered(text))
