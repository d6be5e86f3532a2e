"""Raised and lowered text, which must not run into the word before it: m² isn't m2, nor is a mark of a note a digit."""

import re
from collections.abc import Mapping

_RAISED = str.maketrans("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")
_ORDINAL = re.compile(r"st|nd|rd|th|e|er|re|ère|ème|eme|o|a", re.IGNORECASE)


def script_letters(text: str, before: str, *, raised: bool) -> Mapping[int, int] | None:
    """Return the letters in which to write a raised or lowered text after a character; None for it as it is.

    Empty letters: no such letters exist for the text, and spaces set it apart.
    """
    if not before or before.isspace() or not text:
        return None
    letters = _RAISED if raised else _LOWERED
    if all(ord(char) in letters for char in text):
        return letters
    return None if before.isdigit() and _ORDINAL.fullmatch(text) else {}
