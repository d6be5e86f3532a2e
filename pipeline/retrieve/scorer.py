"""The learned scorer: a linear model over the features of each candidate, trained by ``hoprank tune``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pipeline.errors import ConfigurationError
from pipeline.retrieve.features import FEATURES, Matrix
from pipeline.retrieve.fuse import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.seeds import Strength
from pipeline.settings import ScorerSettings


class Scorer:
    """Scores candidates; one set of weights where the evidence is "titled" and another elsewhere.

    Raises ConfigurationError, naming it, if the settings weigh a feature that there isn't.
    """

    def __init__(self, settings: ScorerSettings) -> None:
        self._titled = _weights(settings.titled, "titled")
        self._untitled = _weights(settings.untitled, "untitled")

    def rank(self, ids: Sequence[str], matrix: Matrix, strength: Strength) -> Ranked:
        """Rank the candidates ``ids`` by their features, shape ``(len(ids), len(FEATURES))``."""
        weights = self._titled if strength is Strength.TITLED else self._untitled
        return ranked(Leg.SCORER, dict(zip(ids, (matrix @ weights).tolist(), strict=True)))


def _weights(given: Mapping[str, float], section: str) -> Matrix:
    if unknown := sorted(given.keys() - set(FEATURES)):
        raise ConfigurationError(
            f"[scorer.{section}] weighs {', '.join(unknown)}, which the scorer doesn't know.",
            f"Use features out of {', '.join(FEATURES)}.",
        )
    return np.array([given.get(name, 0.0) for name in FEATURES])
