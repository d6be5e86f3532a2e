"""Evidence of facts: the sentence of a memory that says them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pipeline.domains.memory.records import Memory
from pipeline.text.sentences import sentences

_LONGEST = 1000


def evidence_of(memory: Memory, sentence: str) -> str:
    """Return a fact's evidence: the memory's key and the sentence, of which at most 1,000 characters."""
    text = " ".join(sentence.split())
    return f"{memory.key}: {text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}"


def sentences_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text as (start, end), in order; a line's end ends a sentence."""
    start = 0
    for line in text.splitlines(keepends=True):
        yield from sentences(text, start, start + len(line))
        start += len(line)


def sentence_naming(text: str, names: Sequence[str]) -> str:
    """Return the first sentence that has all of ``names``, letter case aside; the whole text if none has."""
    folded = [name.casefold() for name in names]
    for start, end in sentences_of(text):
        sentence = text[start:end].casefold()
        if all(name in sentence for name in folded):
            return text[start:end]
    return text
