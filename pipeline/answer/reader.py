"""The answer in what a model writes: without its reasoning, as pieces of text and citations."""

import re
from dataclasses import dataclass
from enum import Enum

from pipeline.answer.citations import CitationReader, Piece
from pipeline.answer.prompt import NO_ANSWER

UNANSWERED = "The corpus doesn't say."
"""The answer where the passages hold none."""

_TAGS = "think|thinking|thought|reasoning"
_OPENED = re.compile(rf"<(?:{_TAGS})>|\[THINK\]", re.IGNORECASE)
_CLOSED = re.compile(rf"</(?:{_TAGS})>|\[/THINK\]", re.IGNORECASE)
_STRAY = re.compile(rf"\n[ \t]{{0,8}}(?:{_CLOSED.pattern})", re.IGNORECASE)
_UNFINISHED = re.compile(r"\n[ \t]{0,8}(?:[<\[](?:/[a-z]{0,9})?)?\Z", re.IGNORECASE)
"""The end of a text that may become a stray tag by what follows."""

_NO_ANSWER = re.compile(rf"[\s*_\"'`#>]*{NO_ANSWER.replace(' ', '[ _]')}(?![A-Za-z])[*_\"'`.:,;\s–—-]*")
_LONGEST_MARK = 24
"""Characters of a beginning that are enough to know what it is: a tag, or the mark of no answer, in some quotes."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """All pieces so far were the model's reasoning, whose end it has marked and not its beginning."""


class _At(Enum):
    BEGINNING = 1
    REASONING = 2
    ANSWER = 3


class AnswerReader:
    """Reads what a model writes, as it arrives, about ``count`` passages.

    Reasoning in ``<think>`` and the like before the answer is left out. ``answered`` is false once the model says that
    the passages don't hold the answer; the answer then begins with :data:`UNANSWERED`.
    """

    def __init__(self, count: int) -> None:
        self.answered = True
        self._count = count
        self._citations = CitationReader(count)
        self._at = _At.BEGINNING
        self._held = ""

    def feed(self, text: str) -> list[Piece | Discarded]:
        """Return what is known of the answer with more of the text."""
        self._held += text
        return self._read(final=False)

    def end(self) -> list[Piece | Discarded]:
        """Return the rest: the model has ended."""
        return [*self._read(final=True), *self._citations.end()]

    def _read(self, *, final: bool) -> list[Piece | Discarded]:
        pieces: list[Piece | Discarded] = []
        while True:
            at = self._at
            if at is _At.BEGINNING:
                pieces += self._begin(final=final)
            elif at is _At.REASONING:
                self._skip()
            else:
                pieces += self._go_on(final=final)
            if self._at is at:
                return pieces

    def _begin(self, *, final: bool) -> list[Piece | Discarded]:
        """Decide what the beginning is, as soon as enough of it is there."""
        self._held = self._held.lstrip()
        if opened := _OPENED.match(self._held):
            self._at, self._held = _At.REASONING, self._held[opened.end() :]
        elif closed := _CLOSED.match(self._held):  # of reasoning that is empty
            self._held = self._held[closed.end() :].lstrip()
        elif final or len(self._held) >= _LONGEST_MARK:
            self._at = _At.ANSWER
            if marked := _NO_ANSWER.match(self._held):
                self.answered, self._held = False, self._held[marked.end() :]
                return [Piece(f"{UNANSWERED} " if self._held else UNANSWERED)]
        return []

    def _skip(self) -> None:
        if closed := _CLOSED.search(self._held):
            self._at, self._held = _At.BEGINNING, self._held[closed.end() :]
        else:
            self._held = self._held[-_LONGEST_MARK:]

    def _go_on(self, *, final: bool) -> list[Piece | Discarded]:
        if stray := _STRAY.search(self._held):
            self._held = self._held[stray.end() :]
            self._at, self._citations, self.answered = _At.BEGINNING, CitationReader(self._count), True
            return [Discarded()]
        unfinished = None if final else _UNFINISHED.search(self._held)
        ready = unfinished.start() if unfinished else len(self._held)
        text, self._held = self._held[:ready], self._held[ready:]
        return list(self._citations.feed(text))
