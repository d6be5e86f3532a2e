// The cosine links of chunks, and the chunks that they could lead to.

// name: visible_vectors
// mode: read
// params: label, generation
// The vector of every chunk that is visible, packed.
CYPHER 25
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, vector(c.embedding, size(c.embedding), FLOAT32) AS vector;

// name: similar_summary
// mode: read
// params: ids, generation
// For some chunks: how many cosine links they have, how many chunks they list as their nearest, and the worst of these.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
OPTIONAL MATCH (c)-[r:SIMILAR|CAPPED]-()
WHERE r.since <= $generation AND r.until > $generation
WITH id, r, r.mutual OR startNode(r) = c AS listed
RETURN id, count(r) AS degree, count(CASE WHEN listed THEN 1 END) AS listed,
       min(CASE WHEN listed THEN r.score END) AS worst;

// name: similar_edges
// mode: read
// params: ids, generation
// The cosine links of some chunks, each with the place of the chunk at its other end.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[r:SIMILAR|CAPPED]-(other)
WHERE r.since <= $generation AND r.until > $generation
RETURN id, other.id AS other, other.document AS document, other.ordinal AS ordinal, type(r) AS kind, r.score AS score,
       r.mutual AS mutual, startNode(r) = c AS leaves;

// name: nearest_chunks
// mode: read
// params: ids, corpus, generation, limit
// names: embedding
// The chunks nearest to each of some chunks by the vector index, in a generation that may still be staged.
CYPHER 25
UNWIND $ids AS id
MATCH (q:Chunk {id: id})
CALL (q) {
  MATCH (c:<embedding>)
  SEARCH c IN (VECTOR INDEX <embedding> FOR q.embedding
    WHERE c.corpus = $corpus AND c.since <= $generation AND c.until > $generation LIMIT $limit) SCORE AS score
  RETURN collect([c.id, c.document, c.ordinal, score]) AS near
}
RETURN id, near;
