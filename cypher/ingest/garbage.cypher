// Garbage collection of invisible nodes and edges, and undo of a crashed run.

// name: staged_chunks
// mode: read
// params: label, generation
// The chunks that a crashed run left staged.
MATCH (c:$($label)) WHERE <staged(c, $generation)>
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.link_relations AS link_relations, c.link_contexts AS link_contexts, c.embedded AS embedded, c.since AS since, c.until AS until,
       <metadata(c)> AS metadata, <declared(c)> AS declared;

// name: undo_staged_counts
// mode: write
// params: corpus, generation, limit, writer
// Delete counts that a crashed run left staged; return the number of shards.
<leased($corpus, $writer)>
MATCH (t:HopRankTally {corpus: $corpus}) WHERE <staged(t, $generation)>
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS changed;

// name: refresh_vector_index
// mode: write
// params: label, corpus, writer
// Write a vector again: searches see what Lucene has merged only after a write to the index. After an ingest of 50,000
// passages they went through 14 segments, then through 6, in half the processor time.
<leased($corpus, $writer)>
MATCH (c:$($label)) WHERE c.embedding IS NOT NULL
WITH c LIMIT 1
SET c.embedding = c.embedding;

// name: end_staging
// mode: write
// params: corpus, writer
// Record that no write is in progress and no garbage is left.
<leased($corpus, $writer)>
REMOVE corpus.staging;

// name: staged_documents
// mode: read
// params: corpus, generation
// The documents that a crashed run left staged.
MATCH (d:HopRankDocument {corpus: $corpus}) WHERE <staged(d, $generation)> RETURN d.id AS id;

// name: undo_staged_edges
// mode: write
// params: label, generation, limit, corpus, writer
// Delete edges that a crashed run left staged; return their number.
<leased($corpus, $writer)>
MATCH (:$($label))-[r]->() WHERE <staged(r, $generation)>
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS changed;

// name: undo_retired_edges
// mode: write
// params: label, generation, live, limit, corpus, writer
// Restore edges that a crashed run has retired; return their number.
<leased($corpus, $writer)>
MATCH (:$($label))-[r]->() WHERE <retiring(r, $generation)>
WITH r LIMIT $limit
SET r.until = $live
RETURN count(*) AS changed;

// name: undo_retired_nodes
// mode: write
// params: corpus, label, generation, live, limit, writer
// Restore chunks, documents and counts that a crashed run has retired; return their number.
<leased($corpus, $writer)>
CALL () {
  MATCH (n:$($label)) WHERE <retiring(n, $generation)> RETURN n
  UNION ALL
  MATCH (n:HopRankDocument {corpus: $corpus}) WHERE <retiring(n, $generation)> RETURN n
  UNION ALL
  MATCH (n:HopRankTally {corpus: $corpus}) WHERE <retiring(n, $generation)> RETURN n
}
WITH n LIMIT $limit
SET n.until = $live
RETURN count(*) AS changed;

// name: delete_retired_edges
// mode: write
// params: rows, generation, corpus, writer
// Delete retired edges, given as rows of {source, kind, target}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.source})-[r]->(target)
WHERE type(r) = row.kind AND target.id = row.target AND <retired(r, $generation)>
DELETE r;

// name: collect_nodes
// mode: write
// params: corpus, label, generation, limit, writer
// Delete retired chunks, documents and counts, and those that a crashed run left staged; return their number.
<leased($corpus, $writer)>
CALL () {
  MATCH (n:$($label)) WHERE <retired(n, $generation)> OR <staged(n, $generation)> RETURN n
  UNION ALL
  MATCH (n:HopRankDocument {corpus: $corpus}) WHERE <retired(n, $generation)> OR <staged(n, $generation)> RETURN n
  UNION ALL
  MATCH (n:HopRankTally {corpus: $corpus}) WHERE <retired(n, $generation)> OR <staged(n, $generation)> RETURN n
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS changed;

// name: collect_retired_edges
// mode: write
// params: label, generation, limit, corpus, writer
// Delete all retired edges of a corpus; return their number.
<leased($corpus, $writer)>
MATCH (:$($label))-[r]->() WHERE <retired(r, $generation)>
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS changed;

// name: delete_orphans
// mode: write
// params: rows, corpus, writer
// Delete those of the entities that have no mention left.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (e:HopRankEntity {id: row.id}) WHERE NOT (e)<-[:MENTIONS]-()
DELETE e;

// name: collect_entities
// mode: write
// params: corpus, limit, writer
// Delete all entities without mentions; return their number.
<leased($corpus, $writer)>
MATCH (e:HopRankEntity {corpus: $corpus}) WHERE NOT (e)<-[:MENTIONS]-()
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS changed;
