"""Personalised PageRank by power iteration, in this process: what GDS computes on a projection.

Source: Page, Brin, Motwani and Winograd, The PageRank Citation Ranking (1999).
"""

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Ends = npt.NDArray[np.intp]


def power_iteration(
    source: Ends,
    target: Ends,
    weight: Scores,
    restart: Scores,
    *,
    damping: float,
    iterations: int,
    tolerance: float = 0.0,
) -> Scores:
    """Return the score of each node, shape ``(n,)``.

    ``source``, ``target`` and ``weight`` are parallel arrays, one entry for each directed edge, with weights above 0.
    ``restart`` holds the probability that a restart leads to each node, shape ``(n,)``. A walk follows an edge with
    the probability ``damping``, and restarts otherwise. It ends after ``iterations``, or earlier if no iteration moves
    more than ``tolerance`` in total.

    As in GDS, the score that arrives at a node without outgoing edges is lost: the sum falls below that of ``restart``.
    Divided by their sum, scores at convergence are those of a walk that restarts at such a node.
    """
    nodes = len(restart)
    share = weight / np.bincount(source, weight, nodes)[source]
    scores = restart
    for _ in range(iterations):
        moved = np.bincount(target, share * scores[source], nodes)
        before, scores = scores, (1 - damping) * restart + damping * moved
        if tolerance and np.abs(scores - before).sum() < tolerance:
            break
    return scores
