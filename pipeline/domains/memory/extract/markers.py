"""Sentences that state conventions, errors and their remedies by plain markers: ``Convention: ...``, ``fixed by``.

Each pattern has the confidence of its marker, chosen by hand: a label (0.8 to 0.9) leaves less open than a verb (0.6 to
0.8). Questions and what is denied or supposed state nothing. The sentences are the evidence of facts.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.domains.memory.records import Memory
from pipeline.text.prose import one_line, sentences

# Characters of the name of a convention or an error, and of a sentence that is read; and below, confidences by how
# plainly a line says it. Chosen by hand; not measured.
_LONGEST, _LONGEST_SENTENCE = 200, 1000
_ITEM = r"[ \t]*(?:(?:[-*+•>]|\d{1,3}[.)])[ \t]+)?"
_BOLD = r"(?:\*\*|__)?"
_IGNORE = re.IGNORECASE


def _label(words: str) -> re.Pattern[str]:
    """Return the pattern of a line that begins with a label: ``- **Rule:** ...``."""
    return re.compile(rf"^{_ITEM}{_BOLD}(?:{words}){_BOLD}[ \t]*:[ \t]*{_BOLD}[ \t]*(?P<said>\S.*)$", _IGNORE)


_LABELS = (
    (_label(r"(?:(?:coding|naming|team|project|our) )?conventions?"), 0.9),
    (_label(r"(?:(?:coding|style|team|project|our) )?(?:rule|standard|guideline)s?"), 0.8),
)
_HEADING = re.compile(
    rf"^[ \t]*(?:#+[ \t]*)?{_BOLD}(?:(?:coding|naming|style|team|project|our) )?(?:conventions|rules|guidelines){_BOLD}"
    rf"[ \t]*(?P<colon>:?){_BOLD}[ \t]*$",
    _IGNORE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?P<said>\S.*)$")
_STATED = (
    (re.compile(r"^(?:the|our) (?:\w+ )?convention is(?: that| to)?:? (?P<said>.+)", _IGNORE), 0.8),
    (re.compile(r"^by convention,? (?P<said>.+)", _IGNORE), 0.8),
    (re.compile(r"^(?:the|our) (?:\w+ )?rule is(?: that| to)?:? (?P<said>.+)", _IGNORE), 0.7),
    (
        re.compile(r"^(?:(?:remember|note)(?: that|:|,)? )?we (?P<said>(?:always|never) (?P<verb>[\w'’]+).*)", _IGNORE),
        0.6,
    ),
)
_NO_RULE = re.compile(
    r"(?:had|were|was|did|went|got|said|thought|felt|knew|saw|came|love|enjoy|like|want|have|feel|laugh|miss|wonder"
    r"|dream|hope|think|know|\w+ed)",
    _IGNORE,
)
"""Verbs after "we always" that are about the past or about feelings."""

_ERRORS = (
    (
        re.compile(
            rf"^{_ITEM}{_BOLD}(?:known )?(?:error|bug|failure|error pattern){_BOLD}[ \t]*:{_BOLD}[ \t]*(?P<said>\S.*)$",
            _IGNORE,
        ),
        0.8,
    ),
    (re.compile(rf"^{_ITEM}`?(?P<said>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Panic): \S.*)$"), 0.85),
)
_FIX_FOR = re.compile(
    rf"^{_ITEM}{_BOLD}(?:the )?(?:fix|solution|remedy|workaround) for (?P<error>[^:]+?){_BOLD}[ \t]*:{_BOLD}[ \t]*"
    r"(?P<fix>\S.*)$",
    _IGNORE,
)
_FIXED_BY = re.compile(
    r"^(?P<error>.+?) (?:(?:was|is|were|are|got|has been|have been) )(?:then |finally |now |since |later )?"
    r"(?:fixed|solved|resolved) (?:by|with|using) (?P<next>.+)$",
    _IGNORE,
)
_RELATIONS = (
    ("fixed_by", _FIXED_BY, 0.8),
    ("triggers", re.compile(r"^(?P<error>.+?) (?:triggers|triggered) (?P<next>.+)$", _IGNORE), 0.75),
    ("triggers", re.compile(r"^(?P<error>.+?) (?:leads to|led to) (?P<next>.+)$", _IGNORE), 0.65),
)
_UNCERTAIN = re.compile(
    r"\b(?:not|never|no longer|neither|if|unless|whether|may|might|could|would|should|maybe|perhaps|\w+n['’]t)\b",
    _IGNORE,
)
SOUNDS_WRONG = re.compile(
    r"error|exception|timeout|timed out|mismatch|fail(?:ure|s|ed|ing)?\b|crash|deadlock|\bleak|unauthori[sz]ed"
    r"|forbidden|refused|denied|panic|overflow|out of memory|\boom\b|\bbug\b|broken|corrupt"
    r"|conflict|race condition|\b[45]\d\d\b|not found|stack ?trace|segfault|regression|outage|flaky"
    r"|stale|invalid|missing|\bhang",
    _IGNORE,
)
"""Words for something that goes wrong, and the HTTP statuses of errors."""

_LEAD = re.compile(
    r"^(?:.*\b(?:that|because|so|and then|found out)\s+)?(?:the|an?|this|our|my|its?|every|each|and|but|so|then)?\s*",
    _IGNORE,
)
_TRAILING = re.compile(r"[\s.!;,:*_]+$")
_CLAUSE = re.compile(r"[,;]\s|\s\||\s[-–—]\s|\s(?:so|but|which|because|when|after|before|and then|and now)\s|\s\(")
_DATE = re.compile(
    r"^(?:(?:the )?(?:end|middle|start) of|tomorrow|today|tonight|next|last|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|may|june|july|august|september|october|november|december|noon|midnight|\d)",
    _IGNORE,
)


class Stated(NamedTuple):
    """The statement of a sentence: ``kind`` is ``convention``, ``error``, ``triggers`` or ``fixed_by``.

    ``first`` is the convention or error, ``second`` what it leads to or is fixed by. ``sure`` says that the marker
    itself declares the first an error.
    """

    kind: str
    first: str
    second: str
    confidence: float
    sentence: str
    sure: bool = True


def stated_in(text: str, speaker: str = "") -> Iterator[Stated]:
    """Yield what the sentences of a text state by markers, in order. A ``speaker:`` that begins the text is no part."""
    prefix = f"{speaker}:"
    start = len(prefix) if speaker and text.startswith(prefix) else 0
    under_heading = False
    for line in text[start:].splitlines():
        heading = _HEADING.match(line)
        if heading and (heading["colon"] or line.lstrip().startswith("#")):
            under_heading = True
        elif statement := _of_line(line, under_heading=under_heading):
            yield statement
        elif line.strip():
            under_heading = False
            yield from _of_sentences(line)


def _of_line(line: str, *, under_heading: bool) -> Stated | None:
    for kind, patterns in (("convention", _LABELS), ("error", _ERRORS)):
        for pattern, confidence in patterns:
            if (match := pattern.match(line)) and (said := _named(match["said"])):
                return Stated(kind, said, "", confidence, line.strip())
    if (match := _FIX_FOR.match(line)) and (fix := _named(match["fix"])):
        return Stated("fixed_by", _subject(match["error"]), fix, 0.85, line.strip())
    if under_heading and (match := _LISTED.match(line)) and (said := _named(match["said"])):
        return Stated("convention", said, "", 0.8, line.strip())
    return None


def _of_sentences(line: str) -> Iterator[Stated]:
    for start, end in sentences_of(line):
        sentence = " ".join(line[start:end].lstrip("-*+•> \t").split())
        if len(sentence) > _LONGEST_SENTENCE or sentence.rstrip(" \"'”’)*_").endswith("?"):
            continue
        if statement := _convention(sentence) or _relation(sentence):
            yield statement


def _convention(sentence: str) -> Stated | None:
    for pattern, confidence in _STATED:
        match = pattern.match(sentence)
        if match is None or ("verb" in pattern.groupindex and _NO_RULE.fullmatch(match["verb"])):
            continue
        if said := _named(match["said"]):
            return Stated("convention", said, "", confidence, sentence)
    return None


def _relation(sentence: str) -> Stated | None:
    for kind, pattern, confidence in _RELATIONS:
        match = pattern.match(sentence)
        if match is None or _UNCERTAIN.search(match["error"]) or (kind == "fixed_by" and _DATE.match(match["next"])):
            continue
        error, clause = _subject(match["error"]), _CLAUSE.split(match["next"])[0]
        following = _named(clause) if kind == "fixed_by" else _subject(clause)
        if error and following:
            return Stated(kind, error, following, confidence, sentence, sure=False)
    return None


def _subject(said: str) -> str:
    """Return the last clause of what precedes a verb, without its article."""
    return _named(_LEAD.sub("", re.split(r"[,;:|]\s", said)[-1], count=1))


def _named(said: str) -> str:
    """Return a statement as a name: without markup and full stop, at most so many characters."""
    name = " ".join(_TRAILING.sub("", said.strip().strip('*_"“”')).split())
    if name.count("`") % 2:
        name = name.rstrip("`")
    elif name.count("`") == 2 and name[0] == name[-1] == "`":
        name = name[1:-1].strip()
    return name if len(name) <= _LONGEST else name[:_LONGEST].rpartition(" ")[0]


def evidence_of(memory: Memory, sentence: str) -> str:
    """Return a fact's evidence: the memory's key and the sentence, of which at most 1,000 characters."""
    return f"{memory.key}: {one_line(sentence, _LONGEST_SENTENCE)}"


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text as (start, end), in order; a line's end ends a sentence."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield from sentences(text, start, start + len(line))
        start += len(line)


def sentence_naming(text: str, names: Sequence[str]) -> str:
    """Return the first sentence that has all of ``names``, letter case aside; the whole text if none has."""
    folded = [name.casefold() for name in names]
    parts = (text[start:end] for start, end in sentences_of(text))
    return next((part for part in parts if all(name in part.casefold() for name in folded)), text)
