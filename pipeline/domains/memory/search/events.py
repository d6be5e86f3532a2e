"""Events that a question relates to: "before the migration", "after we moved to Hono"."""

from __future__ import annotations

import re
from typing import NamedTuple

from pipeline.text.date_phrases import date_phrases, may_hold_dates
from pipeline.text.dates import Relation

_RELATIONS: dict[str, Relation] = {
    "before": "before",
    "prior to": "before",
    "until": "before",
    "after": "after",
    "following": "after",
    "since": "after",
    "during": "on",
    "while": "on",
    "when": "on",
}
_CUE = re.compile(
    r"\b(?:(?:just|right|shortly|soon|immediately|long|ever) )?"
    r"(?P<word>before|prior to|until|after|following|since|during|while|when)\b\s+",
    re.IGNORECASE,
)
_END = re.compile(
    r"[?!;,]|\.(?=\s|$)|:\s|\s(?:and|but|or) (?:what|why|how|who|when|where|which|did|does|do|is|was|were)\b"
    r"|\s(?:what|who|which|where|did|does)\b",
    re.IGNORECASE,
)
_PHRASAL = re.compile(
    r"\b(?:look|looks|looked|looking|name|names|named|take|takes|took|taking|go|goes|went|going|chase|chased|model(?:l?ed)?"
    r"|call|called|run|ran|running|ask|asked|known|pattern(?:ed)?|seek|sought|inquire[ds]?|day|week|year|month|one|time"
    r"|soon|ever)\s+$",
    re.IGNORECASE,
)
_INDIRECT = re.compile(
    r"\b(?:know|knows|knew|remember|recall|tell|told|say|said|ask|asked|me|wonder|out|decide|see|about|is|was|mention"
    r"|mentioned|and|or|exactly)\s+$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:did|do|does|is|was|were|are|has|have|had|will|would|can|could|should|shall)\b", re.IGNORECASE
)
_NOTHING = re.compile(
    r"(?:(?:that|this|then|it|all|which|long|now|when|what|the fact|or after|and after|him|her|them|me|us|you|everyone"
    r"|anyone|someone|noon|midnight|dark|lunch|dinner|breakfast|work|school)\b\W*$)|(?:all|that|then)\b[,\s]*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|our|my|his|her|their|your)\s+", re.IGNORECASE)
_TRAILING = re.compile(r"\s(?:and|but|or|not)$", re.IGNORECASE)


class EventHint(NamedTuple):
    """An event that a question names, to be found among memories, and how the memories asked for relate to its time."""

    phrase: str
    relation: Relation


def event_hints(question: str) -> tuple[EventHint, ...]:
    """Return the events that a question relates to in time, in its order, without a leading article.

    "What did we use before the migration?" gives ``migration``, before. Dates are left to ``time_hints``. A "when"
    that asks, verbs such as "look after", and words that name no event ("after that") give none.
    """
    cues = list(_CUE.finditer(question))
    if not cues:
        return ()
    dates = [phrase.start for phrase in date_phrases(question)] if may_hold_dates(question) else []
    hints = []
    for at, cue in enumerate(cues):
        limit = cues[at + 1].start() if at + 1 < len(cues) else len(question)
        ending = _END.search(question, cue.end(), limit)
        said = question[cue.end() : ending.start() if ending else limit].strip(" \"'“”()")
        phrase = _ARTICLE.sub("", _TRAILING.sub("", said))
        article = _ARTICLE.match(said)
        is_date = any(cue.end() <= start <= cue.end() + (article.end() if article else 0) for start in dates)
        if phrase and not is_date and not _NOTHING.fullmatch(phrase) and _relates(question, cue):
            hints.append(EventHint(phrase, _RELATIONS[cue["word"].lower()]))
    return tuple(hints)


def _relates(question: str, cue: re.Match[str]) -> bool:
    before, word = question[: cue.start()], cue["word"].lower()
    if word == "when":
        asks = not before.strip() and "," not in question[cue.end() :]
        return not (asks or _QUESTION.match(question, cue.end()) or _INDIRECT.search(before))
    return not (word in ("after", "before", "following") and _PHRASAL.search(before))
