// The graph model: each label and relationship type, with its properties and who writes it. `hoprank help graph` draws it.
//
// CORPORA. An ingest writes them (cypher/ingest/); import, reembed and relink write through the same queries. Searches
// read them (cypher/search.cypher, cypher/walk.cypher).
// `since` and `until` bound visibility: generation g of a corpus sees what has since <= g < until. Queries say it as
// <visible(c, $generation)>, a fragment of cypher/visibility.cypher. `until` is 2^53 until something is retired. `corpus`
// is the id of the corpus, never its name.
//
//   (:HopRankCatalog {id})
//       Locks: one node for those who bring types to knowledge graphs; one for those who claim jobs; one for those who take or
//       retire slots; one for those who make or rebuild full-text indexes.
//   (:HopRankCorpus {id, name, created_at, schema_version, fingerprint, dimension, chunker, extractor, analyzer, links,
//             documents, chunks, entities, edges.TYPE, generation, staging, filterable, kind, examples, texts, slot, chance, writer, writer_since, writer_seen})
//       A named corpus. `fingerprint` (model@revision/dimension/pooling/precision) and `dimension` are those of its vectors;
//       `chunker` and `extractor` say how documents were cut and names found, `links` the settings that edges were made
//       with, as JSON. Counts are those of `generation`, the visible one. `staging` is the generation that is being
//       written, or that a crashed run left. The three `writer` properties are the lease of whoever writes.
//       `filterable` are the fields of the metadata that it declares to filter by, in the order of their places. `kind` is the
//       domain that alone writes to it, such as memory; documents have none. `examples` are questions that the explorer offers to ask.
//       `texts` and `slot` say where its full text is: see HopRankTexts. `chance` is how near its chunks come to any question.
//   (:HopRankDroppedCorpus)
//       A corpus that is being deleted: the properties of Corpus under a label that no search reads.
//   (:HopRankDocument {id, corpus, key, title, path, modified, original, hash, text_hash, centroid, metadata.NAME, since,
//              until})
//       A document. `key` is its path relative to the ingested folder, or its .jsonl id; `path` is where it was read last,
//       and in a vault `modified` when its file was written, or `original` the text of a note that is in no file.
//       `centroid` is the mean of its chunks' vectors, of length 1, as little-endian FLOAT32 bytes; a document of one chunk has
//       none.
//   (:HopRankChunk {id, corpus, document, ordinal, text, title, heading, start, end, line_start, line_end, tokens, folded, links,
//            link_relations, link_contexts, embedded, embedding, imported, metadata.NAME, declared.NAME, filter_N, filterable,
//            hoprank_SLOT_FIELD, since, until})
//       A passage of the document whose key is `document`. `folded` are the words of its text, title and heading that are
//       compared in another form: a soft hyphen dropped, a ligature as letters, without accents; and the pairs of syllables
//       of scripts without spaces. `start` and `end` count characters, lines count from 1, `links` are hyperlink targets as
//       written; in a vault `link_relations` are their types and `link_contexts` the sentences around them. `embedded` is
//       the hash of the text that `embedding` was made from; other corpora
//       with that text reuse it, unless it is `imported`, from a file that anybody may have written. A chunk also
//       carries the labels HopRankCorpus_<corpus id>, HopRankEmbedding_<hash of the fingerprint>, which names the vector index of
//       all corpora of the model, and that of its full-text index, which holds the copies hoprank_SLOT_FIELD of its text, title,
//       heading, folded and filterable.
//       In a corpus that declares fields it has the value of each as `declared.NAME`, its own or its document's; the key
//       of the Nth as `filter_N`, unless it is a list of several; and the terms of all as `filterable`
//       (pipeline/db/filterable.py).
//   (:HopRankEntity {id, corpus, key, name})
//       A name. `key` is its folded form, `name` its usual spelling. It is visible while a visible MENTIONS leads to it.
//   (:HopRankTally {id, corpus, kind, shard, counts, since, until})
//       A shard of the counts behind decisions on casing and spelling, as JSON. An update reads it to find what flipped.
//   (:HopRankJudgement {corpus, question, document, relevance})
//       What somebody said of a hit (cypher/judgements.cypher): above 0, the document with that key answers the question.
//
//   (:HopRankChunk)-[:PART_OF {since, until}]->(:HopRankDocument)
//   (:HopRankChunk)-[:NEXT {since, until}]->(:HopRankChunk)
//       The next chunk of the same document.
//   (:HopRankChunk)-[:MENTIONS {count, position, about, since, until}]->(:HopRankEntity)
//       `about` if the document or section of the chunk is named after the entity.
//   (:HopRankChunk)-[:REFERS_TO {count, position, since, until}]->(:HopRankDocument)
//       The text names the title of the document.
//   (:HopRankChunk)-[:LINKS_TO {count, relations, context, embedding, embedded, since, until}]->(:HopRankDocument)
//       The text hyperlinks the document. In a vault `relations` are the types of the links, `context` the sentences around
//       them, and `embedding` the vector of these, whose hash is `embedded`.
//   (:HopRankChunk)-[:SIMILAR {score, mutual, since, until}]->(:HopRankChunk)
//       Neighbours by cosine, which is `score`; stored once for a pair. `mutual` if each is among the other's nearest.
//   (:HopRankChunk)-[:CAPPED {score, mutual, since, until}]->(:HopRankChunk)
//       As SIMILAR, beyond the number of links that one chunk may have. Only the next update reads it.
//
//   (:HopRankTexts {label, index, analyzer, free, retired})
//       A full-text index of slots (pipeline/db/slots.py) over the nodes with this label, of corpora and graphs. `free` are the
//       slots that nobody has, `retired` those whose texts were deleted since it was built.
//
// THE SERVICE. `hoprank serve` writes them (cypher/jobs.cypher).
//
//   (:HopRankServiceJob {id, kind, corpus, state, attempt, created_at, started_at, finished_at, request, progress, result, problem,
//                 host, owner, seen, cancelling, deaths, tried_since, not_before})
//       An ingest or sync of the corpus with that name; one that reads paths, of the machine `host` alone. `request`, `progress`, `result` and `problem` are JSON. `owner` is
//       the process that runs it, which was `seen` last at that time of the server, in milliseconds. While another process
//       writes its corpus it waits, `not_before` that time and `tried_since` then. `deaths` counts the services that died while they ran it.
//
// KNOWLEDGE GRAPHS. Python's KnowledgeGraph, `hoprank graph import` and `hoprank skills build` write them
// (cypher/knowledge/). They share nothing with corpora. NAME is a property of a node or edge as Neo4j stores it, `p.NAME`
// one whose name HopRank uses itself, `j.NAME` one that is kept as JSON.
// `valid_at` and `invalid_at` bound when a node or edge holds in the world, `created_at` and `expired_at` when the graph
// knows it (cypher/knowledge/time.cypher).
//
//   (:HopRankKnowledgeGraph {id, name, awaited_name, created_at, version, schema_version, dimension, node_labels, edge_types, temporal, kind, texts, slot, filled})
//       A named graph. One that is not yet published has an `awaited_name` instead. `version` counts its changes,
//       `node_labels` and `edge_types` are the names that its types have in Neo4j, `temporal` is true if anything in it has
//       an end or begins later, `kind` the domain that made it. `texts` and `slot` are those of a full-text index (HopRankTexts) that
//       its first search by words chooses, and `filled` is true once all nodes are in it.
//   (:HopRankKnowledgeNode {key, graph, id, type, labels, created_at, updated_at, valid_at, invalid_at, expired_at, embedding,
//                    embedding_hash, text_hash, index_words, hoprank_SLOT_FIELD, NAME, p.NAME, j.NAME})
//       A node. `key` is the hash of the graph's id and its own. It also carries the label HopRankGraph_<graph id> and that of its
//       type: `api-design` is ApiDesign; that of its full-text index, which holds the copies hoprank_SLOT_FIELD of its texts; and
//       HopRankVectors_<length> if it has an embedding, which names the vector index of all graphs with embeddings of this length. `text_hash` is the hash of the text that a sync embedded it by.
//       `index_words` are for full text what `folded` is in a chunk.
//   (:HopRankKnowledgeNode)-[:TYPE {key, id, type, weight, directed, supported, created_at, valid_at, invalid_at, expired_at, NAME, p.NAME, j.NAME}]->(:HopRankKnowledgeNode)
//       An edge. TYPE is made from its type: `depends on` is DEPENDS_ON. `key` begins with the graph's id.
//   (:HopRankKnowledgeNode)-[:CHILD_OF]->(:HopRankKnowledgeNode)
//       A node to its parent.

// name: constrain_catalog_id
// mode: schema
// Each lock is one node.
CREATE CONSTRAINT hoprank_catalog_id IF NOT EXISTS FOR (n:HopRankCatalog) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_id
// mode: schema
// Corpora are looked up by their immutable internal ids.
CREATE CONSTRAINT hoprank_corpus_id IF NOT EXISTS FOR (n:HopRankCorpus) REQUIRE n.id IS UNIQUE;

// name: constrain_corpus_name
// mode: schema
// Names of corpora are unique.
CREATE CONSTRAINT hoprank_corpus_name IF NOT EXISTS FOR (n:HopRankCorpus) REQUIRE n.name IS UNIQUE;

// name: constrain_texts_label
// mode: schema
// Each full-text index of slots has one node that says which are free.
CREATE CONSTRAINT hoprank_texts_label IF NOT EXISTS FOR (n:HopRankTexts) REQUIRE n.label IS UNIQUE;

// name: constrain_document_id
// mode: schema
// A document's id is the hash of its corpus and key.
CREATE CONSTRAINT hoprank_document_id IF NOT EXISTS FOR (n:HopRankDocument) REQUIRE n.id IS UNIQUE;

// name: constrain_chunk_id
// mode: schema
// A chunk's id is the hash of its corpus, document key, text and occurrence.
CREATE CONSTRAINT hoprank_chunk_id IF NOT EXISTS FOR (n:HopRankChunk) REQUIRE n.id IS UNIQUE;

// name: constrain_entity_id
// mode: schema
// An entity's id is the hash of its corpus and name key.
CREATE CONSTRAINT hoprank_entity_id IF NOT EXISTS FOR (n:HopRankEntity) REQUIRE n.id IS UNIQUE;

// name: constrain_tally_id
// mode: schema
// The id of a shard of counts is made from its corpus, kind, number and generation.
CREATE CONSTRAINT hoprank_tally_id IF NOT EXISTS FOR (n:HopRankTally) REQUIRE n.id IS UNIQUE;

// name: index_tally_shard
// mode: schema
// Counts are read by shard.
CREATE INDEX hoprank_tally_shard IF NOT EXISTS FOR (n:HopRankTally) ON (n.corpus, n.kind, n.shard);

// name: index_chunk_document
// mode: schema
// Chunks are looked up by their document's key.
CREATE INDEX hoprank_chunk_document IF NOT EXISTS FOR (n:HopRankChunk) ON (n.corpus, n.document);

// name: index_document_corpus
// mode: schema
// Documents are listed by corpus.
CREATE INDEX hoprank_document_corpus IF NOT EXISTS FOR (n:HopRankDocument) ON (n.corpus, n.key);

// name: index_entity_corpus
// mode: schema
// Entities are listed by corpus.
CREATE INDEX hoprank_entity_corpus IF NOT EXISTS FOR (n:HopRankEntity) ON (n.corpus);

// name: index_chunk_embedded
// mode: schema
// Vectors are reused by the hash of the embedded text.
CREATE INDEX hoprank_chunk_embedded IF NOT EXISTS FOR (n:HopRankChunk) ON (n.embedded);

// name: index_link_embedded
// mode: schema
// Vectors of the sentences around links are reused by the hash of the sentence.
CREATE INDEX hoprank_link_embedded IF NOT EXISTS FOR ()-[r:LINKS_TO]-() ON (r.embedded);

// name: create_vector_index
// mode: schema
// params: dimension
// names: vector_index
// Each model has a vector index, which filters by corpus, generation and the keys of declared fields. Unquantised, so that scores
// are exact.
CYPHER 25
CREATE VECTOR INDEX <vector_index> IF NOT EXISTS FOR (n:<vector_index>) ON n.embedding
WITH [n.corpus, n.since, n.until, n.filter_0, n.filter_1, n.filter_2, n.filter_3, n.filter_4, n.filter_5, n.filter_6, n.filter_7]
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: create_texts_index
// mode: schema
// params: analyzer
// names: texts, index, fields
// A full-text index of slots, over the fields of each (pipeline/db/slots.py).
CREATE FULLTEXT INDEX <index> IF NOT EXISTS FOR (n:<texts>) ON EACH [n.<fields>]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}};

// name: drop_index
// mode: schema
// names: index
// Drop an index that another has replaced.
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
SHOW INDEXES YIELD name, type, state, options, properties WHERE name IN $index_names
RETURN name, type, state, options, properties;

// name: fulltext_analyzers
// mode: read
// The server's full-text analysers.
CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer RETURN analyzer ORDER BY analyzer;

// name: create_probe_index
// mode: schema
// params: analyzer
// names: probe
// An index of nothing, through which an analyser is tried before it gets texts: one that fails at a write stops the database.
CREATE FULLTEXT INDEX <probe> IF NOT EXISTS FOR (n:<probe>) ON EACH [n.text]
OPTIONS {indexConfig: {`fulltext.analyzer`: $analyzer}};

// name: probe_fulltext_index
// mode: read
// params: index, text
// Let the analyser of an index read a text.
CALL db.index.fulltext.queryNodes($index, $text) YIELD node RETURN node LIMIT 1;

// name: end_query
// mode: schema
// params: text
// Terminate the transactions that run a query with exactly this text.
SHOW TRANSACTIONS YIELD transactionId AS id, currentQuery
WHERE currentQuery = $text
TERMINATE TRANSACTIONS id YIELD message
RETURN message;

// name: constrain_service_job_id
// mode: schema
// Jobs of the service are looked up by id.
CREATE CONSTRAINT hoprank_service_job_id IF NOT EXISTS FOR (n:HopRankServiceJob) REQUIRE n.id IS UNIQUE;

// name: index_service_job_state
// mode: schema
// The queue is read by state.
CREATE INDEX hoprank_service_job_state IF NOT EXISTS FOR (n:HopRankServiceJob) ON (n.state);

// name: index_service_job_finished
// mode: schema
// Jobs that finished long ago are looked up to be deleted.
CREATE INDEX hoprank_service_job_finished IF NOT EXISTS FOR (n:HopRankServiceJob) ON (n.finished_at);
