// Rankings and hits are returned as a single row of lists: separate rows would take the driver longer than the search.
// They come with the name of the corpus, which may be another's by now, and with the generation that is visible after the reads:
// garbage is collected only after a publication, so reads of the generation that is still visible lacked nothing.

// fragment: visible_now(corpus_id, after)
// The corpus's `name` and, as `now`, its visible generation once the list `after` is read. The condition, which always holds, keeps
// this order.
CALL (<after>) {
  MATCH (current:HopRankCorpus {id: <corpus_id>}) WHERE <after> IS NOT NULL
  RETURN current.name AS name, current.generation AS now
}

// fragment: still_visible_now(corpus_id, after, settled)
// As visible_now, for reads that took all for visible because the corpus was settled: no generation if a write began meanwhile.
CALL (<after>, <settled>) {
  MATCH (current:HopRankCorpus {id: <corpus_id>}) WHERE <after> IS NOT NULL
  RETURN current.name AS name, CASE WHEN <settled> AND current.staging IS NOT NULL THEN -1 ELSE current.generation END AS now
}

// fragment: alone_in_index(corpus)
// No other corpus has vectors in the corpus's vector index, that of its model.
NOT EXISTS {
  MATCH (other:HopRankCorpus|HopRankDroppedCorpus {fingerprint: <corpus>.fingerprint}) WHERE other.id <> <corpus>.id
}

// fragment: metadata(item)
// The metadata that the author of a node gave it, as pairs of a property's name and its value.
[property IN keys(<item>) WHERE property STARTS WITH 'metadata.' | [property, <item>[property]]]

// fragment: declared(item)
// The values of the declared fields of a chunk, as pairs of a property's name and its value.
[property IN keys(<item>) WHERE property STARTS WITH 'declared.' | [property, <item>[property]]]

// name: vector_candidates
// mode: read
// params: corpus, vector, limit
// names: vector_index
// The chunks nearest to the question's vector, filtered by corpus and generation inside the index. The generation is filtered only
// during a write, because the filter is slow; otherwise all chunks are visible. So is that by corpus, which is left out where the
// corpus is alone in the index; hits are compared with it all the same, lest one be made meanwhile. Scores are (1 + cosine) / 2.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation, corpus.staging IS NULL AS settled, <alone_in_index(corpus)> AS alone
CALL (corpus, generation, settled, alone) {
  CALL (corpus, generation, settled, alone) {
    WITH corpus WHERE settled AND alone
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector LIMIT $limit) SCORE AS score
    WITH corpus, c, score WHERE c.corpus = corpus.id
    RETURN c, score
    UNION ALL
    WITH corpus WHERE settled AND NOT alone
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector WHERE c.corpus = corpus.id LIMIT $limit) SCORE AS score
    RETURN c, score
    UNION ALL
    WITH corpus, generation, settled WHERE NOT settled
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, generation)> LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  RETURN collect(c.id) AS near, collect(score) AS near_scores
}
<still_visible_now($corpus, near, settled)>
RETURN name, generation, now, near, near_scores;

// name: fulltext_candidates
// mode: read
// params: corpus, texts, text, limit
// The best matches of the question's words, by Lucene's BM25 on the corpus's slot of an index. During a write the index holds staged chunks
// too, any number of which may be better, so it is read as far as needed: without a limit it returns its hits lazily.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus.generation AS generation, corpus.staging IS NULL AS settled, <text_index($texts)> AS index
CALL (generation, settled, index) {
  CALL (generation, settled, index) {
    WITH settled, index WHERE settled AND $text <> ''
    CALL db.index.fulltext.queryNodes(index, $text, {limit: $limit}) YIELD node AS c, score
    RETURN c, score
    UNION ALL
    WITH generation, settled, index WHERE NOT settled AND $text <> ''
    CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c, score
    WITH generation, c, score WHERE <visible(c, generation)>
    RETURN c, score LIMIT $limit
  }
  RETURN collect(c.id) AS matching, collect(score) AS matching_scores
}
<still_visible_now($corpus, matching, settled)>
RETURN name, generation, now, matching, matching_scores;

// name: hydrate
// mode: read
// params: ids, corpus, generation
// The content of hits, for chunks by id: values in a fixed order, because maps with names would take twice as long to read. Of the
// document only what is shown: its properties hold its whole text, in a vault.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})
WHERE <visible(c, $generation)>
MATCH (d:HopRankDocument {corpus: $corpus, key: c.document})
WHERE <visible(d, $generation)>
WITH collect([c.id, c.text, c.document, c.title, c.heading, d.path, c.ordinal, c.start, c.end, c.line_start, c.line_end,
              d.centroid, <metadata(d)>, <metadata(c)>]) AS hits
<visible_now($corpus, hits)>
RETURN name, $generation AS generation, now, hits;

// name: entity_names
// mode: read
// params: ids
// The names of entities, by id.
UNWIND $ids AS id
MATCH (e:HopRankEntity {id: id})
RETURN e.id AS id, e.name AS name;

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
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)> AND d.centroid IS NOT NULL
RETURN d.key AS document, d.centroid AS centroid;

// name: corpus_size
// mode: read
// params: corpus
// The corpus's name, its visible generation, and its numbers of chunks and entities.
MATCH (corpus:HopRankCorpus {id: $corpus})
RETURN corpus.name AS name, corpus.generation AS generation, corpus.chunks AS chunks, corpus.entities AS entities;

// name: chance
// mode: read
// params: corpus, probes
// names: vector_index
// The score, (1 + cosine) / 2, of the chunk nearest to each of the vectors. As many are looked for as in a search: the index is
// approximate, and asked for one it misses the nearest so often that the mean falls by 0.6 deviations. Staged and retired chunks
// count, too: what is measured hardly depends on a few of them.
CYPHER 25
UNWIND $probes AS probe
CALL (probe) {
  MATCH (c:<vector_index>)
  SEARCH c IN (VECTOR INDEX <vector_index> FOR probe WHERE c.corpus = $corpus LIMIT 100) SCORE AS score
  RETURN max(score) AS nearest
}
RETURN nearest AS score;

// name: set_chance
// mode: write
// params: corpus, chance
// Keep what was measured of how near the corpus comes to anything: mean, standard deviation, number of chunks.
MATCH (corpus:HopRankCorpus {id: $corpus}) SET corpus.chance = $chance;
