// The visible content of a corpus, without its internal ids.

// name: export_documents
// mode: read
// params: corpus, generation
// All visible documents, by key.
MATCH (d:Document {corpus: $corpus})
WHERE d.since <= $generation AND d.until > $generation
RETURN properties(d) AS document ORDER BY d.key;

// name: export_chunks
// mode: read
// params: label, generation, embeddings
// All visible chunks, by document and ordinal, optionally with their vectors.
CYPHER 25
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
WITH c ORDER BY c.document, c.ordinal
RETURN c {.document, .ordinal, .text, .title, .heading, .start, .end, .line_start, .line_end, .tokens, .links, .embedded} AS chunk,
       CASE WHEN $embeddings THEN vector(c.embedding, size(c.embedding), FLOAT32) END AS vector;

// name: export_entities
// mode: read
// params: corpus
// All entities, by key.
MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS key, e.name AS name ORDER BY e.key;

// name: export_counts
// mode: read
// params: corpus, generation
// All visible shards of counts.
MATCH (t:Tally {corpus: $corpus})
WHERE t.since <= $generation AND t.until > $generation
RETURN t.kind AS kind, t.shard AS shard, t.counts AS counts ORDER BY kind, shard;

// name: export_edges
// mode: read
// params: label, generation
// All visible edges, by source. Chunks are identified by document and ordinal, other nodes by key.
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
WITH c ORDER BY c.document, c.ordinal
MATCH (c)-[r]->(t)
WHERE r.since <= $generation AND r.until > $generation
RETURN type(r) AS kind, [c.document, c.ordinal] AS source, CASE WHEN t:Chunk THEN [t.document, t.ordinal] ELSE t.key END AS target,
       properties(r) AS properties;

// name: top_entities
// mode: read
// params: corpus, generation, limit
// The entities with the most mentions.
MATCH (e:Entity {corpus: $corpus})
WITH e, COUNT { (e)<-[r:MENTIONS]-() WHERE r.since <= $generation AND r.until > $generation } AS mentions
ORDER BY mentions DESC, e.key LIMIT $limit
RETURN e.name AS name, mentions;

// name: corpus_facts
// mode: read
// params: corpus
// The creation time of a corpus, its writer, and the time since which it writes.
MATCH (corpus:Corpus {id: $corpus})
RETURN toString(corpus.created_at) AS created_at, corpus.writer AS writer, corpus.writer_since AS writer_since;

// name: rename_corpus
// mode: write
// params: corpus, writer, name
// Rename a leased corpus; no row if another corpus has the name.
MATCH (corpus:Corpus {id: $corpus, writer: $writer})
WHERE NOT EXISTS { MATCH (:Corpus {name: $name}) }
SET corpus.name = $name
RETURN corpus.name AS name;

// name: switch_corpus
// mode: write
// params: corpus, writer, successor
// Replace a leased corpus by its successor, which takes its name; the replaced corpus is hidden from all readers.
MATCH (corpus:Corpus {id: $corpus, writer: $writer})
MATCH (successor:Corpus {id: $successor})
SET corpus:DroppedCorpus
REMOVE corpus:Corpus
SET successor.name = corpus.name
RETURN successor.name AS name;
