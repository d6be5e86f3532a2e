"""Excerpts: the part of a passage nearest to a question, for people who skim many hits."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pipeline.embedding.embedder import Embedder
from pipeline.records import Vector
from pipeline.retrieve.lru import Recent
from pipeline.retrieve.results import RetrieverResult, RetrieverResultItem
from pipeline.retrieve.scoring.coverage import stems, terms_of
from pipeline.text.plain import plain_sentences
from pipeline.text.prose import telling_sentences

# In standard deviations of the cosines of all the sentences. Chosen on samples of MuSiQue and HotpotQA, where excerpts
# of long passages that hold the answer show it for 73 and 71% instead of 62 and 60; 2WikiMultiHopQA: 59 instead of 48.
_COVERED = 0.75  # of a sentence with all the words of the question that the passage's title lacks
_OPENING = 0.4  # of the first sentence of a document, which says what it is about

_KEPT: Recent[tuple[str, str], Vector] = Recent(5_000)
"""Vectors of sentences by model and text: who asks while typing sees the same passages again. Some 8 megabytes."""

_LOCK = threading.Lock()


def with_excerpts(result: RetrieverResult, question: str, embedder: Embedder) -> RetrieverResult:
    """Return a result whose hits have their ``excerpt``; ``question`` as it was asked."""
    shown = excerpts(result.items, question, embedder, vector=result.query_vector)
    hits = tuple(replace(hit, excerpt=excerpt) for hit, excerpt in zip(result.hits, shown, strict=True))
    return replace(result, items=tuple(map(RetrieverResultItem.of, hits)), hits=hits)


def excerpts(
    items: Sequence[RetrieverResultItem],
    question: str,
    embedder: Embedder,
    most: int = 280,  # characters; chosen by hand, not measured
    *,
    vector: Sequence[float] = (),
) -> list[str]:
    """Return about ``most`` characters of each passage, on one line, without markup: the sentence that answers best.

    It is near to the question and has its words. Sentences around it fill the room, and " ..." marks omissions.
    ``vector`` is the question's embedding, if the search computed it already (``RetrieverResult.query_vector``).
    """
    texts = [plain_sentences(item.content.strip()) for item in items]
    cuts = [telling_sentences(text) for text in texts]
    best = [0] * len(texts)
    # A passage that is shown whole needs no chosen sentence.
    if long := [place for place, text in enumerate(texts) if len(cuts[place]) > 1 and len(text) > most]:
        query_vector = vector if len(vector) else embedder.embed_query(question)
        # A sentence often says "she"; the title says who.
        alone = [
            f"{items[place].metadata['title']}\n{texts[place][slice(*span)]}" for place in long for span in cuts[place]
        ]
        nearness = _vectors(embedder, alone) @ np.asarray(query_vector, dtype=np.float32)
        parts = np.split(nearness / (nearness.std() or 1.0), np.cumsum([len(cuts[place]) for place in long])[:-1])
        for place, near in zip(long, parts, strict=True):
            scores = near + _COVERED * _coverage(items[place], texts[place], cuts[place], question)
            scores[0] += 0.0 if items[place].metadata.get("ordinal") else _OPENING
            best[place] = int(scores.argmax())
    return [_excerpt(text, cut, at, most) for text, cut, at in zip(texts, cuts, best, strict=True)]


def _vectors(embedder: Embedder, texts: Sequence[str]) -> Vector:
    """Return the embeddings of sentences, shape ``(len(texts), dimension)``; those that were made last are kept."""
    model = str(embedder.identity)
    with _LOCK:
        known = {text: _KEPT.use((model, text), _KEPT[model, text]) for text in texts if (model, text) in _KEPT}
    if missing := list(dict.fromkeys(text for text in texts if text not in known)):
        known |= zip(missing, embedder.embed_passages(missing), strict=True)
        with _LOCK:
            for text in missing:
                _KEPT.use((model, text), known[text])
    return np.stack([known[text] for text in texts])


def _coverage(
    item: RetrieverResultItem, text: str, spans: Sequence[tuple[int, int]], question: str
) -> NDArray[np.float64]:
    """Return for each sentence its share of the words of the question that the title lacks."""
    asked = set(terms_of(question)).difference(terms_of(item.metadata["title"]))
    held = (asked.intersection(stems(text[start:end])) for start, end in spans)
    return np.array([len(terms) / max(len(asked), 1) for terms in held])


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
