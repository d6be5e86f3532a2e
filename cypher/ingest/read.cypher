// Reads of an ingest from the corpus that it changes.

// name: stored_documents
// mode: read
// params: corpus, generation
// Key, title, hashes and path of each visible document.
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)>
RETURN d.key AS key, d.title AS title, d.hash AS hash, d.text_hash AS text_hash, d.path AS path;

// name: count_stored_embeddings
// mode: read
// params: hashes, model
// The number of texts, given by hash, that have a vector of this model in any corpus; its chunks have its label.
UNWIND $hashes AS hash
WITH hash WHERE EXISTS { MATCH (c:HopRankChunk {embedded: hash}) WHERE $model IN labels(c) AND c.embedding IS NOT NULL AND c.imported IS NULL }
RETURN count(hash) AS stored;

// name: count_edges_of
// mode: read
// params: corpus, keys, generation
// The number of edges of the documents' chunks and of edges to the documents.
UNWIND $keys AS key
MATCH (d:HopRankDocument {corpus: $corpus, key: key})<-[p:PART_OF]-(c)
WHERE <visible(p, $generation)>
CALL (c, d) {
  MATCH (c)-[r]-() WHERE <visible(r, $generation)> RETURN r
  UNION
  MATCH (d)<-[r]-() WHERE <visible(r, $generation)> RETURN r
}
RETURN count(DISTINCT r) AS edges;

// name: stored_embeddings
// mode: read
// params: hashes, model
// The stored vectors of texts, given by hash, from the same model in any corpus, whose chunks have its label; not those
// that came with a file.
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (c:HopRankChunk {embedded: hash}) WHERE $model IN labels(c) AND c.embedding IS NOT NULL AND c.imported IS NULL
  RETURN c.embedding AS vector LIMIT 1
}
RETURN hash, vector;

// name: chunks_of_documents
// mode: read
// params: corpus, keys
// All stored chunks of the documents, including staged and retired ones, by document and ordinal.
UNWIND $keys AS key
MATCH (c:HopRankChunk {corpus: $corpus, document: key})
WITH c ORDER BY c.document, c.ordinal
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.link_relations AS link_relations, c.link_contexts AS link_contexts, c.embedded AS embedded, c.since AS since, c.until AS until,
       <metadata(c)> AS metadata, <declared(c)> AS declared;

// name: visible_chunks
// mode: read
// params: label, generation
// All visible chunks.
MATCH (c:$($label)) WHERE <visible(c, $generation)>
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.link_relations AS link_relations, c.link_contexts AS link_contexts, c.embedded AS embedded, c.since AS since, c.until AS until,
       <metadata(c)> AS metadata, <declared(c)> AS declared;

// name: visible_titles
// mode: read
// params: label, generation
// The distinct titles and headings of visible chunks, with their documents.
MATCH (c:$($label)) WHERE <visible(c, $generation)>
RETURN DISTINCT c.document AS document, c.title AS title, c.heading AS heading;

// name: stored_edges
// mode: read
// params: ids, kinds, generation
// The visible edges of the kinds from the chunks; targets by id.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})-[r]->(target)
WHERE type(r) IN $kinds AND <visible(r, $generation)>
RETURN type(r) AS kind, id AS source, target.id AS target, properties(r) AS properties;

// name: links_without_vector
// mode: read
// params: label, generation
// The staged links whose sentence has no vector yet.
MATCH (c:$($label))-[r:LINKS_TO]->()
WHERE <staged(r, $generation)> AND r.context IS NOT NULL AND r.embedding IS NULL
RETURN elementId(r) AS id, r.context AS context;

// name: vectors_of_contexts
// mode: read
// params: model, hashes
// The vectors that links have for sentences, by hash; the chunks of one fingerprint have its label, in any corpus. Each hash is
// looked up in an index of relationships, so that links with other sentences cost nothing.
UNWIND $hashes AS hash
CALL (hash) {
  MATCH (c)-[r:LINKS_TO {embedded: hash}]->()
  WHERE $model IN labels(c)
  RETURN r.embedding AS vector LIMIT 1
}
RETURN hash, vector;
