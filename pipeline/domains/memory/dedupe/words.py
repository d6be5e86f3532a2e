"""Words of a name, however it is written: with separators, in camel case, with capitals or accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s*[\s_.,:\-–]\s*(?=\d)")
_CAMEL = re.compile(r"(?<=[^\W\dA-Z_])(?=[A-Z])|(?<=[0-9])(?=[A-Z][a-z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DROPPED = r"\s_\-–—.,:;'’‘\"“”`()\[\]{}?!"
# Kept: a sign before a number, the dot of .NET, the dot in 3.11, and all symbols that may tell names apart (C++, C#).
_WORD = re.compile(rf"(?:(?<!\S)-(?=\d)|^\.(?=[^\W\d_]))?(?:[^{_DROPPED}]|(?<=\d)\.(?=\d)|!(?==))+")
_ACCENTS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")

ECOSYSTEMS: Mapping[str, str] = {
    "npm": "npm",
    "pypi": "pypi",
    "crate": "crates.io",
    "crates": "crates.io",
    "cargo": "crates.io",
    "gem": "rubygems",
    "rubygems": "rubygems",
    "maven": "maven",
    "nuget": "nuget",
    "packagist": "packagist",
}
"""Words that name the registry of a library."""

_CONFIG_KINDS: Mapping[str, str] = {
    "env": "variable",
    "variable": "variable",
    "var": "variable",
    "flag": "flag",
    "option": "flag",
    "file": "file",
}
GENERIC: Mapping[str, Mapping[str, str]] = {
    "library": {
        **ECOSYSTEMS,
        **dict.fromkeys(("package", "library", "lib", "module", "framework", "dependency"), ""),
    },
    "config": {**_CONFIG_KINDS, **dict.fromkeys(("environment", "setting", "config", "configuration"), "")},
    "concept": {"concept": ""},
    "convention": {"convention": "", "rule": "", "guideline": ""},
    "error_pattern": {"error": "", "problem": "", "issue": ""},
}
"""Words that say only what an entity of a type is, each with the kind that it tells; "" tells none."""

LANGUAGES: Mapping[str, str] = {
    word: language
    for language, words in {
        "python": "python py py2 py3",
        "javascript": "javascript js node nodejs",
        "typescript": "typescript ts",
        "rust": "rust rs",
        "go": "go golang",
        "java": "java jvm",
        "kotlin": "kotlin",
        "scala": "scala",
        "ruby": "ruby rb",
        "php": "php",
        "csharp": "csharp c# dotnet .net net",
        "cpp": "cpp c++ cxx",
        "swift": "swift",
        "perl": "perl",
        "elixir": "elixir",
        "haskell": "haskell",
    }.items()
    for word in words.split()
}
"""Programming languages by the words that name them."""

SUFFIXES = frozenset("js ts jsx tsx mjs py rs go rb java json jsonc toml yaml yml ini cfg conf md txt xml lock".split())
"""Endings of files' names."""

_OPPOSITES = (
    "client server|read write|get set|input output|in out|min max|minimum maximum|start stop end finish|begin end"
    "|open close|opened closed|source target destination sink|before after|pre post|old new|public private"
    "|dev development staging prod production test|sync async|encode decode|encoder decoder|encrypt decrypt"
    "|serialize deserialize|upload download|enable disable|enabled disabled|left right|up down|top bottom"
    "|row rows column columns|push pull|add remove|create delete update|insert delete|import export|local remote global"
    "|internal external|primary secondary replica|parent child|request response|front back|frontend backend"
    "|true false|yes no|on off|with without|first second third last|one two three four five|north south east west"
    "|upper lower|positive negative|load save|sender receiver|producer consumer|publisher subscriber|master slave"
    "|ascending descending|asc desc|horizontal vertical|active inactive passive|allow deny|black white|dark light"
    "|success failure|hot cold|high low|short long|monday tuesday wednesday thursday friday saturday sunday"
    "|january february march april may june july august september october november december|mother father|son daughter"
    "|brother sister|aunt uncle|husband wife|http https|tcp udp|ipv4 ipv6|mysql postgresql sqlite"
)
_GROUPS = tuple(frozenset(group.split()) for group in _OPPOSITES.split("|"))
_NEGATIONS = ("un", "in", "im", "ir", "non", "dis", "de", "anti", "a")
NEGATIVES = frozenset("not no non without never anti".split())
"""Words whose presence alone turns a name into its opposite."""


def words_of(name: str, *, camel: bool = False) -> tuple[str, ...]:
    """Return the words of a name without case, accents and punctuation; ``camel`` splits ``camelCase`` as well.

    Numbers keep the dots between their parts, and symbols that may tell names apart stay, as in ``C++``.
    """
    composed = unicodedata.normalize("NFC", name).strip()
    if camel:
        composed = _CAMEL.sub(" ", composed)
    return tuple(map(without_accents, _WORD.findall(_BETWEEN_DIGITS.sub(".", composed))))


def without_accents(text: str) -> str:
    """Return a text in one case and without the accents of Latin letters; other scripts keep their marks."""
    decomposed = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed))


def folded(name: str) -> str:
    """Return a name in one case, with single spaces."""
    return " ".join(unicodedata.normalize("NFC", name.casefold()).split())


def numbers_of(name: str) -> tuple[str, ...]:
    """Return the numbers in a name, in order."""
    return tuple(_NUMBER.findall(_BETWEEN_DIGITS.sub(".", name)))


def opposites(first: str, second: str) -> bool:
    """Return whether two words exclude each other: ``client`` and ``server``, ``sync`` and ``async``."""
    if any(first in group and second in group for group in _GROUPS):
        return first != second
    shorter, longer = sorted((first, second), key=len)
    return len(shorter) > 2 and any(longer == prefix + shorter for prefix in _NEGATIONS)
