// A node is returned as its properties, its parent's id and its children's ids. Reads see what cypher/knowledge/time.cypher
// calls current. An edge of a graph has a key; other relationships between its nodes are somebody else's, or the hierarchy.

// name: nodes_by_key
// mode: read
// params: graph, keys, moment, as_of, known_at
// The existing nodes with these keys.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key}) WHERE <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored,
       head([(n)-[:CHILD_OF]->(p) WHERE <current(p, settled, $as_of, $known_at)> | p.id]) AS parent,
       [(n)<-[:CHILD_OF]-(c) WHERE <current(c, settled, $as_of, $known_at)> | c.id] AS children;

// name: all_nodes
// mode: read
// params: graph, label, moment, as_of, known_at
// Every node of a graph.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored,
       head([(n)-[:CHILD_OF]->(p) WHERE <current(p, settled, $as_of, $known_at)> | p.id]) AS parent,
       [(n)<-[:CHILD_OF]-(c) WHERE <current(c, settled, $as_of, $known_at)> | c.id] AS children;

// name: any_node
// mode: read
// params: graph, label, moment, as_of, known_at
// One row if a graph has any visible node.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)>
RETURN n.id AS id LIMIT 1;

// name: nodes_of_type
// mode: read
// params: graph, type, moment, as_of, known_at
// The nodes of one type in a graph.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:HopRankKnowledgeNode {graph: $graph, type: $type}) WHERE <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored,
       head([(n)-[:CHILD_OF]->(p) WHERE <current(p, settled, $as_of, $known_at)> | p.id]) AS parent,
       [(n)<-[:CHILD_OF]-(c) WHERE <current(c, settled, $as_of, $known_at)> | c.id] AS children;

// name: nodes_labelled
// mode: read
// params: graph, label, wanted, moment, as_of, known_at
// The nodes of a graph with a label: an item of their property "labels", not a label of Neo4j.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE $wanted IN n.labels AND <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored,
       head([(n)-[:CHILD_OF]->(p) WHERE <current(p, settled, $as_of, $known_at)> | p.id]) AS parent,
       [(n)<-[:CHILD_OF]-(c) WHERE <current(c, settled, $as_of, $known_at)> | c.id] AS children;

// name: nodes_with_property
// mode: read
// params: graph, label, property, value, moment, as_of, known_at
// The nodes of a graph that have $property = $value.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE n[$property] = $value AND <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored,
       head([(n)-[:CHILD_OF]->(p) WHERE <current(p, settled, $as_of, $known_at)> | p.id]) AS parent,
       [(n)<-[:CHILD_OF]-(c) WHERE <current(c, settled, $as_of, $known_at)> | c.id] AS children;

// name: edge_by_key
// mode: read
// params: graph, key, moment, as_of, known_at
// names: edge_types
// The edge with this key; no row if there is none.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (a)-[r:<edge_types> {key: $key}]->(b) WHERE <joined(a, r, b, settled, $as_of, $known_at)>
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: all_edges
// mode: read
// params: graph, label, moment, as_of, known_at
// Every edge of a graph.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (a:$($label))-[r]->(b) WHERE r.key IS NOT NULL AND <joined(a, r, b, settled, $as_of, $known_at)>
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: edges_of_type
// mode: read
// params: graph, prefix, type, moment, as_of, known_at
// names: edge_type
// The edges of one type in a graph, whose keys begin with $prefix.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (a)-[r:<edge_type>]->(b) WHERE r.key STARTS WITH $prefix AND r.type = $type AND <joined(a, r, b, settled, $as_of, $known_at)>
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: edges_of_node
// mode: read
// params: graph, key, type, direction, moment, as_of, known_at
// The edges of one type (null: of any) from a node to its neighbours; undirected ones in any direction.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:HopRankKnowledgeNode {key: $key})-[r]-(m)
WHERE r.key IS NOT NULL AND ($type IS NULL OR r.type = $type)
  AND (NOT r.directed OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
  AND <joined(n, r, m, settled, $as_of, $known_at)>
RETURN properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target;

// name: edges_among
// mode: read
// params: graph, keys, moment, as_of, known_at
// The edges whose endpoints are both among these nodes.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (a:HopRankKnowledgeNode) WHERE a.key IN $keys
MATCH (a)-[r]->(b) WHERE b.key IN $keys AND r.key IS NOT NULL AND <joined(a, r, b, settled, $as_of, $known_at)>
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: edges_touching
// mode: read
// params: keys
// Every edge with an endpoint among these nodes, visible or not; those among them may come twice.
MATCH (n:HopRankKnowledgeNode)-[r]-() WHERE n.key IN $keys AND r.key IS NOT NULL
RETURN properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target;

// name: graph_steps
// mode: read
// params: graph, keys, types, direction, moment, as_of, known_at
// The steps from each of these nodes: the neighbours' ids and the edges' weights as two lists. Undirected edges go both ways.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key}) WHERE <current(n, settled, $as_of, $known_at)>
CALL (n, settled) {
  MATCH (n)-[r]-(m)
  WHERE r.key IS NOT NULL AND ($types IS NULL OR r.type IN $types)
    AND (NOT r.directed OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
    AND <joined(n, r, m, settled, $as_of, $known_at)>
  RETURN collect(m.id) AS ids, collect(r.weight) AS weights
}
RETURN n.id AS id, ids, weights;

// name: graph_nearest
// mode: read
// params: graph, vector, limit, moment, as_of, known_at
// names: graph_vectors
// The nodes with the nearest embeddings, and how many of the nearest were looked at. A score is (1 + cosine) / 2.
CYPHER 25
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:<graph_vectors>)
SEARCH n IN (VECTOR INDEX <graph_vectors> FOR $vector WHERE n.graph = $graph LIMIT $limit) SCORE AS score
WITH collect([n.id, score, <current(n, settled, $as_of, $known_at)>]) AS found
RETURN size(found) AS looked_at, [row IN found WHERE row[2] | row[0]] AS ids, [row IN found WHERE row[2] | row[1]] AS scores;

// name: graph_matching
// mode: read
// params: graph, texts, text, limit, moment, as_of, known_at
// The nodes that match a full-text query best, by Lucene's BM25 on the graph's slot of an index, and how many matches were looked at.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled, <text_index($texts)> AS index
CALL db.index.fulltext.queryNodes(index, $text, {limit: $limit}) YIELD node AS n, score
WITH collect([n.id, score, <current(n, settled, $as_of, $known_at)>]) AS found
RETURN size(found) AS looked_at, [row IN found WHERE row[2] | row[0]] AS ids, [row IN found WHERE row[2] | row[1]] AS scores;

// name: project_graph
// mode: read
// params: graph, projection, label, direction, moment, as_of, known_at
// Project a graph for PageRank: edges point in the direction in which they are followed, undirected ones in both.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
CALL (settled) {
  MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)>
  RETURN n AS source, null AS target, 0.0 AS weight
  UNION ALL
  MATCH (a:$($label))-[r]->(b)
  WHERE r.key IS NOT NULL AND r.weight > 0 AND (NOT r.directed OR $direction <> 'in' OR a = b) AND <joined(a, r, b, settled, $as_of, $known_at)>
  RETURN a AS source, b AS target, r.weight AS weight
  UNION ALL
  MATCH (a:$($label))-[r]->(b)
  WHERE r.key IS NOT NULL AND r.weight > 0 AND a <> b AND (NOT r.directed OR $direction <> 'out') AND <joined(a, r, b, settled, $as_of, $known_at)>
  RETURN b AS source, a AS target, r.weight AS weight
}
WITH source, target, weight
RETURN gds.graph.project($projection, source, target, {relationshipProperties: {weight: weight}}) AS projected;

// name: project_undirected
// mode: read
// params: graph, projection, label, moment, as_of, known_at
// Project a graph with all edges undirected, for communities.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
CALL (settled) {
  MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)>
  RETURN n AS source, null AS target, 0.0 AS weight
  UNION ALL
  MATCH (a:$($label))-[r]->(b)
  WHERE r.key IS NOT NULL AND r.weight > 0 AND <joined(a, r, b, settled, $as_of, $known_at)>
  RETURN a AS source, b AS target, r.weight AS weight
}
WITH source, target, weight
RETURN gds.graph.project(
  $projection, source, target, {relationshipProperties: {weight: weight}}, {undirectedRelationshipTypes: ['*']}
) AS projected;

// name: leiden
// mode: read
// params: projection, gamma, seed
// The community of each node of an undirected projection, by the Leiden algorithm.
CALL gds.leiden.stream($projection, {relationshipWeightProperty: 'weight', gamma: $gamma, randomSeed: $seed, concurrency: 1})
YIELD nodeId, communityId
RETURN gds.util.asNode(nodeId).id AS id, communityId AS community;

// name: followed_edges
// mode: read
// params: graph, label, moment, as_of, known_at
// The endpoints, the weight and the direction of every edge: what PageRank reads where there is no GDS.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (a:$($label))-[r]->(b) WHERE r.key IS NOT NULL AND <joined(a, r, b, settled, $as_of, $known_at)>
RETURN a.id AS source, b.id AS target, r.weight AS weight, r.directed AS directed;

// name: graph_node_ids
// mode: read
// params: graph, label, moment, as_of, known_at
// The ids of a graph's nodes.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)>
RETURN n.id AS id;

// name: personalised_pagerank
// mode: read
// params: projection, seeds, damping, limit
// Personalised PageRank over a projection to convergence; seeds are rows of {key, weight}.
// Returns the best nodes, and the total score of all.
UNWIND $seeds AS seed
MATCH (n:HopRankKnowledgeNode {key: seed.key})
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
CALL gds.pageRank.stream($projection, {
  dampingFactor: $damping, maxIterations: 300, tolerance: 1e-9, relationshipWeightProperty: 'weight', concurrency: 1
})
YIELD nodeId, score
WITH collect([nodeId, score]) AS ranking, sum(score) AS mass
UNWIND ranking AS entry
WITH mass, gds.util.asNode(entry[0]).id AS id, entry[1] AS score WHERE score > 0
ORDER BY score DESC, id LIMIT $limit
RETURN collect(id) AS ids, collect(score) AS scores, mass;

// name: embeddings
// mode: read
// params: graph, label, moment, as_of, known_at
// Ids and embeddings of a graph's nodes that have an embedding.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label)) WHERE n.embedding IS NOT NULL AND <current(n, settled, $as_of, $known_at)>
RETURN n.id AS id, n.embedding AS embedding;

// name: graph_contents_nodes
// mode: read
// params: graph, label
// Every node of a graph, visible or not: its properties but the embedding, and its parent's id.
MATCH (n:$($label)) WHERE n.graph = $graph
RETURN n {.*, embedding: null} AS stored, head([(n)-[:CHILD_OF]->(p) | p.id]) AS parent;

// name: graph_contents_edges
// mode: read
// params: graph, label
// Every edge of a graph, visible or not, with its endpoints.
MATCH (a:$($label))-[r]->(b) WHERE r.key IS NOT NULL AND a.graph = $graph
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: embedded_texts
// mode: read
// params: label, hashes
// The embeddings that a graph's nodes have of texts with these hashes.
MATCH (n:$($label)) WHERE n.text_hash IN $hashes
RETURN n.text_hash AS hash, head(collect(n.embedding)) AS embedding;
