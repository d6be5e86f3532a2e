// The visible generation of a corpus, without its internal ids.

// name: export_documents
// mode: read
// params: corpus, generation
// The visible documents, by key.
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)>
RETURN d {.*, centroid: null} AS document ORDER BY d.key;

// name: export_chunks
// mode: read
// params: label, generation, embeddings
// The visible chunks, by document and ordinal; the packed vector is null unless $embeddings.
CYPHER 25
MATCH (c:$($label)) WHERE <visible(c, $generation)>
WITH c ORDER BY c.document, c.ordinal
RETURN c {
    .document, .ordinal, .text, .title, .heading, .start, .end, .line_start, .line_end, .tokens, .links, .link_relations,
    .link_contexts, .embedded
  } AS chunk, <metadata(c)> AS metadata, c.imported AS imported,
       CASE WHEN $embeddings THEN vector(c.embedding, size(c.embedding), FLOAT32) END AS vector;

// name: export_entities
// mode: read
// params: corpus, generation
// The entities that are mentioned, by key. Others are of a run that ended in the middle.
MATCH (e:HopRankEntity {corpus: $corpus})
WHERE EXISTS { (e)<-[r:MENTIONS]-() WHERE <visible(r, $generation)> }
RETURN e.key AS key, e.name AS name ORDER BY e.key;

// name: export_counts
// mode: read
// params: corpus, generation
// The visible shards of counts, by kind and shard.
MATCH (t:HopRankTally {corpus: $corpus})
WHERE <visible(t, $generation)>
RETURN t.kind AS kind, t.shard AS shard, t.counts AS counts ORDER BY kind, shard;

// name: export_edges
// mode: read
// params: label, generation
// The visible edges, by source. A chunk is identified by document and ordinal, a document or entity by its key.
MATCH (c:$($label)) WHERE <visible(c, $generation)>
WITH c ORDER BY c.document, c.ordinal
MATCH (c)-[r]->(t)
WHERE <visible(r, $generation)>
RETURN type(r) AS kind, [c.document, c.ordinal] AS source, CASE WHEN t:HopRankChunk THEN [t.document, t.ordinal] ELSE t.key END AS target,
       properties(r) AS properties;

// name: top_entities
// mode: read
// params: corpus, generation, limit
// The entities with the most mentions, and their numbers of mentions.
<still_visible($corpus, $generation)>
MATCH (e:HopRankEntity {corpus: $corpus})
WITH e, COUNT { (e)<-[r:MENTIONS]-() WHERE <visible(r, $generation)> } AS mentions
ORDER BY mentions DESC, e.key LIMIT $limit
RETURN e.name AS name, mentions;

// name: degree_counts
// mode: read
// params: corpus, label, generation
// For each type of edge to other texts and to entities, the degrees of the chunks and how many have each; 0 is left out.
<still_visible($corpus, $generation)>
MATCH (c:$($label))-[r:SIMILAR|MENTIONS|REFERS_TO|LINKS_TO]-()
WHERE <visible(c, $generation)> AND <visible(r, $generation)>
WITH c, type(r) AS kind, count(*) AS degree
RETURN kind, degree, count(*) AS chunks ORDER BY kind, degree;

// name: corpus_facts
// mode: read
// params: corpus
// A corpus's creation time, its writer and the start of the writer's lease.
MATCH (corpus:HopRankCorpus {id: $corpus})
RETURN toString(corpus.created_at) AS created_at, corpus.writer AS writer, corpus.writer_since AS writer_since;

// name: set_examples
// mode: write
// params: corpus, questions
// Keep questions with a corpus that the explorer offers to ask.
MATCH (corpus:HopRankCorpus {id: $corpus})
SET corpus.examples = $questions;

// name: example_questions
// mode: read
// params: corpus
// The questions that were kept with a corpus, in order.
MATCH (corpus:HopRankCorpus {id: $corpus})
RETURN coalesce(corpus.examples, []) AS questions;

// name: linked_names
// mode: read
// params: corpus, generation, names
// Pairs of these entities that passages mention together, and in how many passages; the rarest first, where they tell most.
<still_visible($corpus, $generation)>
MATCH (a:HopRankEntity {corpus: $corpus}) WHERE a.name IN $names
MATCH (a)<-[r:MENTIONS]-(c:HopRankChunk)-[s:MENTIONS]->(b:HopRankEntity)
WHERE b.name IN $names AND a.key < b.key AND <visible(r, $generation)> AND <visible(s, $generation)>
WITH a.name AS one, b.name AS other, count(*) AS together
RETURN one, other, together ORDER BY together, one, other;

// name: most_linked_titles
// mode: read
// params: corpus, generation, limit
// The titles of the documents to which the most passages of others lead, by a link or by their title.
<still_visible($corpus, $generation)>
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)> AND d.title <> ''
WITH d, COUNT { (d)<-[r:REFERS_TO|LINKS_TO]-() WHERE <visible(r, $generation)> } AS links
WHERE links > 0
RETURN d.title AS title ORDER BY links DESC, d.key LIMIT $limit;

// name: rename_corpus
// mode: write
// params: corpus, writer, name
// Rename a leased corpus; no row if the name is taken.
MATCH (corpus:HopRankCorpus {id: $corpus, writer: $writer})
WHERE NOT EXISTS { MATCH (:HopRankCorpus {name: $name}) }
SET corpus.name = $name
RETURN corpus.name AS name;

// name: switch_corpus
// mode: write
// params: corpus, writer, successor
// Replace a leased corpus by its successor, which takes the name and the judgements; the old corpus is marked as dropped.
MATCH (corpus:HopRankCorpus {id: $corpus, writer: $writer})
MATCH (successor:HopRankCorpus {id: $successor})
SET corpus:HopRankDroppedCorpus
REMOVE corpus:HopRankCorpus
SET successor.name = corpus.name, successor.examples = corpus.examples
WITH corpus, successor
CALL (corpus, successor) {
  MATCH (j:HopRankJudgement {corpus: corpus.id})
  SET j.corpus = successor.id
}
RETURN successor.name AS name;
