// Filters. On the declared fields of a corpus they are evaluated inside its indexes (pipeline/db/filterable.py); other conditions are
// evaluated in Python on the values that come with each candidate, or with each chunk of a scan.

// fragment: values_of(chunk, fields)
// The values that a filter compares of a chunk. Each of the fields is a property of the chunk and one of its document, either of which
// may be '': the chunk's own value comes first.
[field IN <fields> | coalesce(<chunk>[field[0]],
  CASE WHEN field[1] <> '' THEN head(COLLECT { MATCH (<chunk>)-[:PART_OF]->(d) RETURN d[field[1]] }) END)]

// fragment: in_boxes(chunk, boxes)
// The chunk may be in one of the boxes, lists of [property, first key, first key after it, term of a list of several]: such a list has
// no key. Any chunk is, if there are no boxes.
size(<boxes>) = 0 OR any(box IN <boxes> WHERE all(side IN box WHERE
  (<chunk>[side[0]] >= side[1] AND <chunk>[side[0]] < side[2])
  OR (<chunk>[side[0]] IS NULL AND side[3] IN coalesce(<chunk>.filterable, []))))

// fragment: words_of(text, limit, index, settled)
// The best matches of a Lucene query and their scores, as `words`: none of a text that is empty, nor during a write.
CALL (<index>, <settled>) {
  WITH <index> WHERE <settled> AND <text> <> ''
  CALL db.index.fulltext.queryNodes(<index>, <text>, {limit: <limit>}) YIELD node AS c, score
  RETURN collect([c.id, score]) AS words
}

// name: filter_facts
// mode: read
// params: corpus, texts, text, terms, limit
// The corpus's numbers, how many chunks match a filter in the full-text index, up to a limit, and how many of them are visible, null at
// the limit; the number, 0 or 1, for each of some terms. No match is read of a text that is empty.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, <text_index($texts)> AS index
CALL (index) {
  WITH index WHERE $text <> ''
  CALL db.index.fulltext.queryNodes(index, $text, {limit: $limit}) YIELD node
  RETURN collect(node) AS matching
}
CALL (index) {
  UNWIND $terms AS term
  CALL (index, term) {
    CALL db.index.fulltext.queryNodes(index, term, {limit: 1}) YIELD node
    RETURN count(node) AS one
  }
  RETURN collect(one) AS known
}
RETURN corpus.name AS name, corpus.generation AS generation, corpus.chunks AS chunks, known, size(matching) AS matching,
       CASE WHEN size(matching) < $limit THEN size([c IN matching WHERE <visible(c, corpus.generation)>]) END AS admitted;

// name: has_field
// mode: read
// params: corpus, label, generation, own, inherited
// Whether any visible document has the property `inherited`, or any visible chunk the property `own`.
MATCH (corpus:HopRankCorpus {id: $corpus})
RETURN EXISTS { MATCH (d:HopRankDocument {corpus: $corpus}) WHERE <visible(d, $generation)> WITH d AS one WHERE one[$inherited] IS NOT NULL RETURN one }
  OR EXISTS { MATCH (c:$($label)) WHERE c[$own] IS NOT NULL AND <visible(c, $generation)> } AS known;

// name: filtered_vector_0
// mode: read
// params: corpus, vector, limit, fields
// names: vector_index
// The chunks nearest to the question's vector, each with the values that a filter compares. Scores are (1 + cosine) / 2.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation
CALL (corpus, generation) {
  MATCH (c:<vector_index>)
  SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
    WHERE c.corpus = corpus.id AND <visible(c, generation)> LIMIT $limit) SCORE AS score
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<visible_now($corpus, found)>
RETURN name, generation, now, found;

// name: filtered_vector_1
// mode: read
// params: corpus, texts, vector, text, limit, fields, boxes
// names: vector_index, first
// As filtered_vector_0, of the chunks with a key in one of the boxes: [first key, first key after it]. In all these a search for each box.
// Beside them, as words, the best matches of a Lucene query; null during a write, when the index has to be read further.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation, corpus.staging IS NULL AS settled, <text_index($texts)> AS index
CALL (corpus, generation) {
  UNWIND $boxes AS box
  CALL (corpus, generation, box) {
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, generation)>
        AND c.<first> >= box[0] AND c.<first> < box[1]
      LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<words_of($text, $limit, index, settled)>
<still_visible_now($corpus, words, settled)>
RETURN name, generation, now, found, CASE WHEN settled THEN words END AS words;

// name: filtered_vector_2
// mode: read
// params: corpus, texts, vector, text, limit, fields, boxes
// names: vector_index, first, second
// As filtered_vector_1, with the bounds of two keys in a box.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation, corpus.staging IS NULL AS settled, <text_index($texts)> AS index
CALL (corpus, generation) {
  UNWIND $boxes AS box
  CALL (corpus, generation, box) {
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, generation)>
        AND c.<first> >= box[0] AND c.<first> < box[1]
        AND c.<second> >= box[2] AND c.<second> < box[3]
      LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<words_of($text, $limit, index, settled)>
<still_visible_now($corpus, words, settled)>
RETURN name, generation, now, found, CASE WHEN settled THEN words END AS words;

// name: filtered_vector_3
// mode: read
// params: corpus, texts, vector, text, limit, fields, boxes
// names: vector_index, first, second, third
// As filtered_vector_1, with the bounds of three keys in a box.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation, corpus.staging IS NULL AS settled, <text_index($texts)> AS index
CALL (corpus, generation) {
  UNWIND $boxes AS box
  CALL (corpus, generation, box) {
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, generation)>
        AND c.<first> >= box[0] AND c.<first> < box[1]
        AND c.<second> >= box[2] AND c.<second> < box[3]
        AND c.<third> >= box[4] AND c.<third> < box[5]
      LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<words_of($text, $limit, index, settled)>
<still_visible_now($corpus, words, settled)>
RETURN name, generation, now, found, CASE WHEN settled THEN words END AS words;

// name: vector_of_terms
// mode: read
// params: corpus, texts, text, vector, limit, most, fields
// The chunks that match a filter in the full-text index and are nearest to the question's vector, by exact cosine; none, and not
// `complete`, if as many as most match. Scores are (1 + cosine) / 2.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus.generation AS generation, <text_index($texts)> AS index
CALL (generation, index) {
  CALL db.index.fulltext.queryNodes(index, $text, {limit: $most}) YIELD node AS c
  RETURN collect(c) AS matching
}
CALL (generation, matching) {
  UNWIND CASE WHEN size(matching) < $most THEN matching ELSE [] END AS c
  WITH generation, c WHERE <visible(c, generation)> AND c.embedding IS NOT NULL
  WITH c, vector.similarity.cosine(c.embedding, $vector) AS score
  ORDER BY score DESC, c.id LIMIT $limit
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<visible_now($corpus, found)>
RETURN name, generation, now, found, size(matching) < $most AS complete;

// name: vector_of_ids
// mode: read
// params: corpus, ids, vector, generation, limit
// The chunks of ids nearest to the question's vector, by exact cosine. Scores are (1 + cosine) / 2.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})
WHERE <visible(c, $generation)> AND c.embedding IS NOT NULL
WITH c.id AS id, vector.similarity.cosine(c.embedding, $vector) AS score
ORDER BY score DESC, id LIMIT $limit
WITH collect([id, score, []]) AS found
<visible_now($corpus, found)>
RETURN name, $generation AS generation, now, found;

// name: filtered_fulltext
// mode: read
// params: corpus, texts, text, limit, fields
// The best matches of a question and the declared conditions of a filter, each with the values that the filter compares besides. As
// in fulltext_candidates the index is read as far as needed during a write.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus.generation AS generation, corpus.staging IS NULL AS settled, <text_index($texts)> AS index
CALL (generation, settled, index) {
  CALL (generation, settled, index) {
    WITH settled, index WHERE settled
    CALL db.index.fulltext.queryNodes(index, $text, {limit: $limit}) YIELD node AS c, score
    RETURN c, score
    UNION ALL
    WITH generation, settled, index WHERE NOT settled
    CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c, score
    WITH generation, c, score WHERE <visible(c, generation)>
    RETURN c, score LIMIT $limit
  }
  RETURN collect([c.id, score, <values_of(c, $fields)>]) AS found
}
<still_visible_now($corpus, found, settled)>
RETURN name, generation, now, found;

// name: fulltext_of_ids
// mode: read
// params: corpus, texts, text, ids, generation, limit
// The chunks of ids that match the question's words best. The index returns its hits lazily, best first, so it is read only as far
// as needed. Nodes are compared instead of ids, because the ids of all hits would have to be read.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH <text_index($texts)> AS index
MATCH (a:HopRankChunk)
WHERE a.id IN $ids AND <visible(a, $generation)>
WITH index, collect(a) AS admitted
CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c, score
WITH c, score, admitted
WHERE c IN admitted
WITH c, score LIMIT $limit
WITH collect([c.id, score, []]) AS found
<visible_now($corpus, found)>
RETURN name, $generation AS generation, now, found;

// name: values_of_chunks
// mode: read
// params: corpus, ids, generation, boxes, fields
// The values that a filter compares of those of some chunks, by id, that are in the boxes.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})
WHERE <visible(c, $generation)> AND <in_boxes(c, $boxes)>
WITH collect([c.id, <values_of(c, $fields)>]) AS found
<visible_now($corpus, found)>
RETURN name, $generation AS generation, now, found;

// name: scan_values
// mode: read
// params: corpus, label, generation, fields
// The values that a filter compares of every visible chunk, with its id and the key of its document.
CYPHER 25
MATCH (c:$($label))
WHERE <visible(c, $generation)> AND c.corpus = $corpus
RETURN c.id AS id, c.document AS document, <values_of(c, $fields)> AS values;

// name: scan_terms
// mode: read
// params: corpus, texts, text, generation, fields
// As scan_values, of the chunks that match the declared conditions of a filter in the full-text index.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH <text_index($texts)> AS index
CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c
WITH c WHERE <visible(c, $generation)>
RETURN c.id AS id, c.document AS document, <values_of(c, $fields)> AS values;
