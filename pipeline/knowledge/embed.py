"""Embeddings of nodes' texts; a text that the graph has embedded already is not embedded again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.embedding.embedder import Embedder
from pipeline.ids import digest
from pipeline.records import Precision


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Embeddings by node id, and the hashes of the texts and the model that they were made from.

    ``encoded`` is the number of texts that had to be encoded.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    encoded: int = 0


PRECISION = Precision.FLOAT32
"""Precision of every graph's embeddings: the few texts of most changes are encoded without loading the model."""

NO_EMBEDDINGS = Embeddings()


def embed_texts(
    embedder: Embedder,
    texts: Mapping[str, str],
    stored: Callable[[Sequence[str]], Mapping[str, Sequence[float]]],
    done: Callable[[int], None],
) -> Embeddings:
    """Return the embeddings of texts by node id; ``stored`` returns those that exist, by hash.

    ``done`` is called with the number of texts that are ready.
    """
    fingerprint = embedder.fingerprint_in(PRECISION)
    hashes = {node_id: digest("text", fingerprint, text) for node_id, text in texts.items()}
    vectors = dict(stored(sorted(set(hashes.values()))))
    missing = {hashes[node_id]: text for node_id, text in texts.items() if hashes[node_id] not in vectors}
    done(len(texts) - len(missing))
    encoded = embedder.encode(list(missing.values()), done, precision=PRECISION) if missing else ()
    vectors.update((hash_, vector.tolist()) for hash_, vector in zip(missing, encoded, strict=True))
    return Embeddings({node_id: vectors[hash_] for node_id, hash_ in hashes.items()}, hashes, len(missing))
