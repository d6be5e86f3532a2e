// Writes of an ingest: stage, retire, publish. See cypher/visibility.cypher for `since` and `until`.

// name: move_documents
// mode: write
// params: rows, corpus, generation, writer
// Record the new paths of documents: rows of {key, path}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (d:HopRankDocument {corpus: $corpus, key: row.key})
WHERE <visible(d, $generation)>
SET d.path = row.path;

// name: set_analyzer
// mode: write
// params: corpus, analyzer, writer
// Record the full-text analyser of a corpus whose first texts tell it, before its index is made.
<leased($corpus, $writer)>
SET corpus.analyzer = $analyzer;

// name: stage_documents
// mode: write
// params: rows, corpus, writer
// Write documents that the corpus lacks.
<leased($corpus, $writer)>
UNWIND $rows AS row
MERGE (d:HopRankDocument {id: row.id})
ON CREATE SET d = row.properties;

// name: stage_centroids
// mode: write
// params: rows, corpus, writer
// Give documents the centroids of their chunks: rows of {id, centroid}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (d:HopRankDocument {id: row.id}) SET d.centroid = row.centroid;

// name: stage_chunks
// mode: write
// params: rows, labels, copies, corpus, writer
// Write chunks and their vectors; existing chunks stay unchanged. Of the pairs of properties in $copies the second becomes the first.
CYPHER 25
<leased($corpus, $writer)>
UNWIND $rows AS row
MERGE (c:HopRankChunk {id: row.id})
ON CREATE SET c = row.properties
FOREACH (pair IN $copies | SET c[pair[1]] = c[pair[0]])
SET c:$($labels)
WITH c, row WHERE c.embedding IS NULL
CALL db.create.setNodeVectorProperty(c, 'embedding', toFloatList(row.vector));

// name: stage_entities
// mode: write
// params: rows, corpus, writer
// Write entities with their names.
<leased($corpus, $writer)>
UNWIND $rows AS row
MERGE (e:HopRankEntity {id: row.id})
SET e.corpus = $corpus, e.key = row.key, e.name = row.name;

// name: stage_edges_to_chunks
// mode: write
// params: rows, corpus, writer
// Write edges from a chunk to chunks: rows of {source, edges: [{kind, target, properties}]}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:HopRankChunk {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: stage_edges_to_documents
// mode: write
// params: rows, corpus, writer
// Write edges from a chunk to documents: rows of {source, edges: [{kind, target, properties}]}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:HopRankDocument {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: stage_edges_to_entities
// mode: write
// params: rows, corpus, writer
// Write edges from a chunk to entities: rows of {source, edges: [{kind, target, properties}]}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.source})
UNWIND row.edges AS edge
MATCH (target:HopRankEntity {id: edge.target})
CREATE (c)-[r:$(edge.kind)]->(target)
SET r = edge.properties;

// name: set_link_vectors
// mode: write
// params: rows, corpus, writer
// Give links the vectors of their sentences: rows of {id, hash, vector}.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH ()-[r:LINKS_TO]->() WHERE elementId(r) = row.id
SET r.embedded = row.hash
WITH r, row
CALL db.create.setRelationshipVectorProperty(r, 'embedding', row.vector);

// name: retire_chunks
// mode: write
// params: rows, until, corpus, writer
// Retire chunks: the visible generation is their last.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.id}) SET c.until = $until;

// name: retire_documents
// mode: write
// params: rows, until, corpus, writer
// Retire documents: the visible generation is their last.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (d:HopRankDocument {id: row.id}) SET d.until = $until;

// name: retire_edges
// mode: write
// params: rows, generation, until, corpus, writer
// Retire edges, given as rows of {source, kind, target}: the visible generation is their last.
<leased($corpus, $writer)>
UNWIND $rows AS row
MATCH (c:HopRankChunk {id: row.source})-[r]->(target)
WHERE type(r) = row.kind AND target.id = row.target AND <visible(r, $generation)>
SET r.until = $until;

// name: publish_generation
// mode: write
// params: corpus, writer, generation, documents, chunks, copies, spellings, properties
// Make the staged generation visible, in a single transaction: the properties of changed documents and chunks, the new
// names of entities, and the corpus's generation.
CYPHER 25
<leased($corpus, $writer)>
WHERE corpus.generation = $generation
SET corpus += $properties, corpus.generation = $generation + 1
WITH corpus
CALL () {
  UNWIND $documents AS row
  MATCH (d:HopRankDocument {id: row.id}) SET d = row.properties
}
CALL () {
  UNWIND $chunks AS row
  MATCH (c:HopRankChunk {id: row.id})
  FOREACH (old IN [name IN keys(c) WHERE name STARTS WITH 'metadata.'] | REMOVE c[old])
  SET c += row.properties
  FOREACH (pair IN $copies | SET c[pair[1]] = c[pair[0]])
  WITH c, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(c, 'embedding', toFloatList(row.vector))
}
CALL () {
  UNWIND $spellings AS row
  MATCH (e:HopRankEntity {id: row.id}) SET e.name = row.name
}
RETURN corpus.generation AS generation;
