// name: constrain_catalog_id
// mode: schema
// There is one catalog, whose lock keeps makers and droppers of shared indexes apart.
CREATE CONSTRAINT catalog_id IF NOT EXISTS FOR (n:Catalog) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_id
// mode: schema
// A corpus is found by its immutable internal id.
CREATE CONSTRAINT corpus_id IF NOT EXISTS FOR (n:Corpus) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_name
// mode: schema
// Two corpora never share a name.
CREATE CONSTRAINT corpus_name IF NOT EXISTS FOR (n:Corpus) REQUIRE n.name IS UNIQUE;

// name: constrain_document_id
// mode: schema
// A document is found by the hash of its corpus and key.
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE;

// name: constrain_chunk_id
// mode: schema
// A chunk is found by the hash of its corpus, document key, text and occurrence.
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE;

// name: constrain_entity_id
// mode: schema
// An entity is found by the hash of its corpus and name key.
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;

// name: constrain_tally_id
// mode: schema
// A shard of counts is found by its corpus, kind, number and generation.
CREATE CONSTRAINT tally_id IF NOT EXISTS FOR (n:Tally) REQUIRE n.id IS UNIQUE;

// name: index_tally_shard
// mode: schema
// Counts are read by shard.
CREATE INDEX tally_shard IF NOT EXISTS FOR (n:Tally) ON (n.corpus, n.kind, n.shard);

// name: index_chunk_document
// mode: schema
// The chunks of a document are found by its key.
CREATE INDEX chunk_document IF NOT EXISTS FOR (n:Chunk) ON (n.corpus, n.document);

// name: index_document_corpus
// mode: schema
// Documents are listed by corpus.
CREATE INDEX document_corpus IF NOT EXISTS FOR (n:Document) ON (n.corpus, n.key);

// name: index_entity_corpus
// mode: schema
// Entities are listed by corpus.
CREATE INDEX entity_corpus IF NOT EXISTS FOR (n:Entity) ON (n.corpus);

// name: index_chunk_embedded
// mode: schema
// Vectors are found again by the hash of what was embedded.
CREATE INDEX chunk_embedded IF NOT EXISTS FOR (n:Chunk) ON (n.embedded);

// name: create_vector_index
// mode: schema
// params: dimension
// names: embedding
// One vector index for each model and dimension; corpus and generation are filtered inside it. Unquantised, so that scores are exact.
CYPHER 25
CREATE VECTOR INDEX <embedding> IF NOT EXISTS FOR (n:<embedding>) ON n.embedding WITH [n.corpus, n.since, n.until]
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_fulltext_index
// mode: schema
// params: analyzer
// names: label
// One full-text index for each corpus: the statistics of one corpus would leak into another's ranking.
CREATE FULLTEXT INDEX <label> IF NOT EXISTS FOR (n:<label>) ON EACH [n.title, n.heading, n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}};

// name: drop_index
// mode: schema
// names: index
// Drop an index that a corpus no longer needs.
DROP INDEX <index> IF EXISTS;

// name: await_index
// mode: read
// params: index, seconds
// Wait until an index is online.
CALL db.awaitIndex($index, $seconds);

// name: index_states
// mode: read
// params: index_names
// State and configuration of the indexes that exist among the names given.
SHOW INDEXES YIELD name, type, state, options WHERE name IN $index_names RETURN name, type, state, options;

// name: fulltext_analyzers
// mode: read
// The analysers that the server offers.
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer RETURN analyzer ORDER BY analyzer;

// name: end_query
// mode: schema
// params: text
// End whatever runs a query of exactly this text.
SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery
WHERE currentQuery = $text
TERMINATE TRANSACTIONS id YIELD message
RETURN message;
