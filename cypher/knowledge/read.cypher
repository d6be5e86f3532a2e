// A node is returned as its properties, its parent's id and its children's ids.

// name: nodes_by_key
// mode: read
// params: keys
// The existing nodes with these keys.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})
RETURN n.key AS key, properties(n) AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent, [(n)<-[:CHILD_OF]-(c) | c.id] AS children;

// name: all_nodes
// mode: read
// params: label
// Every node of a graph.
MATCH (n:$($label))
RETURN properties(n) AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent, [(n)<-[:CHILD_OF]-(c) | c.id] AS children;

// name: any_node
// mode: read
// params: label
// One row if a graph has any node.
MATCH (n:$($label)) RETURN n.id AS id LIMIT 1;

// name: nodes_of_type
// mode: read
// params: graph, type
// The nodes of one type in a graph.
MATCH (n:KnowledgeNode {graph: $graph, type: $type})
RETURN properties(n) AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent, [(n)<-[:CHILD_OF]-(c) | c.id] AS children;

// name: nodes_labelled
// mode: read
// params: label, wanted
// The nodes of a graph with a label: an item of their property "labels", not a label of Neo4j.
MATCH (n:$($label)) WHERE $wanted IN n.labels
RETURN properties(n) AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent, [(n)<-[:CHILD_OF]-(c) | c.id] AS children;

// name: nodes_with_property
// mode: read
// params: label, property, value
// The nodes of a graph that have $property = $value.
MATCH (n:$($label)) WHERE n[$property] = $value
RETURN properties(n) AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent, [(n)<-[:CHILD_OF]-(c) | c.id] AS children;

// name: edge_by_key
// mode: read
// params: key
// The edge with this key; no row if there is none.
MATCH (a)-[r:KNOWLEDGE_EDGE {key: $key}]->(b) RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: all_edges
// mode: read
// params: label
// Every edge of a graph.
MATCH (a:$($label))-[r:KNOWLEDGE_EDGE]->(b) RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: edges_of_type
// mode: read
// params: graph, type
// The edges of one type in a graph.
MATCH (a)-[r:KNOWLEDGE_EDGE {graph: $graph, type: $type}]->(b) RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: edges_of_node
// mode: read
// params: key, type, direction
// The edges of one type (null: of any) from a node to its neighbours; undirected ones in any direction.
MATCH (n:KnowledgeNode {key: $key})-[r:KNOWLEDGE_EDGE]-()
WHERE ($type IS NULL OR r.type = $type)
  AND (NOT r.directed OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
RETURN properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target;

// name: edges_among
// mode: read
// params: keys
// The edges whose endpoints are both among these nodes.
MATCH (a:KnowledgeNode) WHERE a.key IN $keys
MATCH (a)-[r:KNOWLEDGE_EDGE]->(b) WHERE b.key IN $keys
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: graph_steps
// mode: read
// params: keys, types, direction
// The steps from each of these nodes: the neighbours' ids and the edges' weights as two lists. Undirected edges go both ways.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})
CALL (n) {
  MATCH (n)-[r:KNOWLEDGE_EDGE]-(m)
  WHERE ($types IS NULL OR r.type IN $types)
    AND (NOT r.directed OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
  RETURN collect(m.id) AS ids, collect(r.weight) AS weights
}
RETURN n.id AS id, ids, weights;

// name: graph_nearest
// mode: read
// params: vector, limit
// names: graph_label, graph_vector
// The nodes with the nearest embeddings. A score is (1 + cosine) / 2.
CYPHER 25
MATCH (n:<graph_label>)
SEARCH n IN (VECTOR INDEX <graph_vector> FOR $vector LIMIT $limit) SCORE AS score
RETURN collect(n.id) AS ids, collect(score) AS scores;

// name: graph_matching
// mode: read
// params: index, text, limit
// The nodes that match a full-text query best, by Lucene's BM25 on the graph's own index.
CALL db.index.fulltext.queryNodes($index, $text, {limit: $limit}) YIELD node, score
RETURN collect(node.id) AS ids, collect(score) AS scores;

// name: project_graph
// mode: read
// params: projection, label, direction
// Project a graph for PageRank: edges point in the direction in which they are followed, undirected ones in both.
CALL () {
  MATCH (n:$($label)) RETURN n AS source, null AS target, 0.0 AS weight
  UNION ALL
  MATCH (a:$($label))-[r:KNOWLEDGE_EDGE]->(b)
  WHERE r.weight > 0 AND (NOT r.directed OR $direction <> 'in' OR a = b)
  RETURN a AS source, b AS target, r.weight AS weight
  UNION ALL
  MATCH (a:$($label))-[r:KNOWLEDGE_EDGE]->(b)
  WHERE r.weight > 0 AND a <> b AND (NOT r.directed OR $direction <> 'out')
  RETURN b AS source, a AS target, r.weight AS weight
}
WITH source, target, weight
RETURN gds.graph.project($projection, source, target, {relationshipProperties: {weight: weight}}) AS projected;

// name: personalised_pagerank
// mode: read
// params: projection, seeds, damping, limit
// Personalised PageRank over a projection to convergence; seeds are rows of {key, weight}.
// Returns the best nodes, and the total score of all.
UNWIND $seeds AS seed
MATCH (n:KnowledgeNode {key: seed.key})
WITH collect([n, seed.weight]) AS sources
CALL gds.pageRank.stream($projection, {
  sourceNodes: sources, dampingFactor: $damping, maxIterations: 300, tolerance: 1e-9,
  relationshipWeightProperty: 'weight', concurrency: 1
}) YIELD nodeId, score
WITH collect([nodeId, score]) AS ranking, sum(score) AS mass
UNWIND ranking AS entry
WITH mass, gds.util.asNode(entry[0]).id AS id, entry[1] AS score WHERE score > 0
ORDER BY score DESC, id LIMIT $limit
RETURN collect(id) AS ids, collect(score) AS scores, mass;

// name: importance
// mode: read
// params: projection, damping, limit
// PageRank over a projection: the best nodes, and the total score of all.
CALL gds.pageRank.stream($projection, {dampingFactor: $damping, relationshipWeightProperty: 'weight', concurrency: 1})
YIELD nodeId, score
WITH collect([nodeId, score]) AS ranking, sum(score) AS mass
UNWIND ranking AS entry
WITH mass, gds.util.asNode(entry[0]).id AS id, entry[1] AS score WHERE score > 0
ORDER BY score DESC, id LIMIT $limit
RETURN collect(id) AS ids, collect(score) AS scores, mass;

// name: embeddings
// mode: read
// params: label
// Ids and embeddings of a graph's nodes that have an embedding.
MATCH (n:$($label)) WHERE n.embedding IS NOT NULL RETURN n.id AS id, n.embedding AS embedding;
