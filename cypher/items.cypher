// Items of a store for agents (pipeline.serve.adapters.langgraph): nodes of a knowledge graph. An item's `path` is its
// namespace and, last, its key; it has no times but those of its writes, so that it is always current.

// name: items_below
// mode: read
// params: graph, type, prefix, vector, limit
// The items in the namespaces that begin with $prefix: the nearest to $vector first, then those without an embedding (with
// null as $vector: all), last written first. Null as score, which is (1 + cosine) / 2, says that there is none.
MATCH (n:HopRankKnowledgeNode {graph: $graph, type: $type})
WHERE size(n.path) > size($prefix) AND n.path[..size($prefix)] = $prefix
WITH n, CASE WHEN $vector IS NULL OR n.embedding IS NULL THEN null ELSE vector.similarity.cosine(n.embedding, $vector) END AS score
ORDER BY coalesce(score, -1.0) DESC, n.updated_at DESC, n.id LIMIT $limit
RETURN n {.*, embedding: null} AS stored, score;

// name: item_namespaces
// mode: read
// params: graph, type
// The namespaces of all items, each once.
MATCH (n:HopRankKnowledgeNode {graph: $graph, type: $type})
RETURN DISTINCT n.path[..-1] AS namespace;
