"""Phrases of a question that are dates by their form, such as ``last May``, found without resolving them."""

import re
from collections.abc import Iterator
from typing import NamedTuple

MONTHS = "january february march april may june july august september october november december".split()
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_FULL_MONTH = rf"(?:{'|'.join(MONTHS)}|sept)"
_DAY = r"(?:3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?:1[5-9]|20)\d\d"
_WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_UNIT = r"(?:week|weekend|month|quarter|year|decade)"
_SPAN = r"(?:minute|hour|day|week|weekend|month|year|decade)"
COUNT = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|a couple(?: of)?|a few|few|several"
    r"|some|half an?)"
)
"""Pattern of a count of units."""
_TENS = r"(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties)"

_FORMS = (
    ("iso", r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d{4}/\d\d/\d\d"),
    ("iso_month", r"\d{4}-(?:0[1-9]|1[0-2])"),
    ("numeric", r"\d{1,2}[./]\d{1,2}[./](?:1[5-9]|20)\d\d"),
    ("years", rf"{_YEAR} ?[-–] ?{_YEAR}"),
    ("day", rf"{_DAY}(?: of)? {_MONTH}\.?(?:, ?| ){_YEAR}|{_MONTH}\.? {_DAY}(?:, ?| ){_YEAR}"),
    ("month", rf"{_MONTH}\.?,?(?: of)? {_YEAR}"),
    ("yearless", rf"{_DAY}(?: of)? {_MONTH}|{_MONTH}\.? {_DAY}"),
    ("quarter", rf"q[1-4](?: of)?,? {_YEAR}|(?:first|second|third|fourth|last) quarter of {_YEAR}"),
    ("season", rf"{_SEASON}(?: of)?,? {_YEAR}"),
    ("ago", rf"{COUNT} {_SPAN}s? ago"),
    ("named", r"the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|last night"),
    ("before_last", rf"the (?:{_UNIT}|{_WEEKDAY}|{_SEASON}) before last"),
    ("past", rf"(?:last|past|previous) {COUNT} {_SPAN}s?"),
    ("relative", rf"(?:last|this past|this|next|past|previous|coming) (?:{_UNIT}|{_SEASON}|{_FULL_MONTH}|{_WEEKDAY})"),
    ("part_of_day", r"this (?:morning|afternoon|evening)"),
    ("decade", rf"the (?:1[5-9]|20)\d0s|the ['’]?\d0s|the {_TENS}"),
    ("bare_year", _YEAR),
    ("bare_month", _FULL_MONTH),
    ("bare_season", _SEASON),
    ("bare_weekday", _WEEKDAY),
    ("bare_quarter", r"q[1-4]"),
)
_PATTERN = re.compile(
    r"(?<![\w#$€£/.:@\-])"
    r"(?:(?P<part>early|late|mid|(?:start|beginning|middle|end|first half|second half) of)[ -](?:the )?)?(?:"
    + "|".join(f"(?P<{name}>{form})" for name, form in _FORMS)
    + r")(?![\w/@%]|[.:\-–][\w])",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"\b(?:\d{4}|\d0s|ago\b|yesterday|to(?:day|night|morrow)|(?:last|this|next|past|previous|coming)\b|"
    rf"{_SEASON}\b|{_TENS}\b|{_MONTH}\b|{_WEEKDAY}\b|q[1-4]\b)"
)
"""A cheap test, which most texts without a date fail."""

_PREPOSITIONS = {
    "bare_year": "in during throughout since until till before after by from of for around between year than".split(),
    "bare_month": "in during throughout since until till before after by from of between".split(),
    "bare_season": "in during throughout since until till by".split(),
    "bare_weekday": "on since until till before after by from".split(),
    "bare_quarter": "in during since until before after by".split(),
}
JOIN = re.compile(r" ?(?:and|to|until|till|through|[-–]) ?(?:the )?", re.IGNORECASE)
"""Separator of two dates that belong together."""

_LAST_WORD = re.compile(r"([a-z]+)[ -](?:the )?$", re.IGNORECASE)
_COUNTED = re.compile(r" (?!(?:was|is|has|does|this|its|us|as|always|perhaps|onwards?)\b)(?:[a-z]+s|people|percent)\b")
_VERBS = re.compile(r" (?:be|have|not|i|we|you|they|he|she|it|the|a|also|well|help|need|want|require)\b", re.IGNORECASE)
_OTHER_SPRING = re.compile(r" (?:[A-Z]|framework\b|roll|lock)")


class Phrase(NamedTuple):
    """A date at ``text[start:end]`` of a question: the name of its form, and which part of the date is meant, if any.

    ``text`` is the date without that part.
    """

    form: str
    text: str
    start: int
    end: int
    part: str = ""


def date_phrases(text: str) -> Iterator[Phrase]:
    """Yield the phrases of a text that are dates by form and surroundings, in order.

    Years, months, seasons and weekdays alone need a preposition (``in May``), or an earlier date that ``and`` or ``to``
    joins them to. Months that are verbs (may, march) need a capital or a year.
    """
    previous = -1
    for match in _PATTERN.finditer(text) if _CUE.search(text.lower()) else ():
        form = match.lastgroup if match.lastgroup != "part" else None
        if form is None:
            continue
        phrase = Phrase(form, match[form], match.start(), match.end(), (match["part"] or "").lower())
        joined = previous >= 0 and JOIN.fullmatch(text, previous, phrase.start) is not None
        if _is_date(phrase, text, joined=joined):
            previous = phrase.end
            yield phrase


def _is_date(phrase: Phrase, text: str, *, joined: bool) -> bool:
    form, written, at = phrase.form, phrase.text, phrase.end - len(phrase.text)
    before = _LAST_WORD.search(text, max(0, phrase.start - 30), phrase.start)  # room for a word
    word = before[1].lower() if before else ""
    if form in _PREPOSITIONS and not (phrase.part or joined or word in _PREPOSITIONS[form]):
        return False
    if form == "bare_year":
        return not _COUNTED.match(text, phrase.end)
    if form == "yearless":
        return not (_is_verb(written) or (not written[0].isdigit() and _COUNTED.match(text, phrase.end)))
    if form == "bare_month":
        return not _is_verb(written) or (word == "in" and not _VERBS.match(text, phrase.end))
    if form == "relative":
        return _is_relative_date(written, word, text, at)
    if form == "bare_season":
        return not (written == "Spring" or re.match(r" of\b", text[phrase.end :]))
    return True


def _is_verb(written: str) -> bool:
    """Return whether a date's month may be a verb: ``may 2``, ``march``."""
    return re.search(r"\b(?:may|mar|march)\b", written) is not None and not re.match(r"\d+(?:st|nd|rd|th| of)", written)


def _is_relative_date(written: str, word: str, text: str, at: int) -> bool:
    first, _, unit = written.rpartition(" ")
    if first.lower() in ("next", "coming") and re.search(r"\bthe $", text[max(0, at - 4) : at], re.IGNORECASE):
        return False  # "the next week" is relative to a story
    if first.lower() in ("past", "previous") and word not in ("the", "this") and not text[:at].lower().endswith("the "):
        return False
    if _is_verb(unit):
        return first.lower() == "last" and not _VERBS.match(text, at + len(written))
    return not (unit == "Spring" and _OTHER_SPRING.match(text, at + len(written)))
