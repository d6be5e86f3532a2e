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

// name: stored_chunks
// mode: read
// params: label
// Every stored chunk of a corpus, also staged and retired ones.
MATCH (c:$($label))
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.embedded AS embedded, c.embedding AS vector, c.since AS since, c.until AS until;

// name: stored_edges
// mode: read
// params: label, generation
// Every edge that is visible and leaves a chunk of the corpus; targets by id.
MATCH (c:$($label))-[r]->(target)
WHERE r.since <= $generation AND r.until > $generation
RETURN type(r) AS kind, c.id AS source, target.id AS target, properties(r) AS properties;

// name: stored_entities
// mode: read
// params: corpus
// Id and spelling of every entity of a corpus.
MATCH (e:Entity {corpus: $corpus}) RETURN e.id AS id, e.name AS name;

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
// params: corpus, writer, generation, documents, chunks, properties
// Make the staged generation visible: the changed documents' and chunks' properties, and the number itself, in one transaction.
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
// Let chunks and documents that a run which died had retired live on; return how many there were.
CALL () {
  MATCH (n:$($label)) WHERE n.until = $generation + 1 RETURN n
  UNION ALL
  MATCH (n:Document {corpus: $corpus}) WHERE n.until = $generation + 1 RETURN n
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
// Delete retired chunks and documents, and those that a run which died had staged; return how many there were.
CALL () {
  MATCH (n:$($label)) WHERE n.until <= $generation OR n.since > $generation RETURN n
  UNION ALL
  MATCH (n:Document {corpus: $corpus}) WHERE n.until <= $generation OR n.since > $generation RETURN n
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

// name: sweep_entities
// mode: write
// params: corpus, limit
// Delete entities that nothing mentions any more; return how many there were.
MATCH (e:Entity {corpus: $corpus}) WHERE NOT (e)<-[:MENTIONS]-()
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS changed;
