// name: corpora
// mode: read
// All corpora, ordered by name.
MATCH (corpus:HopRankCorpus) RETURN properties(corpus) AS corpus ORDER BY corpus.name;

// name: corpus_named
// mode: read
// params: name
// The corpus with this name; no row if there is none.
MATCH (corpus:HopRankCorpus {name: $name}) RETURN properties(corpus) AS corpus;

// name: create_corpus
// mode: write
// params: id, name, properties
// Create a corpus, or return the existing one with this name.
MERGE (corpus:HopRankCorpus {name: $name})
ON CREATE SET corpus += $properties, corpus.id = $id, corpus.created_at = datetime(), corpus.generation = 0
RETURN properties(corpus) AS corpus;

// name: take_lease
// mode: write
// params: corpus, writer, since, stale
// Take the lease if it is free or its holder is among the stale ones; return the previous holder and, in seconds, its silence.
MATCH (corpus:HopRankCorpus {id: $corpus})
SET corpus.lock = true
WITH corpus, corpus.writer AS holder
CALL (corpus, holder) {
  WITH corpus, holder WHERE holder IS NULL OR holder IN $stale
  SET corpus.writer = $writer, corpus.writer_since = $since, corpus.writer_seen = timestamp()
}
REMOVE corpus.lock
RETURN holder, corpus.writer_since AS since, corpus.writer = $writer AS held, properties(corpus) AS corpus,
       corpus.writer_seen AS seen, (timestamp() - corpus.writer_seen) / 1000.0 AS silent;

// name: writers
// mode: read
// Whoever holds the lease of a corpus or makes an unpublished graph, and for how many seconds it was silent; null if unknown.
MATCH (c:HopRankCorpus) WHERE c.writer IS NOT NULL
RETURN c.name AS name, c.writer AS writer, (timestamp() - c.writer_seen) / 1000.0 AS silent
UNION ALL
MATCH (g:HopRankKnowledgeGraph) WHERE g.writer IS NOT NULL AND g.name IS NULL
RETURN g.awaited_name AS name, g.writer AS writer, null AS silent;

// name: renew_lease
// mode: write
// params: corpus, writer
// Record by the server's clock that the holder is alive.
MATCH (corpus:HopRankCorpus {id: $corpus, writer: $writer}) SET corpus.writer_seen = timestamp();

// fragment: leased(corpus_id, writer)
// The writer holds the lease of the corpus, which is `corpus` from here on, and nobody takes it over until the transaction ends.
// There is no row if the lease was lost: then the query writes nothing. The writer's sign of life is renewed: that is the third
// property set, by which LeasedWrites sees that the lease was held.
MATCH (corpus:HopRankCorpus {id: <corpus_id>})
SET corpus.lock = true
WITH corpus
REMOVE corpus.lock
WITH corpus WHERE corpus.writer = <writer>
SET corpus.writer_seen = timestamp()
WITH corpus

// name: begin_staging
// mode: write
// params: corpus, writer
// Record that the next generation is being written, so that a later run notices a crash.
<leased($corpus, $writer)>
SET corpus.staging = corpus.generation + 1
RETURN corpus.generation AS generation;

// name: release_lease
// mode: write
// params: corpus, writer
// Release the lease.
MATCH (corpus:HopRankCorpus|HopRankDroppedCorpus {id: $corpus, writer: $writer}) REMOVE corpus.writer, corpus.writer_since, corpus.writer_seen;

// name: begin_drop
// mode: write
// params: corpus
// Hide a corpus from all readers and free its name.
MATCH (corpus:HopRankCorpus {id: $corpus}) SET corpus:HopRankDroppedCorpus REMOVE corpus:HopRankCorpus;

// name: dropped_corpora
// mode: read
// Corpora whose drop is unfinished.
MATCH (corpus:HopRankDroppedCorpus) RETURN properties(corpus) AS corpus;

// name: delete_corpus_part
// mode: write
// params: corpus, label, limit
// Delete up to limit nodes of a corpus with their relationships; return the number deleted.
CALL () {
  MATCH (n:$($label)) RETURN n
  UNION ALL
  MATCH (n:HopRankDocument {corpus: $corpus}) RETURN n
  UNION ALL
  MATCH (n:HopRankEntity {corpus: $corpus}) RETURN n
  UNION ALL
  MATCH (n:HopRankTally {corpus: $corpus}) RETURN n
  UNION ALL
  MATCH (n:HopRankJudgement {corpus: $corpus}) RETURN n
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted;

// name: delete_corpus
// mode: write
// params: corpus
// Delete the corpus's own node, as the last step of a drop.
MATCH (corpus:HopRankDroppedCorpus {id: $corpus}) DELETE corpus;
