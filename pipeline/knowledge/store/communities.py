"""Communities of a graph: groups of nodes with more, or heavier, edges among each other than to the rest.

The Leiden algorithm of GDS (Traag, Waltman and van Eck, From Louvain to Leiden, 2019) finds them on the server,
Louvain's (networkx; Blondel and others, Fast unfolding of communities in large networks, 2008) in this process.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping

import networkx as nx


def local_communities(
    node_ids: Iterable[str], edges: Iterable[tuple[str, str, float]], gamma: float, seed: int
) -> list[list[str]]:
    """Return the communities by Louvain's algorithm; ``edges`` are source, target and weight.

    The order is that of :func:`ordered`. ``gamma`` is the resolution: above 1 makes smaller communities, below 1 larger
    ones.
    """
    graph = nx.Graph()
    graph.add_nodes_from(sorted(node_ids))
    weights: dict[tuple[str, str], float] = defaultdict(float)
    for source, target, weight in edges:
        weights[min(source, target), max(source, target)] += weight
    graph.add_weighted_edges_from((*ends, weight) for ends, weight in sorted(weights.items()) if weight > 0)
    found = nx.community.louvain_communities(graph, resolution=gamma, seed=seed)
    return ordered({node_id: number for number, group in enumerate(found) for node_id in group})


def ordered(community_of: Mapping[str, Hashable]) -> list[list[str]]:
    """Return the ids of each community, sorted; the largest community first, ties by the first id."""
    groups: dict[Hashable, list[str]] = defaultdict(list)
    for node_id in sorted(community_of):
        groups[community_of[node_id]].append(node_id)
    return sorted(groups.values(), key=lambda group: (-len(group), group[0]))
