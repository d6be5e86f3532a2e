// Filters: the values that they compare, and the legs restricted to their matches. The filters themselves are evaluated in Python on
// the values that are read here.

// name: chunks_by_document
// mode: read
// params: label, generation
// The ids of the visible chunks, by document key.
MATCH (c:$($label))
WHERE <visible(c, $generation)>
RETURN c.document AS document, collect(c.id) AS ids;

// name: document_values
// mode: read
// params: corpus, generation, property
// The values of a property of visible documents, by document key; documents without it are left out.
MATCH (d:Document {corpus: $corpus})
WHERE <visible(d, $generation)>
WITH d.key AS key, properties(d)[$property] AS value
WHERE value IS NOT NULL
RETURN key, value;

// name: metadata_values
// mode: read
// params: corpus, label, generation, property
// The values of a property of the metadata: of visible documents by key, and of visible chunks by id.
CYPHER 25
MATCH (d:Document {corpus: $corpus})
WHERE <visible(d, $generation)>
WITH d.key AS key, properties(d)[$property] AS value
WHERE value IS NOT NULL
RETURN key, value, false AS of_chunk
UNION ALL
MATCH (c:$($label))
WHERE <visible(c, $generation)> AND c[$property] IS NOT NULL
RETURN c.id AS key, c[$property] AS value, true AS of_chunk;

// name: chunk_values
// mode: read
// params: label, generation, property
// The values of a property of visible chunks, by chunk id; chunks without it are left out.
MATCH (c:$($label))
WHERE <visible(c, $generation)> AND c[$property] IS NOT NULL
RETURN c.id AS key, c[$property] AS value;

// name: filtered_vector
// mode: read
// params: corpus, ids, vector, generation, limit
// The chunks of ids nearest to the question's vector, by exact cosine. Scores are (1 + cosine) / 2.
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
WHERE <visible(c, $generation)> AND c.embedding IS NOT NULL
WITH c.id AS id, vector.similarity.cosine(c.embedding, $vector) AS score
ORDER BY score DESC, id LIMIT $limit
WITH collect(id) AS near, collect(score) AS near_scores
<visible_now($corpus, near)>
RETURN name, $generation AS generation, now, near, near_scores;

// name: filtered_fulltext
// mode: read
// params: corpus, index, text, ids, generation, limit
// The chunks of ids that match the question's words best. The index returns its hits lazily, best first, so it is read only as far
// as needed. Nodes are compared instead of ids, because the ids of all hits would have to be read.
MATCH (corpus:Corpus {id: $corpus})
WITH coalesce(corpus.text_index, $index) AS index
MATCH (a:Chunk)
WHERE a.id IN $ids AND <visible(a, $generation)>
WITH index, collect(a) AS admitted
CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c, score
WITH c, score, admitted
WHERE c IN admitted
WITH c, score LIMIT $limit
WITH collect(c.id) AS matching, collect(score) AS matching_scores
<visible_now($corpus, matching)>
RETURN name, $generation AS generation, now, matching, matching_scores;
