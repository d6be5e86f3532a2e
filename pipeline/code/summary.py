"""Summarise a file of source code in plain words, for searches that are asked in words."""

import re

from pipeline.code.comments import first_sentence
from pipeline.code.records import Definition, DefinitionKind, SourceCode

_LONGEST = 1500
_SHORTEST_ACRONYM = 2
_BETWEEN = re.compile(r"[\W_]+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GIVEN_NAME = re.compile(r"__\w+__|constructor|initialize")


def summary_of(title: str, code: SourceCode) -> str:
    """Return the title, the first sentence about the file, and its classes, functions and methods with theirs.

    A name comes as written and in words. The summary has at most about 1,500 characters: if it is longer, the sentences
    about methods are left out, then all sentences about definitions, then the last names.
    """
    opening = [title, *filter(None, [first_sentence(code.doc)])]
    named = [definition for definition in code.definitions if not _is_minor(definition)]
    documented: tuple[frozenset[DefinitionKind], ...] = (
        frozenset(DefinitionKind),
        frozenset((DefinitionKind.CLASS, DefinitionKind.FUNCTION)),
        frozenset(),
    )
    for kinds in documented:
        summary = "\n".join(dict.fromkeys([*opening, *(_line(definition, kinds) for definition in named)]))
        if len(summary) <= _LONGEST:
            return summary
    return summary[: max(len("\n".join(opening)), summary.rfind("\n", 0, _LONGEST))]


def words_of(name: str) -> str:
    """Return an identifier in words: ``prepare_hooks`` gives ``prepare hooks``, ``HTTPAdapter`` ``HTTP adapter``."""
    words = filter(None, _BETWEEN.split(name))
    return " ".join(word if len(word) >= _SHORTEST_ACRONYM and word.isupper() else word.lower() for word in words)


def _is_minor(definition: Definition) -> bool:
    """Return whether a definition has a name that the language gives, or is a function in another one."""
    nested = definition.kind is DefinitionKind.FUNCTION and "." in definition.qualified
    return nested or bool(_GIVEN_NAME.fullmatch(definition.name))


def _line(definition: Definition, documented: frozenset[DefinitionKind]) -> str:
    words = words_of(definition.name)
    is_word = words in ("", definition.name, definition.name.lower())
    name = definition.name if is_word else f"{definition.name} ({words})"
    sentence = first_sentence(definition.doc) if definition.kind in documented else ""
    return f"{name}: {sentence}" if sentence else name
