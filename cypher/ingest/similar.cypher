// Similarity links: stored pairs, and neighbour search.

// name: visible_vectors
// mode: read
// params: label, generation
// The vectors of all visible chunks, as native vectors of float32.
CYPHER 25
MATCH (c:$($label)) WHERE <visible(c, $generation)>
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, vector(c.embedding, size(c.embedding), FLOAT32) AS vector;

// name: similar_summary
// mode: read
// params: ids, generation
// For each chunk: its number of similar pairs, the length of its neighbour list, and the lowest score in that list.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})
OPTIONAL MATCH (c)-[r:SIMILAR|CAPPED]-()
WHERE <visible(r, $generation)>
WITH id, r, r.mutual OR startNode(r) = c AS listed
RETURN id, count(r) AS degree, count(CASE WHEN listed THEN 1 END) AS listed,
       min(CASE WHEN listed THEN r.score END) AS worst;

// name: similar_edges
// mode: read
// params: ids, generation
// The similar pairs of the chunks, each with the position of the other chunk.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})-[r:SIMILAR|CAPPED]-(other)
WHERE <visible(r, $generation)>
RETURN id, other.id AS other, other.document AS document, other.ordinal AS ordinal, type(r) AS kind, r.score AS score,
       r.mutual AS mutual, startNode(r) = c AS leaves;

// name: nearest_chunks
// mode: read
// params: ids, corpus, generation, limit
// names: vector_index
// The nearest chunks of each chunk by the vector index, in a generation that may still be staged.
CYPHER 25
UNWIND $ids AS id
MATCH (q:HopRankChunk {id: id})
CALL (q) {
  MATCH (c:<vector_index>)
  SEARCH c IN (VECTOR INDEX <vector_index> FOR q.embedding
    WHERE c.corpus = $corpus AND <visible(c, $generation)> LIMIT $limit) SCORE AS score
  RETURN collect([c.id, c.document, c.ordinal, score]) AS near
}
RETURN id, near;
