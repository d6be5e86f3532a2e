"""Names of persons: their order, initials, titles and e-mail addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.domains.memory.dedupe.words import words_of

_ADDRESS = re.compile(r"<?([^\s<>@,;]+)@([^\s<>@,;]+\.[^\s<>@,;]+)>?")
_TITLES = frozenset("dr mr mrs ms prof professor sir".split())
_GENERATIONS = frozenset("jr sr junior senior ii iii iv".split())
_DEGREES = frozenset("phd md msc bsc".split())


@dataclass(frozen=True, slots=True)
class PersonName:
    """The parts of a person's name, in lower case.

    ``words`` are the names, first name first; ``generation`` tells Jr. from Sr. ``address`` is an e-mail address that
    the name holds, and ``bare`` tells that it holds nothing else: its words come from the address.
    """

    words: tuple[str, ...]
    generation: str = ""
    address: str = ""
    bare: bool = False
    reversed: bool = False

    @classmethod
    def of(cls, name: str) -> PersonName:
        """Read a name such as ``Jane Doe <jane@example.com>``, ``Doe, Jane``, ``Dr. J. Doe`` or an address."""
        found = _ADDRESS.search(name)
        address = address_of(name)
        rest = _ADDRESS.sub("", name).strip().strip("\"'")
        if found and not words_of(rest):
            return cls(words_of(found[1].partition("+")[0]), address=address, bare=True)
        last, comma, first = rest.partition(",")
        turned = bool(comma) and not set(words_of(first)) <= _GENERATIONS | _DEGREES
        words = words_of(f"{first} {last}" if turned else rest)
        generation = "".join(word for word in words[1:] if word in _GENERATIONS)
        dropped = _TITLES | _GENERATIONS | _DEGREES
        kept = tuple(word for word in words if word not in dropped) or words
        return cls(kept, generation, address, reversed=turned)


def difference(first: PersonName, second: PersonName) -> str:
    """Return what shows that two names are of different persons; "" if nothing does."""
    if first.address and second.address and first.address != second.address:
        return f"their e-mail addresses differ: {first.address} and {second.address}"
    if first.bare or second.bare:
        return ""  # the words of an address need not be a name
    if first.generation != second.generation:
        return "one of them is the younger or elder"
    if min(len(first.words), len(second.words)) < 2 or set(first.words) == set(second.words):
        return ""
    if first.words[-1] != second.words[-1]:
        return f"their last names differ: {first.words[-1]} and {second.words[-1]}"
    if not _same_given_name(first.words[0], second.words[0]):
        return f"their first names differ: {first.words[0]} and {second.words[0]}"
    middle = list(zip(first.words[1:-1], second.words[1:-1], strict=False))
    if not all(_same_given_name(*pair) for pair in middle):
        return "their middle names differ"
    return ""


def address_of(text: str) -> str:
    """Return the e-mail address that a text is or holds, in lower case; "" if there is none."""
    found = _ADDRESS.search(text)
    return f"{found[1]}@{found[2]}".casefold() if found else ""


def _same_given_name(first: str, second: str) -> bool:
    """Return whether one may be short for the other: ``j`` or ``jon`` for ``jonathan``."""
    return first.startswith(second) or second.startswith(first)
