"""Vectors as the server stores and takes them."""

from collections.abc import Sequence

import numpy as np
from neo4j.vector import Vector as DriverVector

from pipeline.records import Vector

_STORED = np.dtype("<f4")


def packed(vector: Sequence[float] | Vector) -> DriverVector:
    """Wrap a vector in the driver's binary form, which halves the cost of sending it."""
    return DriverVector.from_numpy(np.asarray(vector, dtype=np.float32))


def to_bytes(vector: Sequence[float] | Vector) -> bytes:
    """Return a vector as a property that no index reads: a list of numbers takes several times as long to read."""
    return np.asarray(vector, dtype=_STORED).tobytes()


def from_bytes(stored: bytes) -> Vector:
    """Return the vector that :func:`to_bytes` was given."""
    return np.frombuffer(stored, dtype=_STORED)
