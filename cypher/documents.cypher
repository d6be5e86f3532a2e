// The documents of a corpus, for those who list or read them.

// name: documents_after
// mode: read
// params: corpus, generation, prefix, after, limit
// The first visible documents whose key begins with $prefix and comes after $after, by key.
<still_visible($corpus, $generation)>
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)> AND d.key STARTS WITH $prefix AND d.key > $after
WITH d ORDER BY d.key LIMIT $limit
RETURN d {.*, centroid: null} AS document;

// name: document_chunks
// mode: read
// params: corpus, generation, id
// A document by its id, and its chunks in order: their ids, offsets, texts and metadata.
<still_visible($corpus, $generation)>
MATCH (d:HopRankDocument {id: $id})
WHERE <visible(d, $generation)>
OPTIONAL MATCH (c:HopRankChunk {corpus: $corpus, document: d.key})
WHERE <visible(c, $generation)>
WITH d, c ORDER BY c.ordinal
RETURN d {.*, centroid: null} AS document, collect([c.id, c.start, c.end, c.text, <metadata(c)>]) AS chunks;

// name: chunks_of_ids
// mode: read
// params: corpus, generation, ids
// Documents by their ids, by key, each with its chunks as in document_chunks.
UNWIND $ids AS id
MATCH (d:HopRankDocument {id: id})
WHERE <visible(d, $generation)>
OPTIONAL MATCH (c:HopRankChunk {corpus: $corpus, document: d.key})
WHERE <visible(c, $generation)>
WITH d, c ORDER BY d.key, c.ordinal
WITH d, collect([c.id, c.start, c.end, c.text, <metadata(c)>]) AS chunks
RETURN d {.*, centroid: null} AS document, chunks ORDER BY d.key;

// name: documents_of_ids
// mode: read
// params: corpus, generation, ids
// The visible documents among those with some ids.
<still_visible($corpus, $generation)>
UNWIND $ids AS id
MATCH (d:HopRankDocument {id: id})
WHERE <visible(d, $generation)>
RETURN d {.*, centroid: null} AS document;

// name: document_keys_of_value
// mode: read
// params: corpus, generation, property, value
// The keys of the visible documents with a value in a property, in order.
<still_visible($corpus, $generation)>
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)> AND properties(d)[$property] = $value
RETURN d.key AS key ORDER BY key;
