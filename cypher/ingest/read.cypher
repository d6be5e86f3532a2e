// What an ingest reads of the corpus that it changes. What `since` and `until` mean is in stage.cypher.

// name: stored_documents
// mode: read
// params: corpus, generation
// Key, title, hashes and path of each document that is visible.
MATCH (d:Document {corpus: $corpus})
WHERE d.since <= $generation AND d.until > $generation
RETURN d.key AS key, d.title AS title, d.hash AS hash, d.text_hash AS text_hash, d.path AS path;

// name: count_stored_embeddings
// mode: read
// params: hashes, embedding
// How many of the texts have a vector of this model already, in any corpus.
UNWIND $hashes AS hash
WITH hash WHERE EXISTS { MATCH (c:Chunk {embedded: hash}) WHERE $embedding IN labels(c) AND c.embedding IS NOT NULL }
RETURN count(hash) AS stored;

// name: count_edges_of
// mode: read
// params: corpus, keys, generation
// How many edges the chunks of some documents have, and how many lead to these documents.
UNWIND $keys AS key
MATCH (d:Document {corpus: $corpus, key: key})<-[p:PART_OF]-(c)
WHERE p.since <= $generation AND p.until > $generation
CALL (c, d) {
  MATCH (c)-[r]-() WHERE r.since <= $generation AND r.until > $generation RETURN r
  UNION
  MATCH (d)<-[r]-() WHERE r.since <= $generation AND r.until > $generation RETURN r
}
RETURN count(DISTINCT r) AS edges;

// name: stored_embeddings
// mode: read
// params: hashes, embedding
// Vectors already made from the same text by the same model, in any corpus.
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (c:Chunk {embedded: hash}) WHERE $embedding IN labels(c) AND c.embedding IS NOT NULL
  RETURN c.embedding AS vector LIMIT 1
}
RETURN hash, vector;

// name: chunks_of_documents
// mode: read
// params: corpus, keys
// Every stored chunk of some documents, also staged and retired ones, by document and place.
UNWIND $keys AS key
MATCH (c:Chunk {corpus: $corpus, document: key})
WITH c ORDER BY c.document, c.ordinal
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.embedded AS embedded, c.since AS since, c.until AS until;

// name: visible_chunks
// mode: read
// params: label, generation
// Every chunk that is visible.
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.embedded AS embedded, c.since AS since, c.until AS until;

// name: visible_titles
// mode: read
// params: label, generation
// The titles and headings that are visible, each with its document.
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
RETURN DISTINCT c.document AS document, c.title AS title, c.heading AS heading;

// name: stored_edges
// mode: read
// params: ids, kinds, generation
// The visible edges of some kinds that leave some chunks; targets by id.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[r]->(target)
WHERE type(r) IN $kinds AND r.since <= $generation AND r.until > $generation
RETURN type(r) AS kind, id AS source, target.id AS target, properties(r) AS properties;
