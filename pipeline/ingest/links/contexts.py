"""Vectors of the sentences around links, which the walk compares with a question."""

from collections.abc import Callable, Mapping

import numpy as np

from pipeline.db.client import batches
from pipeline.ids import digest
from pipeline.ingest.update.write_session import WriteSession
from pipeline.records import Vector

_BATCH = 1000

EmbedTexts = Callable[[Mapping[str, str]], Mapping[str, Vector]]
"""Maps texts, by hash, to their vectors of the corpus's fingerprint, by hash."""


def no_vectors(_: Mapping[str, str]) -> Mapping[str, Vector]:
    """Embed nothing: for an update that brings no new sentence."""
    return {}


def embed_contexts(session: WriteSession, embed: EmbedTexts) -> None:
    """Give each staged link with a sentence the vector of that sentence.

    A sentence that any link has a vector for, in a corpus of the same fingerprint, isn't embedded again. A link stays
    without a vector if ``embed`` doesn't return one: the walk then follows it as it follows other links.
    """
    if not session.stages_contexts:
        return
    corpus = session.corpus
    missing = {row["id"]: row["context"] for row in corpus.stream("links_without_vector")}
    contexts = {digest(context): context for context in missing.values()}
    vectors = {
        digest(row["context"]): np.asarray(row["vector"], dtype=np.float32)
        for part in batches(contexts.values(), _BATCH)
        for row in corpus.read("vectors_of_contexts", label=corpus.vector_index, contexts=part)
    }
    new = {key: context for key, context in contexts.items() if key not in vectors}
    if new:
        vectors = {**vectors, **embed(new)}
    keyed = ((id_, digest(context)) for id_, context in missing.items())
    session.set_link_vectors({"id": id_, "vector": vectors[key].tolist()} for id_, key in keyed if key in vectors)
