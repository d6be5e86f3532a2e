"""Split plain text into sentences, in scripts that mark the end of a sentence."""

import re
from collections.abc import Iterator

# The look-behind matches only the first sign of a run. The possessive quantifiers keep a long run of full stops
# from being retried at each of its characters.
_END = re.compile(
    r"(?<![.!?…])(?P<soft>[.!?…]++[\"'’”»)\]}*_]*+)(?=\s)"
    r"|[。！？｡．؟۔।॥։።၊။។][\"'’”»）」』】\])]*+"
    r"|\n(?=[ \t]*+(?:[-*+•]|\d{1,3}[.)])[ \t])"
)
_LAST_WORD = re.compile(r"[^\s(\[{\"'“‘«]*\Z")
_ABBREVIATIONS = frozenset(
    "al approx assoc ave bd bl bzw ca cap cf ch chap co col corp cp d.h dept diff dr e.g ed eds eg eq eqs esp etc ex "
    "ff fr gen gov hon i.e ibid ie inc jr lt ltd mag mme mr mrs ms n.b p.ej p.ex pg ph.d pp pres prof pt ref refs "
    "rep resp rev s sgt sp spp sr sra srl st str subsp suppl u.a u.s usw v var vgl viz vs z.b т.е т.д т.п см".split()
)
_BEFORE_NUMBER = frozenset(
    "abb art fig figs max min no nos nr núm op p pag par pl sec sect tab vol vols г гг рис стр".split()
)
_ENDS_ANYWAY = frozenset("etc usw т.д т.п al inc ltd co jr corp".split())


def sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the sentences of ``text[start:end]`` in order as (start, end), without white space around them.

    Every character that isn't white space lies in a sentence. A full stop doesn't end a sentence after an abbreviation,
    an initial or a list number, nor before a lower-case letter. A new list item begins a sentence.
    """
    for match in _END.finditer(text, start, end):
        if match["soft"] and not _is_end(text, start, match):
            continue
        yield from _nonblank(text, start, match.end())
        start = match.end()
    yield from _nonblank(text, start, end)


def _nonblank(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    stretch = text[start:end]
    stripped = stretch.strip()
    if stripped:
        start += len(stretch) - len(stretch.lstrip())
        yield start, start + len(stripped)


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    """Return whether the full stop, question or exclamation mark at ``match`` ends the sentence begun at ``start``."""
    after = text[match.end() : match.end() + 40].lstrip().lstrip("\"'“‘«([*_")[:1]
    if after.islower():
        return False
    if match["soft"][0] != "." or match["soft"].startswith(".."):
        return True
    last_word = _LAST_WORD.search(text, max(start, match.start() - 24), match.start())
    word = last_word[0].casefold() if last_word else ""
    if word.isdigit() and (match.start() - len(word)) == start:
        return False
    if len(word) == 1 and word.isalpha():
        return False
    if word in _BEFORE_NUMBER:
        return not after.isdigit()
    if word in _ABBREVIATIONS:
        return word in _ENDS_ANYWAY and after.isupper()
    return True
