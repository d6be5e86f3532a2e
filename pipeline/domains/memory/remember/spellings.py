"""Spellings of entities: what a text may write for an entity, and how strictly it must write it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from pipeline.domains.memory.records import Entity
from pipeline.domains.memory.remember.common_words import COMMON
from pipeline.text.names import FUNCTION_WORDS

CODE_TYPES = frozenset(("file", "module", "class", "function", "config"))
"""Types whose names are identifiers or paths: they are found as written."""

_WORD = re.compile(r"[^\W\d_]+")
_QUALIFIER = re.compile(r"::|[:#./\\]")
_MARKED = re.compile(r"[\d_./:#@-]|[a-z][A-Z]")
_PATH = re.compile(r"[^\s:#]*[\w\-/]\.[A-Za-z]\w{0,9}(?=$|::?|#)|^[^\s:#]+/")


class Rule(Enum):
    """The way in which a spelling must be written to lead to its entity."""

    ANY_CASE = auto()
    """letter case aside"""
    AS_WRITTEN = auto()
    """in its own letter case"""
    CAPITAL = auto()
    """with a capital, and not as the first word of a sentence"""
    CODE = auto()
    """as code: called, in backticks, or with its file"""


class Spelling(NamedTuple):
    """A name or alias of an entity; ``file`` is the file's path if it is a name in code."""

    text: str
    entity: Entity
    rule: Rule
    file: str = ""


def spellings(entity: Entity) -> Iterator[Spelling]:
    """Yield what a text may write for an entity: its name and aliases; of paths and qualified names also their ends."""
    file = file_of(entity)
    names = {" ".join(name.split()): None for name in (entity.name, *entity.aliases)}
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
    lowered = name.lower()
    if plain and (lowered in COMMON or lowered in FUNCTION_WORDS):
        return Rule.CAPITAL
    if FUNCTION_WORDS.issuperset(lowered.split()):
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
