// name: chunk_vectors
// mode: read
// params: label, generation
// The vectors of all visible chunks.
MATCH (c:$($label))
WHERE <visible(c, $generation)>
RETURN c.id AS id, c.embedding AS vector;
