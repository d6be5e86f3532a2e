// Context: relations between the passages that answer a question, and what stands around them.

// name: chunks_around
// mode: read
// params: corpus, generation, hits, reach, section
// The chunks at most $reach before or after each hit in its document, as lists of ordinal, id and characters; with $section those
// alone whose heading is the hit's or below it. Hits are rows of {id, document, ordinal, heading}.
UNWIND $hits AS hit
MATCH (c:HopRankChunk {corpus: $corpus, document: hit.document})
WHERE c.ordinal >= hit.ordinal - $reach AND c.ordinal <= hit.ordinal + $reach AND c.ordinal <> hit.ordinal
  AND <visible(c, $generation)>
  AND (NOT $section OR c.heading = hit.heading OR (hit.heading <> '' AND c.heading STARTS WITH hit.heading + ' > '))
RETURN hit.id AS hit, collect([c.ordinal, c.id, c.end - c.start]) AS chunks;

// name: shared_names
// mode: read
// params: corpus, ids, generation
// The entities that at least two of the chunks mention, with the total number of chunks that mention each.
// Outside of writes all mentions are visible, and the server knows their number without reading them.
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus.staging IS NULL AS settled
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})-[r:MENTIONS]->(e)
WHERE <visible(r, $generation)>
WITH settled, e, collect({id: id, about: r.about}) AS mentions
WHERE size(mentions) > 1
RETURN e.name AS name, CASE WHEN settled THEN COUNT { (e)<-[:MENTIONS]-() }
  ELSE COUNT { (e)<-[r:MENTIONS]-(c) WHERE <visible(r, $generation)> AND <visible(c, $generation)> } END AS frequency, mentions
ORDER BY name;

// name: links_among
// mode: read
// params: ids, generation
// The links between the chunks, or to each other's documents: by title, hyperlink or cosine.
UNWIND $ids AS id
MATCH (c:HopRankChunk {id: id})
CALL (c) {
  MATCH (c)-[r:REFERS_TO|LINKS_TO]->(d:HopRankDocument)<-[p:PART_OF]-(t)
  WHERE t.id IN $ids AND <visible(r, $generation)> AND <visible(p, $generation)>
  RETURN t.id AS target, type(r) AS kind, 1.0 AS score
  UNION ALL
  MATCH (c)-[r:SIMILAR]->(t:HopRankChunk)
  WHERE t.id IN $ids AND <visible(r, $generation)>
  RETURN t.id AS target, type(r) AS kind, r.score AS score
}
RETURN c.id AS source, target, kind, score ORDER BY source, target, kind;
