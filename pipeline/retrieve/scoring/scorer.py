"""The scorer: a linear model of the features of each candidate, trained by ``hoprank tune``."""

from collections.abc import Mapping

import numpy as np

from pipeline.errors import ConfigurationError
from pipeline.retrieve.fusion import Ranked, ranked
from pipeline.retrieve.legs import Leg
from pipeline.retrieve.scoring.features import FEATURES, TEXT_FEATURES, Features, Matrix
from pipeline.settings import ScorerSettings


class Scorer:
    """Scores candidates by a linear model whose weights depend on the names in the question.

    The weight of a feature is the sum of its weights in three tables, ``unnamed``, ``confident`` and ``named``, each
    times its share (:func:`table_shares`).
    Raises ConfigurationError, naming it, if the settings weigh a feature that there isn't.
    """

    def __init__(self, settings: ScorerSettings) -> None:
        self._unnamed = _weights(settings.unnamed, "unnamed")
        self._confident = _weights(settings.confident, "confident")
        self._named = _weights(settings.named, "named")

    def weights(self, confidence: float, named_share: float) -> Matrix:
        """Return the weight of each of ``FEATURES`` for a question; both arguments are from 0 to 1."""
        unnamed, confident, named = table_shares(confidence, named_share)
        return unnamed * self._unnamed + confident * self._confident + named * self._named

    def contributions(self, features: Features) -> Matrix:
        """Return what each feature adds to each candidate's score, relative to the mean; shaped as the features."""
        weights = self.weights(features.confidence, features.named_share)
        # A filter may leave no candidates, and these have no mean.
        mean = features.matrix.mean(axis=0) if features.ids else 0.0
        added: Matrix = (features.matrix - mean) * weights
        return added

    def rank(self, features: Features) -> Ranked:
        """Rank candidates by their features."""
        weights = self.weights(features.confidence, features.named_share)
        # The reranker is added by itself: a sum over a further column rounds otherwise, and equal scores would part.
        scores = features.matrix[:, :-1] @ weights[:-1] + features.matrix[:, -1] * weights[-1]
        return ranked(Leg.SCORER, dict(zip(features.ids, scores.tolist(), strict=True)))


def table_shares(confidence: float, named_share: float) -> tuple[float, float, float]:
    """Return how much the tables ``unnamed``, ``confident`` and ``named`` count for a question.

    These are the share of its terms outside its names, the confidence in its surest name, and the share of its terms
    in its names.
    """
    return 1 - named_share, confidence, named_share


def graph_share(contributions: Matrix) -> float:
    """Return the share of the graph's features in the absolute contributions of all features; 0 without any."""
    sizes = np.abs(contributions).sum(axis=0)
    graph = sum(size for name, size in zip(FEATURES, sizes.tolist(), strict=True) if name not in TEXT_FEATURES)
    return float(graph / total) if (total := float(sizes.sum())) else 0.0


def _weights(given: Mapping[str, float], section: str) -> Matrix:
    if unknown := sorted(given.keys() - set(FEATURES)):
        raise ConfigurationError(
            f"[scorer.{section}] weighs {', '.join(unknown)}, which the scorer doesn't know.",
            f"Use features out of {', '.join(FEATURES)}.",
        )
    return np.array([given.get(name, 0.0) for name in FEATURES])
