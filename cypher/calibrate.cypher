// name: chunk_vectors
// mode: read
// params: label, generation
// The vector of every chunk that is visible.
MATCH (c:$($label))
WHERE c.since <= $generation AND c.until > $generation
RETURN c.id AS id, c.embedding AS vector;
