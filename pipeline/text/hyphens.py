"""Words that are broken at the ends of lines, made whole; hyphens that belong to a word stay."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise, starmap

_HYPHENS = "\\-\N{HYPHEN}"
_WORD = rf"[^\W_](?:[\w{_HYPHENS}'’]*\w)?"
_BROKEN = re.compile(rf"(?<![\w{_HYPHENS}'’])({_WORD})[{_HYPHENS}]$")
_REST = re.compile(rf"[^\W\d_](?:[\w{_HYPHENS}'’]*\w)?")
_WORDS = re.compile(_WORD)
_LONGEST = 100  # characters of a word; chosen by hand, not measured
_SUSPENDED = frozenset("and or nor to und oder bzw et ou y o e".split())
"""After "pre-" in "pre- and post-war" nothing is broken."""

_FIRST = frozenset(
    """
    best better cost cross decision double eight eighty fifty five forty four full half high long low ninety non
    one second self semi seven seventy short single six sixty thirty three triple twenty two well
    """.split()
)
_SECOND = frozenset(
    """
    aware based born called defined dependent derived driven free friendly in induced level looking made making mediated
    minded off oriented out quality scale sized specific speed style term to up
    """.split()
)
"""First and last parts of compounds that English writes with a hyphen.

Chosen by hand from the parts with 30 partners and more in technical documentation, Cranfield, and texts of
questions over several documents: those that are seldom written closed there. On abstracts of CISI and SciFact, set in
lines of 45 characters, 0.5% of the words that TeX's patterns break keep a hyphen wrongly, and 29% of the hyphenated
words lose theirs (95% if all were joined), in texts of 10 abstracts; 0.6% and 19% in texts of 100.
"""


def mended(lines: Sequence[str]) -> list[str]:
    """Return lines of prose with the words whole that are broken at the end of a line, each on its first line.

    A line that held nothing but the rest of a word becomes empty. What else the text says decides: a hyphen stays if
    the word occurs with it, or if both its parts occur as words; it goes if the word occurs without it.
    """
    whole = [*lines]
    seen = _seen(lines)
    # from below, since a word in a narrow column may be broken twice
    for at in reversed(range(len(whole) - 1)):
        if parts := _broken(whole[at], whole[at + 1]):
            hyphen = "-" if _is_compound(*parts, seen) else ""
            tail = whole[at + 1].split(maxsplit=1)[0]
            whole[at] = whole[at][:-1] + hyphen + tail
            whole[at + 1] = whole[at + 1][len(tail) :].lstrip()
    return whole


def _broken(line: str, following: str) -> tuple[str, str] | None:
    """Return the parts of the word that is broken between two lines, if one is."""
    first = _BROKEN.search(line[-_LONGEST:])
    rest = _REST.match(following[:_LONGEST]) if first else None
    if not first or not rest or rest[0].casefold() in _SUSPENDED:
        return None
    return first[1], rest[0]


def _seen(lines: Sequence[str]) -> Counter[str]:
    """Return how often each word occurs, without the parts of broken words."""
    seen = Counter(match[0].casefold() for line in lines for match in _WORDS.finditer(line))
    for parts in filter(None, starmap(_broken, pairwise(lines))):
        seen.subtract(map(str.casefold, parts))
    return seen


def _is_compound(first: str, rest: str, seen: Mapping[str, int]) -> bool:
    """Return whether the hyphen between two parts belongs to the word, given how often each word occurs."""
    a, b = (re.sub(f"[{_HYPHENS}]", "-", part).casefold() for part in (first, rest))
    closed, compound = seen.get(a + b, 0), seen.get(f"{a}-{b}", 0)
    if closed or compound:
        return compound > closed
    if "-" in a + b or len(a) == 1 or (rest[0].isupper() and not first.isupper()):
        return True
    if first.isupper() and rest.islower():
        return True
    return min(seen.get(a, 0), seen.get(b, 0)) > 0 or a in _FIRST or (len(a) > 2 and b in _SECOND)
