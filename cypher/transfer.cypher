// Everything that is visible of a corpus, without the ids that are its own.

// name: export_documents
// mode: read
// params: corpus, generation
// Every document that is visible, by key.
MATCH (d:Document {corpus: $corpus})
WHERE d.since <= $generation AND d.until > $generation
RETURN properties(d) AS document ORDER BY d.key;

// name: export_chunks
// mode: read
// params: label, generation, embeddings
// Every chunk that is visible, by document and place, with its packed vector or without.
CYPHER 25
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
WITH c ORDER BY c.document, c.ordinal
RETURN c {.document, .ordinal, .text, .title, .heading, .start, .end, .line_start, .line_end, .tokens, .links, .embedded} AS chunk,
       CASE WHEN $embeddings THEN vector(c.embedding, size(c.embedding), FLOAT32) END AS vector;

// name: export_entities
// mode: read
// params: corpus
// Every entity, by key.
MATCH (e:Entity {corpus: $corpus}) RETURN e.key AS key, e.name AS name ORDER BY e.key;

// name: export_counts
// mode: read
// params: corpus, generation
// Every shard of counts that is visible.
MATCH (t:Tally {corpus: $corpus})
WHERE t.since <= $generation AND t.until > $generation
RETURN t.kind AS kind, t.shard AS shard, t.counts AS counts ORDER BY kind, shard;

// name: export_edges
// mode: read
// params: label, generation
// Every edge that is visible, by its source; a chunk goes by its document and place, the others by their keys.
MATCH (c:$($label)) WHERE c.since <= $generation AND c.until > $generation
WITH c ORDER BY c.document, c.ordinal
MATCH (c)-[r]->(t)
WHERE r.since <= $generation AND r.until > $generation
RETURN type(r) AS kind, [c.document, c.ordinal] AS source, CASE WHEN t:Chunk THEN [t.document, t.ordinal] ELSE t.key END AS target,
       properties(r) AS properties;

// name: top_entities
// mode: read
// params: corpus, generation, limit
// The entities that most chunks mention.
MATCH (e:Entity {corpus: $corpus})
WITH e, COUNT { (e)<-[r:MENTIONS]-() WHERE r.since <= $generation AND r.until > $generation } AS mentions
ORDER BY mentions DESC, e.key LIMIT $limit
RETURN e.name AS name, mentions;

// name: corpus_facts
// mode: read
// params: corpus
// When a corpus was made, who writes to it and since when.
MATCH (corpus:Corpus {id: $corpus})
RETURN toString(corpus.created_at) AS created_at, corpus.writer AS writer, corpus.writer_since AS writer_since;

// name: rename_corpus
// mode: write
// params: corpus, writer, name
// Give a corpus that is held another name, unless a corpus has that already; no row if one does.
MATCH (corpus:Corpus {id: $corpus, writer: $writer})
WHERE NOT EXISTS { MATCH (:Corpus {name: $name}) }
SET corpus.name = $name
RETURN corpus.name AS name;

// name: switch_corpus
// mode: write
// params: corpus, writer, successor
// Let another corpus take the name of one that is held, which nobody finds any more from then on.
MATCH (corpus:Corpus {id: $corpus, writer: $writer})
MATCH (successor:Corpus {id: $successor})
SET corpus:DroppedCorpus
REMOVE corpus:Corpus
SET successor.name = corpus.name
RETURN successor.name AS name;
