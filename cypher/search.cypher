// Rankings and hits are returned as a single row of lists: separate rows would take the driver longer than the search.
// They come with the name of the corpus, which may be another's by now, and with the generation that is visible after the reads:
// garbage is collected only after a publication, so reads of the generation that is still visible lacked nothing.

// fragment: visible_now(corpus_id, after)
// The corpus's `name` and, as `now`, its visible generation once the list `after` is read. The condition, which always holds, keeps
// this order.
CALL (<after>) {
  MATCH (current:Corpus {id: <corpus_id>}) WHERE <after> IS NOT NULL
  RETURN current.name AS name, current.generation AS now
}

// name: vector_candidates
// mode: read
// params: corpus, vector, limit
// names: vector_index
// The chunks nearest to the question's vector, filtered by corpus and generation inside the index. The generation is filtered only
// during a write, because the filter is slow; otherwise all chunks are visible. Scores are (1 + cosine) / 2.
CYPHER 25
MATCH (corpus:Corpus {id: $corpus})
CALL (corpus) {
  CALL (corpus) {
    WITH corpus WHERE corpus.staging IS NULL
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector WHERE c.corpus = corpus.id LIMIT $limit) SCORE AS score
    RETURN c, score
    UNION ALL
    WITH corpus WHERE corpus.staging IS NOT NULL
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, corpus.generation)> LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  RETURN collect(c.id) AS near, collect(score) AS near_scores
}
<visible_now($corpus, near)>
RETURN name, corpus.generation AS generation, now, near, near_scores;

// name: fulltext_candidates
// mode: read
// params: corpus, index, text, limit
// The best matches of the question's words, by Lucene's BM25 on the corpus's own index. During a write more are fetched,
// because the index holds staged chunks too.
MATCH (corpus:Corpus {id: $corpus})
CALL (corpus) {
  WITH corpus WHERE $text <> ''
  CALL db.index.fulltext.queryNodes($index, $text, {limit: CASE WHEN corpus.staging IS NULL THEN $limit ELSE 4 * $limit END})
  YIELD node AS c, score
  WITH corpus, c, score
  WHERE corpus.staging IS NULL OR <visible(c, corpus.generation)>
  WITH c, score LIMIT $limit
  RETURN collect(c.id) AS matching, collect(score) AS matching_scores
}
<visible_now($corpus, matching)>
RETURN name, corpus.generation AS generation, now, matching, matching_scores;

// name: hydrate
// mode: read
// params: ids, corpus, generation
// The content of hits, for chunks by id: values in a fixed order, because maps with names would take twice as long to read.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
WHERE <visible(c, $generation)>
MATCH (d:Document {corpus: $corpus, key: c.document})
WHERE <visible(d, $generation)>
WITH collect([c.id, c.text, c.document, c.title, c.heading, d.path, c.ordinal, c.start, c.end, c.line_start, c.line_end,
              properties(d)]) AS hits
<visible_now($corpus, hits)>
RETURN name, $generation AS generation, now, hits;

// name: chunk_documents
// mode: read
// params: label
// The document key of each chunk of a corpus.
MATCH (c:$($label)) RETURN c.id AS id, c.document AS document;

// name: chunk_texts
// mode: read
// params: label, generation
// The texts of all visible chunks, for scoring outside the server.
MATCH (c:$($label))
WHERE <visible(c, $generation)>
RETURN c.id AS id, c.document AS document, c.title AS title, c.heading AS heading, c.text AS text;

// name: document_centroids
// mode: read
// params: corpus, generation
// The centroids of the visible documents of several chunks.
MATCH (d:Document {corpus: $corpus})
WHERE <visible(d, $generation)> AND d.centroid IS NOT NULL
RETURN d.key AS document, d.centroid AS centroid;

// name: corpus_size
// mode: read
// params: corpus
// The corpus's name, its visible generation, and its numbers of chunks and entities.
MATCH (corpus:Corpus {id: $corpus})
RETURN corpus.name AS name, corpus.generation AS generation, corpus.chunks AS chunks, corpus.entities AS entities;
