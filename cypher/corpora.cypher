// name: corpora
// mode: read
// Every corpus, by name.
MATCH (corpus:Corpus) RETURN properties(corpus) AS corpus ORDER BY corpus.name;

// name: corpus_named
// mode: read
// params: name
// The corpus of that name; no row if there is none.
MATCH (corpus:Corpus {name: $name}) RETURN properties(corpus) AS corpus;

// name: create_corpus
// mode: write
// params: id, name, properties
// Make a corpus, or return the one that has the name already; nobody drops a shared index meanwhile.
MERGE (catalog:Catalog {id: 'hoprank'})
SET catalog.lock = true
MERGE (corpus:Corpus {name: $name})
ON CREATE SET corpus += $properties, corpus.id = $id, corpus.created_at = datetime(), corpus.generation = 0
REMOVE catalog.lock
RETURN properties(corpus) AS corpus;

// name: lock_catalog
// mode: write
// params: fingerprint
// Keep others from making a corpus until the transaction ends; return how many corpora use a model.
MERGE (catalog:Catalog {id: 'hoprank'})
SET catalog.lock = true
REMOVE catalog.lock
WITH catalog
RETURN COUNT { MATCH (corpus:Corpus {fingerprint: $fingerprint}) } AS corpora;

// name: take_lease
// mode: write
// params: corpus, writer, since, dead
// Take the right to write, unless somebody else whom we don't know to be dead has it; return who had it.
MATCH (corpus:Corpus {id: $corpus})
SET corpus.lock = true
WITH corpus, corpus.writer AS holder
CALL (corpus, holder) {
  WITH corpus, holder WHERE holder IS NULL OR holder IN $dead
  SET corpus.writer = $writer, corpus.writer_since = $since, corpus.writer_seen = timestamp()
}
REMOVE corpus.lock
RETURN holder, corpus.writer_since AS since, corpus.writer = $writer AS held, properties(corpus) AS corpus,
       (timestamp() - corpus.writer_seen) / 1000.0 AS silent;

// name: renew_lease
// mode: write
// params: corpus, writer
// Say that the holder is alive, by the server's clock.
MATCH (corpus:Corpus {id: $corpus, writer: $writer}) SET corpus.writer_seen = timestamp();

// name: check_lease
// mode: write
// params: corpus, writer
// Tell whether a writer still holds a corpus, and keep others from taking it over until the transaction ends.
MATCH (corpus:Corpus {id: $corpus})
SET corpus.lock = true
WITH corpus
REMOVE corpus.lock
RETURN corpus.writer = $writer AS held;

// name: begin_staging
// mode: write
// params: corpus, writer
// Note that the next generation is being written, so that a run that dies is noticed.
MATCH (corpus:Corpus {id: $corpus, writer: $writer})
SET corpus.staging = corpus.generation + 1
RETURN corpus.generation AS generation;

// name: release_lease
// mode: write
// params: corpus, writer
// Give the right to write back.
MATCH (corpus:Corpus|DroppedCorpus {id: $corpus, writer: $writer}) REMOVE corpus.writer, corpus.writer_since, corpus.writer_seen;

// name: begin_drop
// mode: write
// params: corpus
// Let nobody find a corpus any more; its name is free.
MATCH (corpus:Corpus {id: $corpus}) SET corpus:DroppedCorpus REMOVE corpus:Corpus;

// name: dropped_corpora
// mode: read
// Corpora whose drop was begun and is not done.
MATCH (corpus:DroppedCorpus) RETURN properties(corpus) AS corpus;

// name: delete_corpus_part
// mode: write
// params: corpus, label, limit
// Delete up to limit nodes of a corpus with their relationships; return how many there were.
CALL () {
  MATCH (n:$($label)) RETURN n
  UNION ALL
  MATCH (n:Document {corpus: $corpus}) RETURN n
  UNION ALL
  MATCH (n:Entity {corpus: $corpus}) RETURN n
  UNION ALL
  MATCH (n:Tally {corpus: $corpus}) RETURN n
}
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted;

// name: delete_corpus
// mode: write
// params: corpus
// Delete the corpus's own node, last of all.
MATCH (corpus:DroppedCorpus {id: $corpus}) DELETE corpus;
