// name: constrain_catalog_id
// mode: schema
// There is a single catalog node; its lock separates processes that create shared indexes from those that drop them.
CREATE CONSTRAINT catalog_id IF NOT EXISTS FOR (n:Catalog) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_id
// mode: schema
// Corpora are looked up by their immutable internal ids.
CREATE CONSTRAINT corpus_id IF NOT EXISTS FOR (n:Corpus) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_name
// mode: schema
// Names of corpora are unique.
CREATE CONSTRAINT corpus_name IF NOT EXISTS FOR (n:Corpus) REQUIRE n.name IS UNIQUE;

// name: constrain_document_id
// mode: schema
// A document's id is the hash of its corpus and key.
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (n:Document) REQUIRE n.id IS UNIQUE;

// name: constrain_chunk_id
// mode: schema
// A chunk's id is the hash of its corpus, document key, text and occurrence.
CREATE CONSTRAINT chunk_id IF NOT EXISTS FOR (n:Chunk) REQUIRE n.id IS UNIQUE;

// name: constrain_entity_id
// mode: schema
// An entity's id is the hash of its corpus and name key.
CREATE CONSTRAINT entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;

// name: constrain_tally_id
// mode: schema
// The id of a shard of counts is made from its corpus, kind, number and generation.
CREATE CONSTRAINT tally_id IF NOT EXISTS FOR (n:Tally) REQUIRE n.id IS UNIQUE;

// name: index_tally_shard
// mode: schema
// Counts are read by shard.
CREATE INDEX tally_shard IF NOT EXISTS FOR (n:Tally) ON (n.corpus, n.kind, n.shard);

// name: index_chunk_document
// mode: schema
// Chunks are looked up by their document's key.
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
// Vectors are reused by the hash of the embedded text.
CREATE INDEX chunk_embedded IF NOT EXISTS FOR (n:Chunk) ON (n.embedded);

// name: create_vector_index
// mode: schema
// params: dimension
// names: vector_index
// Each model and dimension has a vector index, which filters by corpus and generation. Unquantised, so that scores are exact.
CYPHER 25
CREATE VECTOR INDEX <vector_index> IF NOT EXISTS FOR (n:<vector_index>) ON n.embedding WITH [n.corpus, n.since, n.until]
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_fulltext_index
// mode: schema
// params: analyzer
// names: label
// Each corpus has its own full-text index: in a shared index the statistics of other corpora would affect the ranking.
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
// State and configuration of those of the named indexes that exist.
SHOW INDEXES YIELD name, type, state, options WHERE name IN $index_names RETURN name, type, state, options;

// name: fulltext_analyzers
// mode: read
// The server's full-text analysers.
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer RETURN analyzer ORDER BY analyzer;

// name: end_query
// mode: schema
// params: text
// Terminate the transactions that run a query with exactly this text.
SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery
WHERE currentQuery = $text
TERMINATE TRANSACTIONS id YIELD message
RETURN message;
