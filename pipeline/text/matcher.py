"""Many names found in running text at once."""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

import ahocorasick

_Value = TypeVar("_Value")


class Matcher(Generic[_Value]):
    """Finds texts, each with a value, in other texts by Aho-Corasick: in one pass, however many there are."""

    def __init__(self, values: Mapping[str, _Value]) -> None:
        self._automaton = ahocorasick.Automaton()
        for text, value in values.items():
            self._automaton.add_word(text, (len(text), value))
        self._automaton.make_automaton()

    def __bool__(self) -> bool:
        return len(self._automaton) > 0

    def occurrences(self, text: str) -> Iterator[tuple[int, int, _Value]]:
        """Yield the start and end of every occurrence in ``text``, and its value, by their ends."""
        for last, (length, value) in self._automaton.iter(text) if self else ():
            yield last - length + 1, last + 1, value

    def leftmost_longest(self, text: str) -> list[tuple[int, int, _Value]]:
        """Return the occurrences in the order in which to take them: by their starts, the longest first.

        They may overlap: the caller takes one if it begins after the last that was taken and stands there as a name.
        """
        return sorted(self.occurrences(text), key=lambda match: (match[0], -match[1]))


def lowered(text: str) -> str:
    """Return a text in small letters, each character in its place: those that would become several stay as they are."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
