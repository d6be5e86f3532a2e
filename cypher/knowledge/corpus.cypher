// An ingested corpus read as a knowledge graph: its visible generation, on the corpus's own schema.

// name: corpus_nodes_by_id
// mode: read
// params: corpus, ids
// The visible documents, chunks and entities with these ids.
<known_corpus($corpus)>
UNWIND $ids AS id
CALL (corpus, id) {
  MATCH (n:HopRankChunk {id: id}) WHERE n.corpus = corpus.id AND <visible(n, corpus.generation)>
  RETURN n, 'chunk' AS type
  UNION ALL
  MATCH (n:HopRankDocument {id: id}) WHERE n.corpus = corpus.id AND <visible(n, corpus.generation)>
  RETURN n, 'document' AS type
  UNION ALL
  MATCH (n:HopRankEntity {id: id}) WHERE n.corpus = corpus.id
    AND EXISTS { (n)<-[r:MENTIONS]-() WHERE <visible(r, corpus.generation)> }
  RETURN n, 'entity' AS type
}
RETURN type, properties(n) AS stored,
       head([(n)-[r:PART_OF]->(p) WHERE <visible(r, corpus.generation)> | p.id]) AS parent,
       [(n)<-[r:PART_OF]-(c) WHERE <visible(r, corpus.generation)> | c.id] AS children;

// name: corpus_scan
// mode: read
// params: corpus, label, type, property, value
// The visible nodes of one type (null: of any) that have $property = $value (null: no condition).
<known_corpus($corpus)>
CALL (corpus) {
  MATCH (n:$($label)) WHERE <visible(n, corpus.generation)>
  RETURN n, 'chunk' AS type
  UNION ALL
  MATCH (n:HopRankDocument {corpus: corpus.id}) WHERE <visible(n, corpus.generation)>
  RETURN n, 'document' AS type
  UNION ALL
  MATCH (n:HopRankEntity {corpus: corpus.id})
  WHERE EXISTS { (n)<-[r:MENTIONS]-() WHERE <visible(r, corpus.generation)> }
  RETURN n, 'entity' AS type
}
WITH corpus, n, type
WHERE ($type IS NULL OR type = $type) AND ($property IS NULL OR n[$property] = $value)
RETURN type, properties(n) AS stored,
       head([(n)-[r:PART_OF]->(p) WHERE <visible(r, corpus.generation)> | p.id]) AS parent,
       [(n)<-[r:PART_OF]-(c) WHERE <visible(r, corpus.generation)> | c.id] AS children;

// name: corpus_edges
// mode: read
// params: corpus, label, type
// The visible edges of one type (null: of any).
<known_corpus($corpus)>
MATCH (a:$($label))-[r]->(b)
WHERE <visible(r, corpus.generation)> AND ($type IS NULL OR type(r) = $type)
RETURN type(r) AS kind, properties(r) AS stored, a.id AS source, b.id AS target;

// name: corpus_edges_of_node
// mode: read
// params: corpus, id, types, direction, undirected
// The visible edges of some types (null: of any) from a node to its neighbours; undirected ones in any direction.
<known_corpus($corpus)>
CALL () {
  MATCH (n:HopRankChunk {id: $id}) RETURN n UNION ALL MATCH (n:HopRankDocument {id: $id}) RETURN n UNION ALL MATCH (n:HopRankEntity {id: $id}) RETURN n
}
MATCH (n)-[r]-()
WHERE <visible(r, corpus.generation)> AND ($types IS NULL OR type(r) IN $types)
  AND (type(r) IN $undirected OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
RETURN type(r) AS kind, properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target;

// name: corpus_edges_among
// mode: read
// params: corpus, ids
// The visible edges whose endpoints are both among these nodes; the source of every edge is a chunk.
<known_corpus($corpus)>
MATCH (a:HopRankChunk) WHERE a.id IN $ids
MATCH (a)-[r]->(b)
WHERE b.id IN $ids AND <visible(r, corpus.generation)>
RETURN type(r) AS kind, properties(r) AS stored, a.id AS source, b.id AS target;

// name: corpus_steps
// mode: read
// params: corpus, ids, types, direction, undirected
// The steps from each of these nodes: the neighbours' ids and the edges' weights as two lists.
<known_corpus($corpus)>
UNWIND $ids AS id
CALL (id) {
  MATCH (n:HopRankChunk {id: id}) RETURN n UNION ALL MATCH (n:HopRankDocument {id: id}) RETURN n UNION ALL MATCH (n:HopRankEntity {id: id}) RETURN n
}
CALL (corpus, n) {
  MATCH (n)-[r]-(m)
  WHERE <visible(r, corpus.generation)> AND ($types IS NULL OR type(r) IN $types)
    AND (type(r) IN $undirected OR $direction = 'both' OR (startNode(r) = n AND $direction = 'out') OR (endNode(r) = n AND $direction = 'in'))
  RETURN collect(m.id) AS ids, collect(coalesce(r.score, 1.0)) AS weights
}
RETURN id, ids, weights;

// name: corpus_outline
// mode: read
// params: corpus, ids
// The edges between these documents and entities by way of the documents' passages, and the number of passages of each.
<known_corpus($corpus)>
MATCH (d:HopRankDocument) WHERE d.id IN $ids
MATCH (d)<-[p:PART_OF]-(c:HopRankChunk)-[r:MENTIONS|REFERS_TO|LINKS_TO]->(t)
WHERE t.id IN $ids AND t <> d AND <visible(p, corpus.generation)> AND <visible(r, corpus.generation)>
RETURN d.id AS source, type(r) AS kind, t.id AS target, count(DISTINCT c) AS passages, type(r) <> 'MENTIONS' AS directed;

// name: corpus_counts
// mode: read
// params: corpus, label
// The visible generation, and its numbers of nodes and edges.
<known_corpus($corpus)>
RETURN corpus.generation AS generation,
       COUNT { (c:$($label)) WHERE <visible(c, corpus.generation)> }
       + COUNT { (d:HopRankDocument {corpus: corpus.id}) WHERE <visible(d, corpus.generation)> }
       + COUNT { (e:HopRankEntity {corpus: corpus.id}) WHERE EXISTS { (e)<-[r:MENTIONS]-() WHERE <visible(r, corpus.generation)> } } AS nodes,
       COUNT { (c:$($label))-[r]->() WHERE <visible(r, corpus.generation)> } AS edges;

// name: project_corpus
// mode: read
// params: projection, corpus, label, direction, undirected
// Project the visible generation for PageRank: edges point in the direction in which they are followed, undirected ones in both.
<known_corpus($corpus)>
CALL (corpus) {
  MATCH (n:$($label)) WHERE <visible(n, corpus.generation)>
  RETURN n AS source, null AS target, 0.0 AS weight
  UNION ALL
  MATCH (n:HopRankDocument {corpus: corpus.id}) WHERE <visible(n, corpus.generation)>
  RETURN n AS source, null AS target, 0.0 AS weight
  UNION ALL
  MATCH (a:$($label))-[r]->(b)
  WHERE <visible(r, corpus.generation)> AND (type(r) IN $undirected OR $direction <> 'in')
  RETURN a AS source, b AS target, coalesce(r.score, 1.0) AS weight
  UNION ALL
  MATCH (a:$($label))-[r]->(b)
  WHERE <visible(r, corpus.generation)> AND (type(r) IN $undirected OR $direction <> 'out')
  RETURN b AS source, a AS target, coalesce(r.score, 1.0) AS weight
}
WITH source, target, weight
RETURN gds.graph.project($projection, source, target, {relationshipProperties: {weight: weight}}) AS projected;

// name: corpus_pagerank
// mode: read
// params: projection, seeds, damping, limit
// Personalised PageRank over a corpus's projection to convergence; seeds are rows of {key, weight}.
// Returns the best nodes, and the total score of all.
UNWIND $seeds AS seed
CALL (seed) {
  MATCH (n:HopRankChunk {id: seed.key}) RETURN n UNION ALL MATCH (n:HopRankDocument {id: seed.key}) RETURN n UNION ALL MATCH (n:HopRankEntity {id: seed.key}) RETURN n
}
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
