"""Excerpts: the part of a passage nearest to a question, for people who skim many hits."""

import re
from collections.abc import Sequence

import numpy as np

from pipeline.embedding.embedder import Embedder
from pipeline.retrieve.results import RetrieverResultItem
from pipeline.text.prose import prose, sentences

_HEADING = re.compile(r"\A#{1,6} .*\n")


def excerpts(
    items: Sequence[RetrieverResultItem],
    question: str,
    embedder: Embedder,
    most: int = 280,  # characters; chosen by hand, not measured
    *,
    vector: Sequence[float] = (),
) -> list[str]:
    """Return about ``most`` characters of each passage, on one line: the sentence nearest to the question.

    Sentences around it fill the room, and " ..." marks omissions. ``vector`` is the question's embedding, if the search
    computed it already (``RetrieverResult.query_vector``).
    """
    texts = [_readable(item.content) for item in items]
    spans = []
    for text in texts:
        telling = [span for span in sentences(text, 0, len(text)) if any(map(str.isalnum, text[slice(*span)]))]
        spans.append(telling or [(0, len(text))])
    # A sentence often says "she"; the title says who.
    alone = [
        f"{item.metadata['title']}\n{text[start:end]}"
        for item, text, cut in zip(items, texts, spans, strict=True)
        for start, end in cut
    ]
    query_vector = vector if len(vector) else embedder.embed_query(question)
    nearness = embedder.embed_passages(alone) @ np.asarray(query_vector, dtype=np.float32)
    first = np.cumsum([0, *map(len, spans)])
    return [
        _excerpt(text, cut, int(nearness[begin : begin + len(cut)].argmax()), most)
        for text, cut, begin in zip(texts, spans, first, strict=False)
    ]


def _readable(text: str) -> str:
    """Return the prose of a passage without its heading; the whole passage if it is only code or tables."""
    bare = _HEADING.sub("", text.strip())
    sentences_only = prose(bare)
    return sentences_only if any(map(str.isalnum, sentences_only)) else bare


def _excerpt(text: str, spans: Sequence[tuple[int, int]], best: int, most: int) -> str:
    """Return sentence ``best`` with as many sentences after it, then before it, as ``most`` characters allow."""
    start, end = spans[best]
    for _, later in spans[best + 1 :]:
        end = later if later - start <= most else end
    for earlier, _ in reversed(spans[:best]):
        start = earlier if end - earlier <= most else start
    whole = " ".join(text[start:end].split())
    shown = whole if len(whole) <= most else whole[:most].rsplit(" ", 1)[0]
    before = "... " if start > spans[0][0] else ""
    after = " ..." if end < spans[-1][1] or shown != whole else ""
    return f"{before}{shown}{after}"
