// What is written carries `since` and `until`: it is visible to generation g when since <= g < until.

// name: known_documents
// mode: read
// params: corpus, generation
// Key, title, hashes and path of each document that is visible.
MATCH (d:Document {corpus: $corpus})
WHERE d.since <= $generation AND d.until > $generation
RETURN d.key AS key, d.title AS title, d.hash AS hash, d.text_hash AS text_hash, d.path AS path;

// name: move_documents
// mode: write
// params: rows, corpus, generation
// Note where documents are now: rows of {key, path}.
UNWIND $rows AS row
MATCH (d:Document {corpus: $corpus, key: row.key})
WHERE d.since <= $generation AND d.until > $generation
SET d.path = row.path;

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

// name: staged_chunks
// mode: read
// params: label, generation
// Every chunk that a run which died had staged.
MATCH (c:$($label)) WHERE c.since > $generation
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

// name: visible_vectors
// mode: read
// params: label, generation
// The vector of every chunk that is visible, packed.
CYPHER 25
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, vector(c.embedding, size(c.embedding), FLOAT32) AS vector;

// name: stored_edges
// mode: read
// params: ids, kinds, generation
// The visible edges of some kinds that leave some chunks; targets by id.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[r]->(target)
WHERE type(r) IN $kinds AND r.since <= $generation AND r.until > $generation
RETURN type(r) AS kind, id AS source, target.id AS target, properties(r) AS properties;

// name: near_summary
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

// name: near_edges
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

// name: tallies
// mode: read
// params: corpus, kind, shards, generation
// The shards of counts of one kind that are visible.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND t.since <= $generation AND t.until > $generation
RETURN t.shard AS shard, t.counts AS counts;

// name: stage_tallies
// mode: write
// params: rows
// Write shards of counts.
UNWIND $rows AS row
MERGE (t:Tally {id: row.id})
SET t += row.properties;

// name: retire_tallies
// mode: write
// params: corpus, kind, shards, generation, until
// Let the visible shards that are replaced end with the present generation.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND t.since <= $generation AND t.until > $generation
SET t.until = $until;

// name: undo_staged_tallies
// mode: write
// params: corpus, generation, limit
// Delete counts that a run which died had staged; return how many shards there were.
MATCH (t:Tally {corpus: $corpus}) WHERE t.since > $generation
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS changed;

// name: stage_documents
// mode: write
// params: rows
// Write documents that the corpus doesn't have yet.
UNWIND $rows AS row
MERGE (d:Document {id: row.id})
ON CREATE SET d = row.properties;

// name: stage_chunks
// mode: write
// params: rows, labels
// Write chunks and their vectors; one that is there already is left as it is.
CYPHER 25
UNWIND $rows AS row
MERGE (c:Chunk {id: row.id})
ON CREATE SET c = row.properties
SET c:$($labels)
WITH c, row WHERE c.embedding IS NULL
CALL db.create.setNodeVectorProperty(c, 'embedding', toFloatList(row.vector));

// name: stage_entities
// mode: write
// params: rows, corpus
// Write entities with their usual spelling.
UNWIND $rows AS row
MERGE (e:Entity {id: row.id})
SET e.corpus = $corpus, e.key = row.key, e.name = row.name;

// name: stage_edges_to_chunks
// mode: write
// params: rows
// Write edges from a chunk to chunks: rows of {source, edges: [{kind, target, properties}]}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:Chunk {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: stage_edges_to_documents
// mode: write
// params: rows
// Write edges from a chunk to documents: rows of {source, edges: [{kind, target, properties}]}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:Document {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: stage_edges_to_entities
// mode: write
// params: rows
// Write edges from a chunk to entities: rows of {source, edges: [{kind, target, properties}]}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:Entity {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: retire_chunks
// mode: write
// params: rows, until
// Let chunks end with the present generation.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.id}) SET c.until = $until;

// name: retire_documents
// mode: write
// params: rows, until
// Let documents end with the present generation.
UNWIND $rows AS row
MATCH (d:Document {id: row.id}) SET d.until = $until;

// name: retire_edges
// mode: write
// params: rows, generation, until
// Let edges end with the present generation: rows of {source, kind, target}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})-[r]->(target)
WHERE type(r) = row.kind AND target.id = row.target AND r.since <= $generation AND r.until > $generation
SET r.until = $until;

// name: flip
// mode: write
// params: corpus, writer, generation, documents, chunks, spellings, properties
// Make the staged generation visible: the changed documents' and chunks' properties, the entities' changed spellings, and
// the number itself, in one transaction.
CYPHER 25
MATCH (corpus:Corpus {id: $corpus, writer: $writer, generation: $generation})
SET corpus += $properties, corpus.generation = $generation + 1
WITH corpus
CALL () {
  UNWIND $documents AS row
  MATCH (d:Document {id: row.id}) SET d = row.properties
}
CALL () {
  UNWIND $chunks AS row
  MATCH (c:Chunk {id: row.id}) SET c += row.properties
  WITH c, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(c, 'embedding', toFloatList(row.vector))
}
CALL () {
  UNWIND $spellings AS row
  MATCH (e:Entity {id: row.id}) SET e.name = row.name
}
RETURN corpus.generation AS generation;

// name: end_staging
// mode: write
// params: corpus, writer
// Note that nothing is being written any more, nor waits to be swept.
MATCH (corpus:Corpus {id: $corpus, writer: $writer}) REMOVE corpus.staging;

// name: staged_documents
// mode: read
// params: corpus, generation
// Documents that a run which died had staged.
MATCH (d:Document {corpus: $corpus}) WHERE d.since > $generation RETURN d.id AS id;

// name: undo_staged_edges
// mode: write
// params: label, generation, limit
// Delete edges that a run which died had staged; return how many there were.
MATCH (:$($label))-[r]->() WHERE r.since > $generation
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS changed;

// name: undo_retired_edges
// mode: write
// params: label, generation, live, limit
// Let edges that a run which died had retired live on; return how many there were.
MATCH (:$($label))-[r]->() WHERE r.until = $generation + 1
WITH r LIMIT $limit
SET r.until = $live
RETURN count(*) AS changed;

// name: undo_retired_nodes
// mode: write
// params: corpus, label, generation, live, limit
// Let chunks, documents and counts that a run which died had retired live on; return how many there were.
CALL () {
  MATCH (n:$($label)) WHERE n.until = $generation + 1 RETURN n
  UNION ALL
  MATCH (n:Document {corpus: $corpus}) WHERE n.until = $generation + 1 RETURN n
  UNION ALL
  MATCH (n:Tally {corpus: $corpus}) WHERE n.until = $generation + 1 RETURN n
}
WITH n LIMIT $limit
SET n.until = $live
RETURN count(*) AS changed;

// name: sweep_edges
// mode: write
// params: rows, generation
// Delete retired edges: rows of {source, kind, target}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})-[r]->(target)
WHERE type(r) = row.kind AND target.id = row.target AND r.until <= $generation
DELETE r;

// name: sweep_nodes
// mode: write
// params: corpus, label, generation, limit
// Delete retired chunks, documents and counts, and those that a run which died had staged; return how many there were.
CALL () {
  MATCH (n:$($label)) WHERE n.until <= $generation OR n.since > $generation RETURN n
  UNION ALL
  MATCH (n:Document {corpus: $corpus}) WHERE n.until <= $generation OR n.since > $generation RETURN n
  UNION ALL
  MATCH (n:Tally {corpus: $corpus}) WHERE n.until <= $generation OR n.since > $generation RETURN n
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS changed;

// name: sweep_retired_edges
// mode: write
// params: label, generation, limit
// Delete every retired edge of a corpus, wherever it is; return how many there were.
MATCH (:$($label))-[r]->() WHERE r.until <= $generation
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS changed;

// name: sweep_orphans
// mode: write
// params: rows
// Delete those of some entities that nothing mentions any more.
UNWIND $rows AS row
MATCH (e:Entity {id: row.id}) WHERE NOT (e)<-[:MENTIONS]-()
DELETE e;

// name: sweep_entities
// mode: write
// params: corpus, limit
// Delete entities that nothing mentions any more; return how many there were.
MATCH (e:Entity {corpus: $corpus}) WHERE NOT (e)<-[:MENTIONS]-()
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS changed;
