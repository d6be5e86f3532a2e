// Reads of a vault from its corpus: notes, and the links between them.

// name: vault_notes
// mode: read
// params: corpus, generation
// The visible notes, by key, with their properties but for vectors and texts: of a created note, that it has a text.
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)>
RETURN d {.*, centroid: null, original: d.original IS NOT NULL} AS note ORDER BY d.key;

// name: vault_links
// mode: read
// params: label, generation
// The visible links from note to note, with what is known of them.
MATCH (c:$($label))-[r:LINKS_TO]->(d:HopRankDocument)
WHERE <visible(r, $generation)> AND <visible(c, $generation)>
RETURN c.document AS source, d.key AS target, r.count AS count, coalesce(r.relations, []) AS relations,
       coalesce(r.context, '') AS context
ORDER BY source, target, c.ordinal;

// name: vault_passages
// mode: read
// params: corpus, keys, generation
// The visible passages of some notes, in order.
<still_visible($corpus, $generation)>
UNWIND $keys AS key
MATCH (c:HopRankChunk {corpus: $corpus, document: key})
WHERE <visible(c, $generation)>
WITH c ORDER BY c.document, c.ordinal
RETURN c.document AS key, c.start AS start, c.end AS end, c.text AS text, c.tokens AS tokens;

// name: vault_sentences
// mode: read
// params: label, generation
// The vectors of the sentences around the visible links, as FLOAT32.
CYPHER 25
MATCH (c:$($label))-[r:LINKS_TO]->(d:HopRankDocument)
WHERE r.embedding IS NOT NULL AND <visible(r, $generation)> AND <visible(c, $generation)>
RETURN c.document AS source, d.key AS target, vector(r.embedding, size(r.embedding), FLOAT32) AS vector;

// name: vault_created
// mode: read
// params: corpus, keys, generation
// The visible notes that agents created and that are in no folder, of these keys (null: all), by key, with their texts.
MATCH (d:HopRankDocument {corpus: $corpus})
WHERE <visible(d, $generation)> AND d.original IS NOT NULL AND ($keys IS NULL OR d.key IN $keys)
RETURN d.key AS key, d.original AS original ORDER BY key;
