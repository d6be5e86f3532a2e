"""The answer to a question, with what it cites."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from pipeline.answer.citations import Piece
from pipeline.answer.reader import Discarded
from pipeline.retrieve.context import Context


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage of the context that the answer cites, by its number there, from 1."""

    number: int
    document: str
    title: str
    heading: str
    path: str
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its text, with citations ``[1]``, and the passages that they name.

    ``answered`` is false where the passages don't hold the answer; without any that are relevant, no model is asked.
    ``unknown_citations`` are numbers that no passage has; in the text they are ``[7?]``. ``complete`` is false if the
    model ended before the answer did. ``relevance`` is that of the best hit. ``model`` is None if none was asked.
    ``warnings`` are for readers.
    """

    answer: str
    citations: tuple[Citation, ...]
    unknown_citations: tuple[int, ...]
    answered: bool
    complete: bool
    relevance: float | None
    model: str | None
    context: Context
    warnings: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the answer as plain JSON values; ``context_tokens`` are those of the passages that were sent."""
        values = {name: getattr(self, name) for name in ("answer", "answered", "complete", "relevance", "model")}
        return {
            **values,
            "citations": [asdict(citation) for citation in self.citations],
            "unknown_citations": list(self.unknown_citations),
            "warnings": list(self.warnings),
            "context_tokens": self.context.tokens,
            "context": self.context.to_json(),
        }


_FINISHED = ("stop", "eos", "end_turn")
"""Why a model ends when its answer is complete; the protocol's word is the first."""

AnswerEvent: TypeAlias = Context | Piece | Discarded | Answer
"""An item of a stream of an answer: first the context, then pieces as they are written, at the end the answer.

:class:`Discarded` among the pieces takes back all before it.
"""


def answer_of(
    context: Context, model: str | None, pieces: Sequence[Piece], *, answered: bool, finish: str | None = "stop"
) -> Answer:
    """Return the answer that pieces make. ``finish`` is why the model ended: "stop" if the answer is complete."""
    cited = sorted({piece.citation for piece in pieces if piece.citation is not None and piece.known})
    unknown = sorted({piece.citation for piece in pieces if piece.citation is not None and not piece.known})
    relevance = context.metadata.get("relevance")
    return Answer(
        "".join(piece.text for piece in pieces).strip(),
        tuple(_citation(context, number) for number in cited),
        tuple(unknown),
        answered,
        (finish or "").lower() in _FINISHED,
        relevance,
        model,
        context,
        (*context.metadata.get("warnings", ()), *_warnings(cited, unknown, finish, answered=answered)),
    )


def _citation(context: Context, number: int) -> Citation:
    one = context.passages[number - 1]
    return Citation(number, one.document, one.title, one.heading, one.path, one.line_start, one.line_end)


def _warnings(cited: Sequence[int], unknown: Sequence[int], finish: str | None, *, answered: bool) -> Iterator[str]:
    if finish in ("length", "max_tokens"):
        yield "The answer is cut off: the model reached its limit of tokens."
    elif (finish or "").lower() not in _FINISHED:
        yield f"The answer may be cut off: the endpoint ended it with {finish or 'no reason'}."
    if unknown:
        numbers = ", ".join(f"[{number}?]" for number in unknown)
        yield f"The answer cites what isn't in the context: {numbers}."
    if answered and not cited:
        yield "The answer cites no passage: nothing ties it to the corpus."
