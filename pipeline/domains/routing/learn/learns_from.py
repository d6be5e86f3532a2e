"""LEARNS_FROM: sentences in session notes about taking something from another project.

A project's name may be an ordinary word: ``flask``, ``requests``. The form of a mention decides:

- a name: a capital within a sentence, a digit or a joiner, backticks, a path, or a noun after it ("the dojo crate");
- an ordinary word: after an article, or before what continues a noun ("requests that failed");
- either: counts only with a verb ("borrowed from dojo", "as dojo does"). If the notes use the word more often as an
  ordinary one than as a name, it counts less, and after a weak verb ("looked at") not at all.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import NamedTuple

from pipeline.domains.routing.learn.clues import Clue, clue
from pipeline.domains.routing.learn.names import ProjectNames
from pipeline.domains.routing.learn.notes import SessionNote
from pipeline.text.prose import prose, sentences

# By the verb: taken from it, looked at it, none. Chosen by hand, as `clues` says: one clear sentence is listed and two
# aren't yet accepted unseen (0.84); bare mentions stay below `clues._WEAK`, so that they never exceed 0.5 together.
_LEARNT, _SAW, _BARE = 0.6, 0.45, 0.15
_DOUBTFUL = 0.5
"""Factor of a clear verb with a word that the notes mostly use as an ordinary one; chosen by hand."""

_MARKS = r"[`'\"“”‘’*_(\[]*"
_CLOSED = r"[`'\"”’*_)\]]*"
_FROM = (
    "borrow(?:ed|ing)?|cop(?:y|ied|ying)|port(?:ed|ing)?|tak(?:e|en|ing)|took|adapt(?:ed|ing)?|lift(?:ed|ing)?|"
    "st[eo]al(?:ing)?|stolen?|learn(?:ed|t|ing)?|inspired|modell?ed|based|patterned|derived|idea|pattern"
)
_LEARNT_BEFORE = re.compile(
    rf"(?i)\b(?:{_FROM})\b[^.;:!?]{{0,60}}?\b(?:from|by|on|after)\s+(?:how\s+)?(?:the\s+)?{_MARKS}$"
    rf"|\b(?:follow|mirror|imitat|emulat)\w*\s+(?:the\s+)?{_MARKS}$"
)
_SAW_BEFORE = re.compile(
    r"(?i)\b(?:look\w*(?:\s+\w+)?\s+(?:at|into|through)|stud(?:y|ied|ying)|read(?:ing)?(?:\s+through)?|explor\w*|"
    r"consult\w*|check(?:ed|ing)?(?:\s+out)?|compar\w*(?:\s+\S+)?\s+(?:with|to)|d[iu]g\w*\s+into|referr\w*\s+to|"
    rf"saw|see)\s+(?:the\s+)?{_MARKS}$"
)
_AS_BEFORE = re.compile(rf"(?i)\b(?:as|like|how|what|why|the\s+way)(?:\s+in)?\s+{_MARKS}$")
_DOES_AFTER = re.compile(
    rf"(?i)^{_CLOSED}\s+(?:does|do|did|handle[sd]?|implement(?:s|ed)?|solve[sd]?|structures?|organi[sz]es?|use[sd]?)\b"
)
_WAY_AFTER = re.compile(rf"(?i)^{_CLOSED}['’]s\s+(?:\w+\s+)?(?:way|approach|pattern|style|design|idea|trick)\b")
_NOUN_AFTER = re.compile(
    rf"(?i)^{_CLOSED}(?:['’]s)?\s+"
    r"(?:repo(?:s|sitory)?|project|codebase|source|crate|library|package|framework|docs)\b"
)
_ARTICLE_BEFORE = re.compile(
    r"(?i)\b(?:an?|the|this|that|these|those|some|any|no|each|every|all|many|few|several|more|most|my|our|your|his|her|"
    r"its|their|of|\d+|one|two|three)\s+$"
)
_ORDINARY_AFTER = re.compile(
    r"(?i)^\s+(?:of|that|which|who|per|from|with|were|was|are|is|made|sent|being|been|have|has|fail(?:ed)?)\b"
)
_NOT_BEFORE = re.compile(
    r"(?i)\b(?:not|no|none|nothing|nobody|neither|nor|never|without|unlike|cannot|\w+n['’]t)\b"
    r"[^,;:.]{0,30}$|\b(?:instead\s+of|rather\s+than)\s+(?:the\s+)?[^\w\s]*$"
)
_JOINED = re.compile(r"[-_/.\d]")
_PATH_AFTER = re.compile(r"^(?:`|/\w|::\w)")
_HEADING = r"^[ \t]*#{1,6}[ \t]"
_PARAGRAPH = re.compile(rf"{_HEADING}[^\n]*|(?:(?!{_HEADING})^[^\n]*\S[^\n]*\n?)+", re.MULTILINE)
"""A heading, or lines up to the next heading or empty line."""

_NEAR = 150
"""Characters on either side of a mention that are looked at; the longest pattern takes about 90. A log without full
stops is one long sentence, and to search all of it at each of 4,000 mentions took two minutes."""


class _Form(Enum):
    NAME = auto()
    EITHER = auto()
    ORDINARY = auto()


class _Mention(NamedTuple):
    project: str
    form: _Form
    strength: float
    note: SessionNote
    line: int
    sentence: str


def learning_clues(notes: Iterable[SessionNote], names: ProjectNames) -> dict[str, list[Clue]]:
    """Return the clues in notes by the project of the note, one for each sentence that mentions another project."""
    mentions = [mention for note in notes for mention in _mentions(note, names)]
    forms = Counter((mention.project, mention.form) for mention in mentions)
    clues: dict[str, list[Clue]] = {}
    for one in mentions:
        strength = one.strength
        if one.form is not _Form.NAME:
            if one.form is _Form.ORDINARY or strength == _BARE:
                continue
            if forms[one.project, _Form.ORDINARY] > forms[one.project, _Form.NAME]:
                strength = _DOUBTFUL * _LEARNT if strength == _LEARNT else 0.0
        if strength and one.project != one.note.project:
            place = f"{one.note.path}:{one.line}"
            found = clue(one.project, strength, one.note.path, one.line, one.sentence, place)
            clues.setdefault(one.note.project, []).append(found)
    return clues


def _mentions(note: SessionNote, names: ProjectNames) -> Iterator[_Mention]:
    pattern = names.pattern()
    text = prose(note.text)
    line_ends = [match.start() for match in re.finditer("\n", text)]
    for paragraph in _PARAGRAPH.finditer(text) if pattern else ():
        for start, end in sentences(text, *paragraph.span()):
            for match in pattern.finditer(text, start, end) if pattern else ():
                if project := names.named(match.group()):
                    first, last = max(start, match.start() - _NEAR), min(end, match.end() + _NEAR)
                    before, after = text[first : match.start()], text[match.end() : last]
                    line = note.line + bisect_left(line_ends, match.start())
                    form = _form(match.group(), before, after)
                    yield _Mention(project, form, _said(before, after), note, line, text[first:last])


def _form(name: str, before: str, after: str) -> _Form:
    capital = name[0].isupper() and bool(re.search(r"\w", before))
    spelled = bool(_JOINED.search(name)) or any(char.isupper() for char in name[1:]) or capital
    if spelled or before.endswith(("`", "/")) or _PATH_AFTER.match(after) or _NOUN_AFTER.match(after):
        return _Form.NAME
    if _ARTICLE_BEFORE.search(before) or _ORDINARY_AFTER.match(after):
        return _Form.ORDINARY
    return _Form.EITHER


def _said(before: str, after: str) -> float:
    """Return the strength of a mention by the text before and after it; a denied one is a bare mention."""
    if _NOT_BEFORE.search(before):
        return _BARE
    does = _AS_BEFORE.search(before) and _DOES_AFTER.match(after)
    if does or _LEARNT_BEFORE.search(before) or _WAY_AFTER.match(after):
        return _LEARNT
    return _SAW if _SAW_BEFORE.search(before) else _BARE
