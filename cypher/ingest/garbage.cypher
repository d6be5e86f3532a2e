// Deleting what no generation shows any more, and undoing what a run which died had staged.

// name: staged_chunks
// mode: read
// params: label, generation
// Every chunk that a run which died had staged.
MATCH (c:$($label)) WHERE c.since > $generation
RETURN c.id AS id, c.document AS document, c.ordinal AS ordinal, c.text AS text, c.title AS title, c.heading AS heading,
       c.start AS start, c.end AS end, c.line_start AS line_start, c.line_end AS line_end, c.tokens AS tokens,
       c.links AS links, c.embedded AS embedded, c.since AS since, c.until AS until;

// name: undo_staged_counts
// mode: write
// params: corpus, generation, limit
// Delete counts that a run which died had staged; return how many shards there were.
MATCH (t:Tally {corpus: $corpus}) WHERE t.since > $generation
WITH t LIMIT $limit
DELETE t
RETURN count(*) AS changed;

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

// name: delete_retired_edges
// mode: write
// params: rows, generation
// Delete retired edges: rows of {source, kind, target}.
UNWIND $rows AS row
MATCH (c:Chunk {id: row.source})-[r]->(target)
WHERE type(r) = row.kind AND target.id = row.target AND r.until <= $generation
DELETE r;

// name: collect_nodes
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

// name: collect_retired_edges
// mode: write
// params: label, generation, limit
// Delete every retired edge of a corpus, wherever it is; return how many there were.
MATCH (:$($label))-[r]->() WHERE r.until <= $generation
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS changed;

// name: delete_orphans
// mode: write
// params: rows
// Delete those of some entities that nothing mentions any more.
UNWIND $rows AS row
MATCH (e:Entity {id: row.id}) WHERE NOT (e)<-[:MENTIONS]-()
DELETE e;

// name: collect_entities
// mode: write
// params: corpus, limit
// Delete entities that nothing mentions any more; return how many there were.
MATCH (e:Entity {corpus: $corpus}) WHERE NOT (e)<-[:MENTIONS]-()
WITH e LIMIT $limit
DELETE e
RETURN count(*) AS changed;
