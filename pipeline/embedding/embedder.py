"""The embedder: what ingestion and search need of an embedding model, wherever it computes."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from pipeline.ids import digest
from pipeline.records import Fingerprint, Precision, Vector

_UNKNOWN = ("[UNK]", "<unk>")
_MOST_UNKNOWN = 0.5
"""Share of a text's tokens. Chosen by hand: by a model for English the vector of a Thai word is that of any other."""


def knows(tokenizer: Any, text: str) -> bool:
    """Return whether a tokenizer of the library ``tokenizers`` knows more than half of the tokens of a text."""
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    unknown = {tokenizer.token_to_id(token) for token in _UNKNOWN}
    return not ids or sum(id_ in unknown for id_ in ids) < _MOST_UNKNOWN * len(ids)


def prefixed(identity: Fingerprint, prefix: str) -> Fingerprint:
    """Return the identity of the vectors of passages that have a prefix, of any text, before them."""
    return identity._replace(pooling=f"{identity.pooling}+{digest(prefix)[:8]}") if prefix else identity


class Embedder(Protocol):
    """Turns texts into unit vectors; thread-safe. Implementations derive from it and write the abstract members alone.

    ``name`` is the model's; ``dimension`` the length of its vectors. ``max_tokens`` is the longest text that it reads,
    in the tokens of :meth:`token_offsets`, without special tokens. ``identity`` is that of its vectors without their
    precision, which the vector of a question needn't share. ``query_prefix`` is what the settings put before questions.
    """

    name: str
    query_prefix: str = ""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    @abstractmethod
    def max_tokens(self) -> int:
        """Longest text that the model reads, in tokens without special tokens."""

    @property
    @abstractmethod
    def identity(self) -> Fingerprint:
        """Identity of the vectors without their precision."""

    @abstractmethod
    def encode(
        self, texts: Sequence[str], done: Callable[[int], None] | None = None, *, precision: Precision | None = None
    ) -> Vector:
        """Encode passages; return unit vectors, shape ``(len(texts), dimension)``, in the order of ``texts``.

        ``done`` is called after each batch with its size. ``precision`` is one that :meth:`precision_beside` returned,
        or float32.
        """

    @abstractmethod
    def embed_query(self, text: str) -> list[float]:
        """Encode a question; return its unit vector as a list, as neo4j-graphrag's embedders do."""

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Encode questions; return unit vectors, shape ``(len(texts), dimension)``, in the order of ``texts``."""
        return np.array(list(map(self.embed_query, texts)), dtype=np.float32).reshape(len(texts), -1)

    @abstractmethod
    def token_offsets(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return for each text the character offsets ``(start, end)`` of its tokens, without special tokens."""

    @property
    def precision(self) -> Precision:
        """Precision of a new corpus's vectors."""
        return Precision.FLOAT32

    def precision_beside(self, fingerprint: str) -> Precision:  # noqa: ARG002 - for others to override
        """Return the precision of vectors that join those of ``fingerprint``."""
        return self.precision

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """Encode passages that are compared, but not stored, in whatever precision."""
        return self.encode(texts)

    def reads(self, text: str) -> bool:  # noqa: ARG002 - for others to override
        """Return whether the model knows more than half of a text's tokens; of others a vector says nothing."""
        return True

    def count_tokens(self, text: str) -> int:
        """Return the number of tokens in a text."""
        return len(self.token_offsets([text])[0])

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors of a new corpus; see :class:`pipeline.records.Fingerprint`."""
        return self.fingerprint_in(self.precision)

    def fingerprint_in(self, precision: Precision) -> str:
        """Return the identity of vectors in ``precision``."""
        return str(self.identity._replace(precision=precision))

    def fingerprint_beside(self, fingerprint: str) -> str:
        """Return the identity of the vectors that join those of ``fingerprint``; see :meth:`precision_beside`."""
        return self.fingerprint_in(self.precision_beside(fingerprint))
